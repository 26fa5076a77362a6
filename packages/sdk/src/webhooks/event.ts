import type { AgeResult, FlowStatus, VerificationWebhook, WebhookEventName } from '@ostiary/contract'

/** A webhook that was checked. Compare `event`, and `body` has the type of that event. */
export type ReceivedEvent =
  | EventOf<'age.session.completed', EndedAs<'COMPLETED'>>
  | EventOf<'age.session.cancelled', EndedAs<'CANCELLED'>>
  | EventOf<'age.session.expired', EndedAs<'EXPIRED'>>
  | EventOf<'verification.succeeded', Succeeded>
  | EventOf<'verification.failed', Failed>

type EndedAs<Flow extends FlowStatus> = AgeResult & {
  /** How the flow ended. */
  flowStatus: Flow
}
type Succeeded = VerificationWebhook & {
  /** The person was enrolled or recognised. */
  status: 'SUCCESS'
  /** The person. */
  puid: string
  /** The group: all persons of this tenant and mode. */
  guid: string
}
type Failed = VerificationWebhook & {
  /** `error`: a SIGN-IN. */
  status: 'FAILED' | 'error'
}

interface EventOf<Name extends WebhookEventName, Body> {
  /** Read from the body, which is signed; the header `X-Service-Event` is not. */
  event: Name
  /** Of the delivery, the same in all attempts and replays: what comes twice is to be counted once. Signed. */
  id: string
  /** Compare it with the sessions that you created. */
  sessionId: string
  /** False for sessions of test keys: refuse these in production. */
  livemode: boolean
  /** 1 for the first attempt. From a header that is not signed: for logs. */
  attempt: number
  /** When this attempt was signed. */
  timestamp: Date
  /** The result, or what a verification has found. */
  body: Body
}

/** The name of an event, such as `age.session.completed`. */
export type { WebhookEventName } from '@ostiary/contract'
