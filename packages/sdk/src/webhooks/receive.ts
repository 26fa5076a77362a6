import type { WebhookKeySet } from '@ostiary/contract'
import { webhookEventOf } from '@ostiary/contract/webhook-wire'
import { WEBHOOK_TOLERANCE_SECONDS } from '@ostiary/crypto'
import { nowSeconds } from '../clock.ts'
import { invalidOption } from '../error.ts'
import { checkApiKey } from '../options.ts'
import type { WebhookKeySource } from '../webhook-keys.ts'
import type { ReceivedEvent } from './event.ts'
import {
  bytesOf,
  headerOf,
  type ReceivedHeaders,
  type ReceivedMessage,
  type SignedParts,
  signedPartsOf,
} from './message.ts'
import { WebhookError } from './reasons.ts'
import { checkByApiKeys, checkByKeyPair } from './signatures.ts'

export interface ReceiveOptions {
  /** The key that creates your sessions. */
  apiKey?: string | undefined
  /** All keys that you have not revoked: after a rotation or a revocation another one of them signs. */
  apiKeys?: readonly string[]
  /**
   * The public keys of the tenant: a key set that you keep, or `fetchedWebhookKeys(…)`. With them a signature of the tenant's key pair
   * (Ed25519, `v1a`) is demanded, and no API key decides.
   */
  publicKeys?: WebhookKeySet | WebhookKeySource
  /** How far the time of a webhook may be from now. Default 300 seconds. */
  toleranceSeconds?: number
  /** For tests: Unix time. */
  nowSeconds?: number
}

/**
 * Checks a webhook and returns its event. Throws a `WebhookError` whose `reason` says why it must not be believed; answer 400 then. It
 * rejects with an `OstiaryError` when public keys cannot be read; answer 5xx then, and the webhook comes again.
 */
export async function receiveWebhook(message: ReceivedMessage, options: ReceiveOptions): Promise<ReceivedEvent> {
  const apiKeys = keysOf(options)
  const body = await bytesOf(message)
  const parts = signedPartsOf(message.headers)
  if (options.publicKeys) await checkByKeyPair(parts, body, options.publicKeys)
  else await checkByApiKeys(parts, body, { apiKeys, hints: headerOf(message.headers, 'x-service-key') })
  // After the signature: a time that nobody signed says nothing.
  checkTime(parts, options)
  return toEvent(parts, body, message.headers)
}

/** Throws for options that could accept or check nothing. */
export function keysOf({ apiKey, apiKeys = [], publicKeys }: ReceiveOptions): readonly string[] {
  const keys = apiKey === undefined ? apiKeys : [apiKey, ...apiKeys]
  if (keys.length === 0 && !publicKeys) throw invalidOption('receiveWebhook needs apiKey, apiKeys or publicKeys')
  for (const key of keys) checkApiKey(key)
  return keys
}

function checkTime({ timestamp }: SignedParts, options: ReceiveOptions): void {
  const { toleranceSeconds = WEBHOOK_TOLERANCE_SECONDS } = options
  const ageSeconds = (options.nowSeconds ?? nowSeconds()) - Number(timestamp)
  if (Math.abs(ageSeconds) <= toleranceSeconds) return
  throw new WebhookError(
    'outside_window',
    ageSeconds > 0 ? `signed ${ageSeconds} s ago` : `signed ${-ageSeconds} s in the future`,
  )
}

function toEvent({ id, timestamp }: SignedParts, bytes: Uint8Array, headers: ReceivedHeaders): ReceivedEvent {
  const body = parsed(bytes)
  const event = webhookEventOf(body)
  if (event === undefined) throw new WebhookError('unknown_event')
  const named = headerOf(headers, 'x-service-event')
  if (named !== undefined && named !== event) throw new WebhookError('event_mismatch', `the body is of ${event}`)
  const attempt = Number(headerOf(headers, 'x-service-attempt') ?? 1)
  const facts = { event, id, attempt, timestamp: new Date(Number(timestamp) * 1000), body }
  // The service signed this body, so it has the form that the contract gives to its event.
  const { sessionId, livemode } = body as ReceivedEvent['body']
  return { ...facts, sessionId, livemode } as ReceivedEvent
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new WebhookError('unknown_event')
  }
}
