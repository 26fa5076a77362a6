import { base64url, type CryptoKey } from 'jose'
import { bodyHash } from './device-proof.ts'

/**
 * Calls between the API and the key holder are signed in both directions by Ed25519 keys that were exchanged at set-up (decision
 * 0040). A request has an id that is used once; the reply is signed with the id of its request, so it answers no other.
 */
export const SERVICE_SIGNATURE_HEADER = 'x-ostiary-signature'
/** The hash of the body, so that the signature can be verified before the body is read. Servers of the last release do not send it. */
export const BODY_HASH_HEADER = 'x-ostiary-body-hash'

export interface ServiceRequest {
  method: string
  path: string
  body: Uint8Array
}

/** A request whose body is known by its hash. */
export interface HashedRequest extends Omit<ServiceRequest, 'body'> {
  bodyHash: string
}

export interface ServiceReply {
  requestId: string
  status: number
  body: Uint8Array
}

/** What the header of a request says. Nothing of it is verified yet. */
export interface RequestSignature {
  requestId: string
  /** Unix time in milliseconds, by the caller's clock. */
  timeMs: number
  signature: string
}

const ED25519 = { name: 'Ed25519' } as const
/** A private key in PKCS #8 is these bytes and its seed. */
const PKCS8_PREFIX = Uint8Array.from([48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32])
const SEED_BYTES = 32
const HEADER = /^([A-Za-z0-9_-]{22})\.([0-9]{13})\.([A-Za-z0-9_-]{86})$/

/** A key pair from its seed, 32 random bytes: that is what the configuration of a service has. */
export async function readServiceKey(seed: Uint8Array): Promise<{ privateKey: CryptoKey; publicKey: string }> {
  if (seed.length !== SEED_BYTES) throw new Error('The key of a service has 32 bytes')
  const pkcs8 = new Uint8Array(PKCS8_PREFIX.length + SEED_BYTES)
  pkcs8.set(PKCS8_PREFIX)
  pkcs8.set(seed, PKCS8_PREFIX.length)
  const readable = await crypto.subtle.importKey('pkcs8', pkcs8, ED25519, true, ['sign'])
  const { x = '' } = await crypto.subtle.exportKey('jwk', readable)
  return { privateKey: await crypto.subtle.importKey('pkcs8', pkcs8, ED25519, false, ['sign']), publicKey: x }
}

/** `publicKey` is base64url of its 32 bytes. */
export function importServiceKey(publicKey: string): Promise<CryptoKey> {
  return crypto.subtle.importKey('jwk', { kty: 'OKP', crv: 'Ed25519', x: publicKey }, ED25519, false, ['verify'])
}

/** Returns the value of the header. */
export async function signServiceRequest(
  privateKey: CryptoKey,
  request: ServiceRequest,
  { requestId, timeMs }: { requestId: string; timeMs: number },
): Promise<string> {
  const hashed = { ...request, bodyHash: await bodyHash(request.body) }
  const signature = await crypto.subtle.sign(ED25519, privateKey, requestText(hashed, requestId, timeMs))
  return `${requestId}.${timeMs}.${base64url.encode(new Uint8Array(signature))}`
}

export function readRequestSignature(header: string | undefined): RequestSignature | undefined {
  const [, requestId, timeMs, signature] = HEADER.exec(header ?? '') ?? []
  if (requestId === undefined || timeMs === undefined || signature === undefined) return undefined
  return { requestId, timeMs: Number(timeMs), signature }
}

export async function verifyServiceRequest(
  publicKey: CryptoKey,
  request: HashedRequest,
  { requestId, timeMs, signature }: RequestSignature,
): Promise<boolean> {
  return verify(publicKey, signature, requestText(request, requestId, timeMs))
}

export async function signServiceReply(privateKey: CryptoKey, reply: ServiceReply): Promise<string> {
  return base64url.encode(new Uint8Array(await crypto.subtle.sign(ED25519, privateKey, await replyText(reply))))
}

export async function verifyServiceReply(
  publicKey: CryptoKey,
  signature: string,
  reply: ServiceReply,
): Promise<boolean> {
  return verify(publicKey, signature, await replyText(reply))
}

async function verify(publicKey: CryptoKey, signature: string, text: Uint8Array<ArrayBuffer>): Promise<boolean> {
  try {
    return await crypto.subtle.verify(ED25519, publicKey, new Uint8Array(base64url.decode(signature)), text)
  } catch {
    return false
  }
}

function requestText({ method, path, bodyHash }: HashedRequest, requestId: string, timeMs: number) {
  return textOf(['request', method, path, requestId, String(timeMs), bodyHash])
}

async function replyText({ requestId, status, body }: ServiceReply) {
  return textOf(['reply', requestId, String(status), await bodyHash(body)])
}

const textOf = (members: string[]) => new TextEncoder().encode(JSON.stringify(['ostiary-service/1', ...members]))
