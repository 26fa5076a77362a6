/**
 * Signs webhooks and verifies their signatures. The signature is HMAC-SHA256 over `<timestamp>.<raw body>`, keyed with the
 * text of the API key. Each webhook also has a signature in the format of Standard Webhooks, with a separate secret that is
 * derived from the API key: a verifier that logs or shares its secret does not reveal the API key.
 */

/** `X-Service-Signature` of a body. `timestamp` is the text of `X-Service-Timestamp`. */
export async function signWebhook(apiKey: string, timestamp: string, body: Uint8Array | string): Promise<string> {
  return PREFIX + toHex(await hmac(utf8(apiKey), joined(`${timestamp}.`, body)))
}

export interface ReceivedWebhook {
  /** The key that created the session, or all keys that are not revoked: after a revocation another one of them signs. */
  apiKey: string | readonly string[]
  /** The header `X-Service-Timestamp`, as received. */
  timestamp: string | null | undefined
  /** The header `X-Service-Signature`, as received. */
  signature: string | null | undefined
  /** The raw body: the bytes as received, before any JSON parser. */
  body: Uint8Array | string
  /** Unix time in seconds. With it, timestamps further away than `toleranceSeconds` are refused. */
  nowSeconds?: number
  /** How far away they may be. Default 300 seconds. */
  toleranceSeconds?: number
}

export const WEBHOOK_TOLERANCE_SECONDS = 300

/** Whether a webhook is genuine. The time it takes does not depend on where a wrong signature differs. */
export async function verifyWebhook(received: ReceivedWebhook): Promise<boolean> {
  const { apiKey, timestamp, signature, body, nowSeconds, toleranceSeconds = WEBHOOK_TOLERANCE_SECONDS } = received
  const keys = typeof apiKey === 'string' ? [apiKey] : apiKey
  // Without these checks a sender could choose an empty key or an odd timestamp that matches some signature.
  if (keys.includes('') || typeof timestamp !== 'string' || typeof signature !== 'string') return false
  if (!/^\d{1,15}$/.test(timestamp)) return false
  const given = signature.startsWith(PREFIX) ? fromHex(signature.slice(PREFIX.length)) : undefined
  if (!given) return false
  const message = joined(`${timestamp}.`, body)
  const matching = await Promise.all(keys.map((key) => matches(utf8(key), message, given)))
  const inTime = nowSeconds === undefined || Math.abs(nowSeconds - Number(timestamp)) <= toleranceSeconds
  return matching.includes(true) && inTime
}

/** The secret for verifiers of Standard Webhooks (`whsec_…`). */
export async function standardWebhookSecret(apiKey: string): Promise<string> {
  return SECRET_PREFIX + toBase64(await hmac(utf8(apiKey), utf8(SECRET_LABEL)))
}

/** `webhook-signature` of a body. `id` and `timestamp` are the texts of `webhook-id` and `webhook-timestamp`. */
export async function signStandardWebhook(
  secret: string,
  { id, timestamp, body }: { id: string; timestamp: string; body: Uint8Array | string },
): Promise<string> {
  const key = secret.startsWith(SECRET_PREFIX) ? fromBase64(secret.slice(SECRET_PREFIX.length)) : undefined
  if (!key) throw new TypeError('not a secret of Standard Webhooks')
  return `v1,${toBase64(await hmac(key, joined(`${id}.${timestamp}.`, body)))}`
}

/** The text whose HMAC under the API key is the secret for Standard Webhooks. */
export const SECRET_LABEL = 'ostiary/standard-webhooks/v1'

const PREFIX = 'sha256='
const SECRET_PREFIX = 'whsec_'
const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const
type Bytes = Uint8Array<ArrayBuffer>

async function hmac(key: Bytes, message: Bytes): Promise<Bytes> {
  const imported = await crypto.subtle.importKey('raw', key, HMAC, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign(HMAC, imported, message))
}

/** WebCrypto compares in constant time. */
async function matches(key: Bytes, message: Bytes, signature: Bytes): Promise<boolean> {
  const imported = await crypto.subtle.importKey('raw', key, HMAC, false, ['verify'])
  return crypto.subtle.verify(HMAC, imported, signature, message)
}

function joined(head: string, body: Uint8Array | string): Bytes {
  const [first, second] = [utf8(head), typeof body === 'string' ? utf8(body) : body]
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}

function utf8(text: string): Bytes {
  return new TextEncoder().encode(text)
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function fromHex(text: string): Bytes | undefined {
  if (!/^[0-9a-f]{64}$/i.test(text)) return undefined
  return Uint8Array.from({ length: 32 }, (_, index) => Number.parseInt(text.slice(index * 2, index * 2 + 2), 16))
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

function fromBase64(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}
