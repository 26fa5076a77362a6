import Type from 'typebox'

/** The user's answer to the consent question, as hosts get it. */
export const ConsentRecord = Type.Object(
  {
    accepted: Type.Boolean({ description: 'false: the user refused, code -18' }),
    version: Type.String({ description: 'Version of the text that the page showed' }),
    language: Type.String({ description: 'Language in which the page showed it' }),
    at: Type.String({ format: 'date-time', description: 'When the answer arrived, by the clock of the service' }),
  },
  { title: 'Consent' },
)
export type ConsentRecord = Type.Static<typeof ConsentRecord>

/** In a result and a webhook. Those that the last release has stored have none. */
export const consent = Type.Optional(
  Type.Union([ConsentRecord, Type.Null()], {
    description:
      'Extension: the answer of the device that finished, or the one so far; null if the question was not answered',
  }),
)
