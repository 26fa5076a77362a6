import Type from 'typebox'
import { RETURN_FORMATS } from './age-request.ts'
import {
  DOCUMENT_CHECKS,
  DOCUMENT_CONSENT_VERSIONS,
  DOCUMENT_EXPIRIES,
  DOCUMENT_FORMATS,
  DOCUMENT_HINTS,
  DOCUMENT_TYPES,
  READ_DOCUMENT_TYPES,
} from './documents.ts'
import { DEVICE_ERRORS, PROOF_HEADER } from './launch.ts'
import { MatchScore, Nonce, SEALED_SIGNALS } from './launch-payload.ts'
import { LaunchEvent, LaunchState, OpenBody } from './launch-session.ts'
import { DOCUMENT_LIMITS } from './limits.ts'
import { type Operation, operation } from './operation.ts'
import { LAUNCH_PATHS } from './paths.ts'

/* The document step of the device API: what the page gets when it begins, and what it sends. */

const Day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })

/** What a device needs to judge a document itself, so that no date has to leave it. */
export const DocumentStep = Type.Object(
  {
    nonce: Nonce,
    attempt: Type.Integer({ description: 'Which try of the document step this is' }),
    attemptsLeft: Type.Integer({ description: 'Tries that are left, with this one' }),
    today: Type.String({ ...Day, description: 'The day by the clock of the service, in UTC' }),
    acceptedTypes: Type.Array(Type.Enum([...DOCUMENT_TYPES])),
    expiryGraceDays: Type.Integer({ description: 'A document counts for so many days after its expiry' }),
    age: Type.Union([Type.Object({ threshold: Type.Number(), format: Type.Enum([...RETURN_FORMATS]) }), Type.Null()], {
      description: 'What is asked about the age; null: nothing',
    }),
    match: Type.Union(
      [
        Type.Object({
          threshold: Type.Number({ description: 'Least score for the face and the portrait to match' }),
          betterLightFrom: Type.Number({ description: 'From here on up to the threshold, better light may help' }),
          capture: Type.String({
            description:
              'The last capture of a face that was accepted in this session, by its nonce. A device that does not hold its numbers looks again: `launchChallenge` with `for: match`',
          }),
        }),
        Type.Null(),
      ],
      { description: 'What to compare the portrait with; null: no face was seen yet' },
    ),
    reuseKey: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{43}$',
        description: 'Of tenant, mode and day (UTC), where the tenant has set `documentReuseCheck`: the key of `reuse`',
      }),
    ),
    expiresAt: Type.String({ format: 'date-time' }),
  },
  { title: 'DocumentStep' },
)
export type DocumentStep = Type.Static<typeof DocumentStep>

/** What the device seals to the session's key about a document. Facts only: no picture, name, number or date. Each is a claim. */
export const DocumentPayload = Type.Object(
  {
    v: Type.Literal(1),
    kind: Type.Literal('document'),
    sessionId: OpenBody.properties.sessionId,
    nonce: Nonce,
    attempt: Type.Integer({ minimum: 1, maximum: 10 }),
    reader: Type.Object(
      { id: Type.String({ maxLength: 64 }), hash: LaunchEvent.properties.hash },
      { additionalProperties: false },
    ),
    type: Type.Enum([...READ_DOCUMENT_TYPES]),
    format: Type.Enum([...DOCUMENT_FORMATS]),
    age: Type.Optional(
      Type.Object(
        {
          result: Type.Enum(['above', 'at', 'below']),
          years: Type.Optional(Type.Integer({ minimum: 0, maximum: DOCUMENT_LIMITS.yearsMax })),
        },
        {
          additionalProperties: false,
          description: 'Against the threshold that was asked. Absent: nothing was asked, or no date of birth was found',
        },
      ),
    ),
    expiry: Type.Enum([...DOCUMENT_EXPIRIES]),
    /** Which check digits were there, and whether each held. */
    checks: Type.Object(
      Object.fromEntries(DOCUMENT_CHECKS.map((name) => [name, Type.Optional(Type.Boolean())])) as Record<
        (typeof DOCUMENT_CHECKS)[number],
        Type.TOptional<Type.TBoolean>
      >,
      { additionalProperties: false },
    ),
    /** Pictures that gave the same text. */
    frames: Type.Integer({ minimum: 1, maximum: DOCUMENT_LIMITS.framesMax }),
    confidence: Type.Integer({ minimum: 0, maximum: 1000 }),
    /** Sides that were shown: a card has its portrait on one and its text on the other. */
    sides: Type.Integer({ minimum: 1, maximum: 2 }),
    match: Type.Optional(
      Type.Object(
        { score: MatchScore, capture: Nonce },
        { additionalProperties: false, description: 'The portrait against the face of this capture' },
      ),
    ),
    hints: Type.Array(Type.Enum([...DOCUMENT_HINTS]), { uniqueItems: true, maxItems: DOCUMENT_HINTS.length }),
    reuse: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9_-]{11}$', description: '64 bits of HMAC-SHA-256 under `reuseKey`' }),
    ),
    /** The text that the user agreed to when they sent this. */
    consent: Type.Object(
      { version: Type.Enum([...DOCUMENT_CONSENT_VERSIONS]), locale: Type.String({ minLength: 1, maxLength: 64 }) },
      { additionalProperties: false },
    ),
    ...SEALED_SIGNALS,
    /** Anything. The launch page sends `camera` here, the size of its pictures in pixels. */
    metadata: Type.Optional(Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true }))),
  },
  { title: 'DocumentPayload', additionalProperties: false },
)
export type DocumentPayload = Type.Static<typeof DocumentPayload>

const shared = { area: 'C', group: 'device', auth: 'none', headers: PROOF_HEADER } as const
const { sessionId } = OpenBody.properties

export const launchDocument = operation({
  ...shared,
  operationId: 'launchDocument',
  method: 'POST',
  path: LAUNCH_PATHS.document,
  summary: 'Begin the document step',
  description:
    'Gives the device what it needs to judge a document by itself. Asked for again it gives new values and costs no try.',
  body: Type.Object({ sessionId }, { additionalProperties: false }),
  success: { 200: { description: 'What to look for', schema: DocumentStep } },
  errors: DEVICE_ERRORS,
})

export const launchDocumentSubmit = operation({
  ...shared,
  operationId: 'launchDocumentSubmit',
  method: 'POST',
  path: LAUNCH_PATHS.documentSubmit,
  summary: 'Submit what a document says',
  description:
    'A sealed payload of at most 4 KB, with facts only. Either ends the flow, asks for the next step, or leaves another try: `errors` says why (-9, -20, -26, -27, -28, -30); -29 and 2 end the flow at once.',
  body: Type.Object({ sessionId, sealed: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
  success: { 200: { description: 'Where the flow stands', schema: LaunchState } },
  errors: [...DEVICE_ERRORS, 'INVALID_PAYLOAD', 'CHALLENGE_NOT_VALID', 'PAYLOAD_REPLAYED'],
})

export const DOCUMENT_OPERATIONS: readonly Operation[] = [launchDocument, launchDocumentSubmit]
