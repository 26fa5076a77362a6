import type { AgeResult, VerificationWebhook, WebhookEventName } from '@ostiary/contract'

/** A webhook that was checked. Compare `event`, and `body` has the type of that event. */
export type ReceivedEvent =
  | EventOf<'age.session.completed', AgeResult & { flowStatus: 'COMPLETED' }>
  | EventOf<'age.session.cancelled', AgeResult & { flowStatus: 'CANCELLED' }>
  | EventOf<'age.session.expired', AgeResult & { flowStatus: 'EXPIRED' }>
  | EventOf<'verification.succeeded', VerificationWebhook & { status: 'SUCCESS'; puid: string; guid: string }>
  | EventOf<'verification.failed', VerificationWebhook & { status: 'FAILED' | 'error' }>

interface EventOf<Name extends WebhookEventName, Body> {
  /** Read from the body, which is signed; the header `X-Service-Event` is not. */
  event: Name
  /** Of the delivery, the same in all attempts and replays: what comes twice is to be counted once. Signed. */
  id: string
  /** Compare it with the sessions that you created. */
  sessionId: string
  livemode: boolean
  /** 1 for the first attempt. From a header that is not signed: for logs. */
  attempt: number
  /** When this attempt was signed. */
  timestamp: Date
  body: Body
}

/** The name of an event, such as `age.session.completed`. */
export type { WebhookEventName } from '@ostiary/contract'
