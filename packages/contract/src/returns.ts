import Type from 'typebox'
import { FLOW_STATUSES, SESSION_OUTCOMES } from './states.ts'

/* The one-time code by which a host sees that a user comes back in the browser that has finished the session. */

export const codeHash = (when: string) =>
  Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()], {
    description: `Extension: SHA-256, in hex, of the \`code\` that the browser brings back in the redirect. ${when}`,
  })

/** The code that a browser brought back. */
export const ConfirmReturnBody = Type.Object(
  { code: Type.String({ minLength: 1, maxLength: 64, description: 'The parameter `code` of the redirect' }) },
  { title: 'ConfirmReturn', additionalProperties: false },
)
export type ConfirmReturnBody = Type.Static<typeof ConfirmReturnBody>

export const ConfirmedReturn = Type.Object(
  {
    sessionId: Type.String({ format: 'uuid', description: 'The session that this browser has finished' }),
    flowStatus: Type.Enum([...FLOW_STATUSES], { description: 'How the flow ended' }),
    outcome: Type.Enum([...SESSION_OUTCOMES], {
      description:
        'Of the check. The call says whose browser this is, not that the check succeeded: a session that failed is confirmed too',
    }),
    confirmedAt: Type.String({ format: 'date-time', description: 'When the code was first confirmed' }),
    livemode: Type.Boolean({ description: 'false for sessions of test keys' }),
  },
  { title: 'ConfirmedReturn' },
)
export type ConfirmedReturn = Type.Static<typeof ConfirmedReturn>

export const CONFIRM_ERRORS = [
  'INVALID_JSON',
  'VALIDATION_FAILED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'NOT_FOUND',
  'SESSION_OPEN',
  'CODE_WRONG',
  'CODE_USED',
  'IDEMPOTENCY_MISMATCH',
  'GONE',
] as const
