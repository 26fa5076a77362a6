/** The events that the service sends to a host. The name is in the header `X-Service-Event`, never in the body. */
import type { TSchema } from 'typebox'
import { AgeResult } from './age.ts'
import type { SessionArea } from './areas.ts'
import { VerificationWebhook } from './verification.ts'

export interface WebhookEvent {
  area: SessionArea
  summary: string
  description: string
  body: TSchema
}

const AGE = { area: 'age', body: AgeResult } as const
const VERIFICATION = { area: 'verification', body: VerificationWebhook } as const

export const WEBHOOK_EVENTS = {
  'age.session.completed': {
    ...AGE,
    summary: 'An age session was completed',
    description:
      'The flow ran to its end, with a verdict or without one. The body is what the result endpoint answers.',
  },
  'age.session.cancelled': {
    ...AGE,
    summary: 'An age session was cancelled',
    description: 'By the user, who may have declined the consent, or by the host. There is no verdict.',
  },
  'age.session.expired': {
    ...AGE,
    summary: 'An age session has expired',
    description: 'Its time was over before the flow had ended. There is no verdict.',
  },
  'verification.succeeded': {
    ...VERIFICATION,
    summary: 'A verification session succeeded',
    description: 'An ENROLL, SIGN-IN or VERIFY with `status` `SUCCESS`, and the person in `puid`.',
  },
  'verification.failed': {
    ...VERIFICATION,
    summary: 'A verification session did not succeed',
    description: 'Failed, cancelled or expired: `outcome` says which, `errors` why. A SIGN-IN has `status` `error`.',
  },
} as const satisfies Readonly<Record<string, WebhookEvent>>
export type WebhookEventName = keyof typeof WEBHOOK_EVENTS

const text = (description: string) => ({ description, schema: { type: 'string' } })

/** The headers of every webhook, beside those of `callback.headers`. */
export const WEBHOOK_HEADERS = {
  'X-Service-Timestamp': text('Unix seconds, when this attempt was signed'),
  'X-Service-Signature': {
    description:
      '`sha256=` and the HMAC-SHA256, in hexadecimal, of the timestamp, a dot and the raw body. The key is the API key that created the session',
    schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
  },
  'X-Service-Delivery': {
    description: 'Id of the delivery, the same in all attempts. Count what comes twice once',
    schema: { type: 'string', format: 'uuid' },
  },
  'X-Service-Attempt': text('1 for the first attempt'),
  'X-Service-Sequence': text('Order of the events of one session'),
  'X-Service-Key': text(
    'Hints at the API keys that signed, separated by spaces: mode, bucket and the last four characters. Not signed: for messages about a failure, never for a decision',
  ),
  'webhook-id': text('The same as `X-Service-Delivery`, for verifiers of Standard Webhooks'),
  'webhook-timestamp': text('The same as `X-Service-Timestamp`'),
  'webhook-signature': text('Signatures as Standard Webhooks have them, separated by spaces'),
} as const
