import { WEBHOOK_TOLERANCE_SECONDS } from './webhook-signature.ts'

/**
 * Verifies the signature that webhooks of tenants with a key pair have: Ed25519 over `<id>.<timestamp>.<raw body>`, as `v1a` of Standard
 * Webhooks. Only the service has the private half, so a leaked API key does not make one.
 */

/** A public key of the tenant's key set. Other members of a JSON Web Key are not looked at. */
export interface WebhookVerifyKey {
  kty: string
  crv: string
  x: string
}

export interface ReceivedV1a {
  /** The header `webhook-id`, as received. */
  id: string | null | undefined
  /** The header `webhook-timestamp`, as received. */
  timestamp: string | null | undefined
  /** The header `webhook-signature`, as received: one or more signatures, with a space between them. */
  signature: string | null | undefined
  /** The raw body: the bytes as received, before any JSON parser. */
  body: Uint8Array | string
  /** The keys of the tenant and mode. One of them must have signed. */
  keys: readonly WebhookVerifyKey[]
  /** Unix time in seconds. With it, timestamps further away than `toleranceSeconds` are refused. */
  nowSeconds?: number
  /** How far away they may be. Default 300 seconds. */
  toleranceSeconds?: number
}

/** Whether one of the keys has signed this webhook. Other signatures in the header, such as `v1`, count for nothing. */
export async function verifyWebhookV1a(received: ReceivedV1a): Promise<boolean> {
  const { id, timestamp, signature, body, keys, nowSeconds, toleranceSeconds = WEBHOOK_TOLERANCE_SECONDS } = received
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string') return false
  // A dot in the id could move bytes between the three parts of the signed text.
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(id) || !/^\d{1,15}$/.test(timestamp)) return false
  if (nowSeconds !== undefined && !(Math.abs(nowSeconds - Number(timestamp)) <= toleranceSeconds)) return false
  const given = signature.split(' ').flatMap(toSignature).slice(0, MOST_TRIED)
  if (given.length === 0) return false
  const message = textOf(`${id}.${timestamp}.`, body)
  for (const key of keys.filter(isUsable).slice(0, MOST_TRIED)) {
    const { kty, crv, x } = key
    const imported = await crypto.subtle.importKey('jwk', { kty, crv, x }, ALGORITHM, false, ['verify'])
    for (const one of given) if (await crypto.subtle.verify(ALGORITHM, imported, one, message)) return true
  }
  return false
}

const ALGORITHM = 'Ed25519'
/** A rotation has two keys and two signatures. A sender must not be able to ask for thousands of verifications. */
const MOST_TRIED = 8

type Bytes = Uint8Array<ArrayBuffer>

function isUsable({ kty, crv, x }: WebhookVerifyKey): boolean {
  return kty === 'OKP' && crv === ALGORITHM && /^[A-Za-z0-9_-]{43}$/.test(x)
}

/** 64 bytes after `v1a,`. */
function toSignature(text: string): Bytes[] {
  const base64 = /^v1a,([A-Za-z0-9+/]{86}==)$/.exec(text)?.[1]
  return base64 === undefined ? [] : [Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))]
}

function textOf(head: string, body: Uint8Array | string): Bytes {
  const encoder = new TextEncoder()
  const [first, second] = [encoder.encode(head), typeof body === 'string' ? encoder.encode(body) : body]
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}
