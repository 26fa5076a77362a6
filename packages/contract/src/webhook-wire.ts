/**
 * What a receiver of webhooks needs at run time. The SDK imports this file by itself (`@ostiary/contract/webhook-wire`), so it must not
 * import the validator.
 */

import type { WebhookEventName } from './webhook-events.ts'

/** A key set changes when a key is rotated or retired. Hosts may use it for so long before they ask again. */
export const WEBHOOK_KEY_SET_SECONDS = 300

/** Which event a body reports. The name is not in the body and its header is not signed; the body is. */
export function webhookEventOf(body: unknown): WebhookEventName | undefined {
  if (typeof body !== 'object' || body === null || !('status' in body)) return undefined
  if ('flowStatus' in body) return EVENT_OF_FLOW.get(String(body.flowStatus))
  if (!('outcome' in body && 'type' in body)) return undefined
  return body.status === 'SUCCESS' ? 'verification.succeeded' : 'verification.failed'
}

// Not an object: `flowStatus` must not find what every object inherits.
const EVENT_OF_FLOW: ReadonlyMap<string, WebhookEventName> = new Map([
  ['COMPLETED', 'age.session.completed'],
  ['CANCELLED', 'age.session.cancelled'],
  ['EXPIRED', 'age.session.expired'],
])
