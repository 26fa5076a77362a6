import type { DeviceKey } from '@ostiary/contract'
import { decodeVector, encodeVector } from '@ostiary/crypto'
import { cosine } from '@ostiary/faces'

/** The score from which two faces count as one person: the service's threshold for FACE3_3 (docs/api/biometrics.md). */
export const LOCAL_MATCH_MIN = 0.5
/** Every token has this size, so that its size says nothing about the face. */
export const TOKEN_BYTES = 4096

const VERSION = 1
const IV_BYTES = 12
const TAG_BYTES = 16
const VECTOR_CHARS = 683
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256' } as const
const AES = 'AES-GCM'

/** The key with which this browser later proves that it enrolled the person. Scripts can use it but not read it. */
export interface LocalKeys {
  privateKey: CryptoKey
  publicKey: DeviceKey
}

/**
 * What a browser keeps of an enrolment: the feature vector, sealed with a key that no script can read, and the key of its claims.
 * A copy of the database contains neither key in readable form. A script on this origin could use both and read the vector.
 */
export interface LocalToken {
  version: typeof VERSION
  atMs: number
  sealKey: CryptoKey
  /** Nonce, then the sealed text: the vector, padded with random bytes to the common size. */
  sealed: Uint8Array<ArrayBuffer>
  keys: LocalKeys
}

export interface NewToken {
  realm: string
  vector: Float32Array
  keys: LocalKeys
  atMs: number
}

export async function createLocalKeys(): Promise<LocalKeys> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(ECDSA, false, ['sign'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', publicKey)
  return { privateKey, publicKey: { kty: 'EC', crv: 'P-256', x, y } }
}

export async function makeToken({ realm, vector, keys, atMs }: NewToken): Promise<LocalToken> {
  const sealKey = await crypto.subtle.generateKey({ name: AES, length: 256 }, false, ['encrypt', 'decrypt'])
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const content = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES - IV_BYTES - TAG_BYTES))
  new TextEncoder().encodeInto(encodeVector(vector), content)
  const box = await crypto.subtle.encrypt({ name: AES, iv, additionalData: labelOf(realm) }, sealKey, content)
  content.fill(0)
  const sealed = new Uint8Array(TOKEN_BYTES)
  sealed.set(iv)
  sealed.set(new Uint8Array(box), IV_BYTES)
  return { version: VERSION, atMs, sealKey, sealed, keys }
}

/** The vector in a token; undefined if the token is corrupted or of another realm. */
export async function openToken({ sealed, sealKey }: LocalToken, realm: string): Promise<Float32Array | undefined> {
  const iv = sealed.slice(0, IV_BYTES)
  try {
    const algorithm = { name: AES, iv, additionalData: labelOf(realm) }
    const content = new Uint8Array(await crypto.subtle.decrypt(algorithm, sealKey, sealed.slice(IV_BYTES)))
    const vector = decodeVector(new TextDecoder().decode(content.subarray(0, VECTOR_CHARS)))
    content.fill(0)
    return vector
  } catch {
    return undefined
  }
}

export function isSamePerson(one: Float32Array, other: Float32Array): boolean {
  return cosine(one, other) >= LOCAL_MATCH_MIN
}

/** Binds a token to its realm: moved to another realm, it does not open. */
function labelOf(realm: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`ostiary-local ${VERSION} ${realm}`)
}
