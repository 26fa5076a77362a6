/**
 * Why a webhook was refused, and what to do about it.
 *
 * What can be known: the signature says only that it does not match. Which of several causes it is follows from the hint at the key
 * (`X-Service-Key`) and from a second look at the body. Nobody signs the hint, so a forger can choose the reason; they cannot choose to be accepted.
 */
export const WEBHOOK_REASONS = {
  body_parsed:
    'The body was parsed and written again, or read before. Pass the bytes as they came: put this route before the JSON parser',
  body_changed:
    'A key of yours signed this webhook, but over another body: something between Ostiary and this receiver changes it',
  wrong_key: 'It is signed with a key of another tenant or installation: which API key creates your sessions?',
  other_mode: 'It is signed with a key of the other mode: test webhooks need test keys, live webhooks live keys',
  key_not_listed:
    'It is signed with another key of your tenant: a rotated one that you have dropped, or a new one that you have not added. Put it into apiKeys',
  outside_window:
    'The signature is right and its time too far from now: the clock of this machine is wrong, or somebody sends an old webhook again',
  signature_wrong: 'No key matches, and the webhook does not say which one signed it: a wrong key or a changed body',
  headers_missing:
    'The headers webhook-id, webhook-timestamp and webhook-signature are not there once each: this is no webhook of Ostiary, or a proxy drops them',
  no_key_pair_signature:
    'publicKeys demand a signature of the tenant’s key pair (v1a), and this webhook has no such signature',
  key_pair_wrong:
    'No public key matches the signature of the key pair (v1a): those of the other mode, or of another tenant?',
  body_too_large: 'The body is larger than a webhook can be',
  unknown_event: 'It is genuine, and this version of the SDK does not know its body: update the SDK',
  event_mismatch:
    'It is genuine, and its header X-Service-Event names another event than its body: something changes headers',
} as const

export type WebhookReason = keyof typeof WEBHOOK_REASONS

/** A webhook that must not be believed. `reason` is for your logs and for the answer; it holds nothing secret. */
export class WebhookError extends Error {
  /** Why: for your logs. */
  readonly reason: WebhookReason

  constructor(reason: WebhookReason, detail?: string) {
    super(detail === undefined ? WEBHOOK_REASONS[reason] : `${WEBHOOK_REASONS[reason]} (${detail})`)
    this.name = 'WebhookError'
    this.reason = reason
  }
}
