import Type from 'typebox'
import { DOCUMENT_CHECKS, DOCUMENT_EXPIRIES, DOCUMENT_FORMATS, DOCUMENT_TYPES } from './documents.ts'

/** What is known about a document that was accepted, or had another face, as hosts get it. No name, number or date is known to the service. */
export const DocumentRecord = Type.Object(
  {
    type: Type.Enum([...DOCUMENT_TYPES], { description: 'What kind of document it is' }),
    format: Type.Enum([...DOCUMENT_FORMATS], {
      description: 'Where it was read: a machine-readable zone, or a barcode',
    }),
    expiry: Type.Enum([...DOCUMENT_EXPIRIES], {
      description: 'Whether it is still valid; `grace`: expired, within the tenant’s `documentExpiryGraceDays`',
    }),
    checksHeld: Type.Array(Type.Enum([...DOCUMENT_CHECKS]), { description: 'Check digits that fit what they protect' }),
    equalFrames: Type.Integer({ description: 'Pictures in which the device read the same text' }),
    confidence: Type.Number({ minimum: 0, maximum: 1, description: 'How sure the device is of what it read, 0 to 1' }),
    consent: Type.Object(
      {
        version: Type.String({ description: 'Of the text that the page showed' }),
        language: Type.String({ description: 'In which the page showed it' }),
        at: Type.String({ format: 'date-time', description: 'When the answer arrived' }),
      },
      { description: 'The user saw these values and sent them' },
    ),
  },
  {
    title: 'DocumentRecord',
    description:
      'Extension: what the device said about an identity document. In area D, of an ENROLL that asked for one and succeeded',
  },
)
export type DocumentRecord = Type.Static<typeof DocumentRecord>
