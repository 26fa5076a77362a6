import type { WebhookKeySet, WebhookPublicKey } from '@ostiary/contract'
import { WEBHOOK_KEY_SET_SECONDS } from '@ostiary/contract/webhook-wire'
import { verifyWebhookV1a } from '@ostiary/crypto'
import { monotonicMs, nowSeconds } from './clock.ts'
import { invalidOption, OstiaryError } from './error.ts'
import { checkBaseUrl } from './options.ts'
import { headerOf, type ReceivedHeaders } from './webhooks/message.ts'

/** Where the public keys of a tenant's webhooks come from. */
export interface WebhookKeySource {
  /** The keys; at most five minutes old while the service can be reached. */
  current(): Promise<readonly WebhookPublicKey[]>
  /** The keys read again, because none of the current ones fits; undefined when they were read a moment ago. */
  again(): Promise<readonly WebhookPublicKey[] | undefined>
}

export interface WebhookKeyOptions {
  /** Address of the service, such as `https://ostiary.example.com`. https, but for this machine. */
  baseUrl: string
  /** Your tenant; the operator gives you its id. */
  tenantId: string
  /** `live` if it is not given. Never take both at one receiver: test webhooks say what a test key asks for. */
  mode?: 'live' | 'test'
  /** For reading the keys. Default 5 seconds. */
  timeoutMs?: number
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch
  /** For tests: milliseconds that never go back. */
  clockMs?: () => number
}

const FRESH_MS = WEBHOOK_KEY_SET_SECONDS * 1000
/** A forger must not be able to make every webhook a call to the service. */
const AGAIN_MS = 30_000
/** While the service cannot be reached, keys that were read before still count for so long. */
const STALE_MS = 3_600_000
const SET_CHARS_MAX = 64 * 1024

/** The keys that the service publishes, read when they are first needed. */
export function fetchedWebhookKeys(options: WebhookKeyOptions): WebhookKeySource {
  const { timeoutMs = 5_000, fetch = globalThis.fetch, clockMs = monotonicMs } = options
  const url = urlOf(options)
  let known: { keys: readonly WebhookPublicKey[]; readMs: number } | undefined
  let triedMs = Number.NEGATIVE_INFINITY
  let reading: Promise<readonly WebhookPublicKey[]> | undefined

  /** Calls at the same time share one request. */
  function read(): Promise<readonly WebhookPublicKey[]> {
    reading ??= request().finally(() => {
      reading = undefined
    })
    return reading
  }

  async function request(): Promise<readonly WebhookPublicKey[]> {
    const startedMs = clockMs()
    triedMs = startedMs
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'error', signal })
    const text = await response.text()
    // The tenant has no keys: no webhook is genuine.
    const keys = response.status === 404 ? [] : keysIn(response.status, text)
    known = { keys, readMs: startedMs }
    return keys
  }

  return {
    async current() {
      const ageMs = known ? clockMs() - known.readMs : Number.POSITIVE_INFINITY
      if (known && ageMs < FRESH_MS) return known.keys
      // The service is away and was asked just now.
      if (known && ageMs < STALE_MS && clockMs() - triedMs < AGAIN_MS) return known.keys
      try {
        return await read()
      } catch (error) {
        if (known && ageMs < STALE_MS) return known.keys
        throw new OstiaryError(0, { message: 'The public keys of webhooks cannot be read' }, error)
      }
    },
    async again() {
      if (!reading && clockMs() - triedMs < AGAIN_MS) return undefined
      return read().catch(() => undefined)
    },
  }
}

export interface WebhookVerifierOptions {
  /** A key set that you keep yourself, or `fetchedWebhookKeys(…)`. */
  keys: WebhookKeySet | WebhookKeySource
  /** How far the time of a webhook may be from now. Default 300 seconds. */
  toleranceSeconds?: number
}

/**
 * Verifies webhooks by the key pair of the tenant, and demands it: without a valid `v1a` the answer is false, whatever the API key has
 * signed. Give it the headers (names in lower case, as in Node) and the bytes of the body as received. Rejects when the keys cannot be
 * read; answer 5xx then, and the webhook comes again.
 */
export function createWebhookVerifier({ keys, toleranceSeconds }: WebhookVerifierOptions) {
  const source = 'keys' in keys ? fixedKeys(keys) : keys
  return async (headers: ReceivedHeaders, body: Uint8Array | string): Promise<boolean> => {
    const [id, timestamp, signature] = HEADERS.map((name) => headerOf(headers, name))
    const received = { id, timestamp, signature, body, nowSeconds: nowSeconds() }
    const bounded = { ...received, ...(toleranceSeconds !== undefined && { toleranceSeconds }) }
    // Without a signature there is nothing to ask keys for.
    if (!signature?.includes('v1a,')) return false
    if (await verifyWebhookV1a({ ...bounded, keys: await source.current() })) return true
    const newer = await source.again()
    return newer !== undefined && verifyWebhookV1a({ ...bounded, keys: newer })
  }
}

const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

/** Keys that the host keeps itself. */
export function fixedKeys({ keys }: WebhookKeySet): WebhookKeySource {
  return { current: async () => keys, again: async () => undefined }
}

function urlOf({ baseUrl, tenantId, mode = 'live' }: WebhookKeyOptions): string {
  const checked = checkBaseUrl(baseUrl)
  const base = new URL(checked)
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(base.hostname)
  if (base.protocol !== 'https:' && !(base.protocol === 'http:' && isHere))
    throw invalidOption('Keys that decide what is genuine must be read by https')
  const path = `/.well-known/ostiary-webhook-keys/${encodeURIComponent(tenantId)}.json`
  return `${checked}${path}${mode === 'test' ? '?mode=test' : ''}`
}

function keysIn(status: number, text: string): readonly WebhookPublicKey[] {
  if (status !== 200 || text.length > SET_CHARS_MAX) throw new Error(`The service answered ${status}`)
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed !== 'object' || parsed === null || !('keys' in parsed) || !Array.isArray(parsed.keys))
    throw new Error('This is not a key set')
  return parsed.keys
}
