import { CompactEncrypt, compactDecrypt, decodeProtectedHeader, importJWK } from 'jose'
import type { PublicJwk } from './device-proof.ts'

/**
 * What a device submits: deflated JSON in a compact JWE (RFC 7516) with `ECDH-ES` on P-256 and `A256GCM`, encrypted to a key
 * that the server created for this one session. The header names the session and is authenticated with the content. Sealing
 * hides the content from everyone between device and server. It does not prove that the content is true.
 */
export interface PrivateJwk extends PublicJwk {
  d: string
}

export interface SealLimits {
  sessionId: string
  /** Of the compact text. */
  maxBytes: number
  maxInflatedBytes: number
}

export type SealFault = 'size' | 'format' | 'header' | 'session' | 'key' | 'inflated' | 'json'

/** Why a payload was not opened. `inflated`: the content does not inflate, or it inflates beyond the limit. */
export class SealError extends Error {
  readonly fault: SealFault
  constructor(fault: SealFault) {
    super(`The sealed payload was not opened: ${fault}`)
    this.name = 'SealError'
    this.fault = fault
  }
}

const ALG = 'ECDH-ES'
const ECDH = { name: 'ECDH', namedCurve: 'P-256' } as const
const ENC = 'A256GCM'
const TYPE = 'ostiary-capture'
const COMPACT = /^[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{22}$/
const COORDINATE = /^[A-Za-z0-9_-]{43}$/
const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const ALGORITHMS = { keyManagementAlgorithms: [ALG], contentEncryptionAlgorithms: [ENC] }

/** A key pair for one session. The private half stays on the server. */
export async function createSealKeyPair(): Promise<{ publicJwk: PublicJwk; privateJwk: PrivateJwk }> {
  const pair = await crypto.subtle.generateKey(ECDH, true, ['deriveBits'])
  const { x = '', y = '', d = '' } = await crypto.subtle.exportKey('jwk', pair.privateKey)
  const publicJwk: PublicJwk = { kty: 'EC', crv: 'P-256', x, y }
  return { publicJwk, privateJwk: { ...publicJwk, d } }
}

export async function sealPayload(publicJwk: PublicJwk, sessionId: string, payload: object): Promise<string> {
  const key = await crypto.subtle.importKey('jwk', { ...publicJwk }, ECDH, false, [])
  return new CompactEncrypt(await deflate(new TextEncoder().encode(JSON.stringify(payload))))
    .setProtectedHeader({ alg: ALG, enc: ENC, typ: TYPE, sid: sessionId })
    .encrypt(key)
}

/** Opens a payload that was sealed for this session; throws a SealError otherwise. The content is still only a claim of the device. */
export async function openPayload(
  privateJwk: PrivateJwk,
  compact: string,
  limits: SealLimits,
  means: OpeningMeans = WEB_MEANS,
): Promise<unknown> {
  if (compact.length > limits.maxBytes) throw new SealError('size')
  const { sessionId, senderKey } = readHeader(compact)
  if (sessionId !== limits.sessionId) throw new SealError('session')
  const deflated = await means.decrypt(privateJwk, compact, senderKey)
  const content = await means.inflate(deflated, limits.maxInflatedBytes)
  try {
    return JSON.parse(utf8.decode(content))
  } catch {
    throw new SealError('json')
  }
}

/** How a payload is decrypted and inflated; both throw a SealError. A server has cheaper means than Web Crypto and streams. */
export interface OpeningMeans {
  /** `senderKey` is the public key in the header, checked for its form only. */
  decrypt(privateJwk: PrivateJwk, compact: string, senderKey: PublicJwk): Promise<Uint8Array> | Uint8Array
  /** Refuses content that is cut off, anything after its end, and more than `maxBytes`. */
  inflate(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> | Uint8Array
}

const WEB_MEANS: OpeningMeans = { decrypt, inflate }

async function decrypt(privateJwk: PrivateJwk, compact: string): Promise<Uint8Array> {
  try {
    const { plaintext } = await compactDecrypt(compact, await importJWK({ ...privateJwk }, ALG), ALGORITHMS)
    return plaintext
  } catch {
    throw new SealError('key')
  }
}

/** Exactly our header, before any key is touched. Returns the session it names. */
function readHeader(compact: string): { sessionId: string; senderKey: PublicJwk } {
  if (!COMPACT.test(compact)) throw new SealError('format')
  let header: Record<string, unknown>
  try {
    header = decodeProtectedHeader(compact)
  } catch {
    throw new SealError('format')
  }
  const { alg, enc, typ, sid, epk, ...rest } = header
  const isOurs = alg === ALG && enc === ENC && typ === TYPE && typeof sid === 'string' && isPoint(epk)
  if (!isOurs || Object.keys(rest).length > 0) throw new SealError('header')
  return { sessionId: sid, senderKey: epk }
}

function isPoint(value: unknown): value is PublicJwk {
  if (typeof value !== 'object' || value === null) return false
  const { kty, crv, x, y, ...rest }: Record<string, unknown> = { ...value }
  const isCoordinate = (part: unknown) => typeof part === 'string' && COORDINATE.test(part)
  return kty === 'EC' && crv === 'P-256' && isCoordinate(x) && isCoordinate(y) && Object.keys(rest).length === 0
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new CompressionStream('deflate-raw')
  const [out] = await Promise.all([collect(readable, Number.POSITIVE_INFINITY), feed(writable, bytes)])
  return out
}

/**
 * Inflates chunk by chunk and stops at the limit: a small text that would become gigabytes costs one chunk more than allowed.
 * The stream itself refuses content that is cut off, and anything after its end.
 */
async function inflate(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const { readable, writable } = new DecompressionStream('deflate-raw')
  const fed = feed(writable, new Uint8Array(bytes))
  // A failed write also fails the reader below, which reports the error.
  fed.catch(() => {})
  try {
    const out = await collect(readable, maxBytes)
    await fed
    return out
  } catch {
    throw new SealError('inflated')
  }
}

async function feed(writable: WritableStream<Uint8Array<ArrayBuffer>>, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const writer = writable.getWriter()
  await writer.write(bytes)
  await writer.close()
}

async function collect(readable: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = readable.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length
    if (size > maxBytes) {
      await reader.cancel()
      throw new RangeError('More than the limit')
    }
    chunks.push(next.value)
  }
  const all = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}
