import { base64url, CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose'

/**
 * Encryption version 1 of area E: a compact JWE (RFC 7516), `dir` with `A256GCM`. The content key comes from the API key by
 * HKDF-SHA256 with a new salt for every envelope, and is bound to the envelope's purpose. The header is
 * authenticated with the content. docs/api/biometrics.md describes it with test vectors.
 */
export type EnvelopePurpose = 'enroll' | 'predict' | 'deleteUser' | 'delete' | 'puid' | 'guid'

export interface Envelope {
  purpose: EnvelopePurpose
  modelVersion: string
  /** Unix time in seconds. */
  issuedAt: number
  /** Unique for each envelope: the server accepts each only once. */
  id: string
  text: string
}

export type EnvelopeFault = 'format' | 'header' | 'purpose' | 'model version' | 'time' | 'key' | 'text'

/** Why an envelope was not opened. `fault` is safe to show: it says nothing about the content or the key. */
export class EnvelopeError extends Error {
  readonly fault: EnvelopeFault
  constructor(fault: EnvelopeFault) {
    super(`The envelope was not opened: ${fault}`)
    this.name = 'EnvelopeError'
    this.fault = fault
  }
}

const VERSION = 1
const SALT_BYTES = 16
const ID_CHARS = 128
const HEADER_CHARS = 2048
const COMPACT = /^[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{22}$/

/** Fixed salt and nonce instead of random ones. Only for test vectors: a repeated salt and nonce breaks the encryption. */
export interface FixedRandomness {
  salt: Uint8Array
  nonce: Uint8Array
}

/** Makes envelopes of one purpose that share a key, for replies with several ids. Each has its own nonce. */
export async function createSealer(
  apiKey: string,
  purpose: EnvelopePurpose,
  fixed?: FixedRandomness,
): Promise<(envelope: Omit<Envelope, 'purpose'>) => Promise<string>> {
  const salt = fixed?.salt ?? crypto.getRandomValues(new Uint8Array(SALT_BYTES))
  const key = await deriveKey(apiKey, salt, purpose)
  return ({ modelVersion, issuedAt, id, text }) => {
    const header = {
      alg: 'dir',
      enc: 'A256GCM',
      v: VERSION,
      salt: base64url.encode(salt),
      mv: modelVersion,
      op: purpose,
      iat: issuedAt,
      jti: id,
    }
    const jwe = new CompactEncrypt(new TextEncoder().encode(text)).setProtectedHeader(header)
    if (fixed) jwe.setInitializationVector(fixed.nonce)
    return jwe.encrypt(key)
  }
}

export async function sealEnvelope(apiKey: string, envelope: Envelope, fixed?: FixedRandomness): Promise<string> {
  const { purpose, ...rest } = envelope
  return (await createSealer(apiKey, purpose, fixed))(rest)
}

export interface Expected {
  purposes: readonly EnvelopePurpose[]
  modelVersion?: string
  /** Refuses envelopes that were made further than this from now. */
  window?: { nowSeconds: number; seconds: number }
}

/** Opens an envelope and checks that it is what is expected. Throws an EnvelopeError otherwise. */
export async function openEnvelope(apiKey: string, compact: string, expected: Expected): Promise<Envelope> {
  const { salt, ...header } = readHeader(compact)
  if (!(expected.purposes as readonly string[]).includes(header.purpose)) throw new EnvelopeError('purpose')
  if (expected.modelVersion !== undefined && header.modelVersion !== expected.modelVersion) {
    throw new EnvelopeError('model version')
  }
  if (expected.window && Math.abs(expected.window.nowSeconds - header.issuedAt) > expected.window.seconds) {
    throw new EnvelopeError('time')
  }
  const purpose = header.purpose as EnvelopePurpose
  const key = await deriveKey(apiKey, salt, purpose)
  const { plaintext } = await compactDecrypt(compact, key, ALGORITHMS).catch(() => {
    throw new EnvelopeError('key')
  })
  try {
    return { ...header, purpose, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plaintext) }
  } catch {
    throw new EnvelopeError('text')
  }
}

const ALGORITHMS = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }

/** Cheap checks before any cryptography: they refuse most malformed envelopes. */
function readHeader(compact: string) {
  const isCompact = COMPACT.test(compact) && compact.split('.').every(isExact)
  if (!isCompact || compact.indexOf('.') > HEADER_CHARS) throw new EnvelopeError('format')
  let header: Record<string, unknown>
  try {
    header = decodeProtectedHeader(compact)
  } catch {
    throw new EnvelopeError('format')
  }
  const { alg, enc, v, salt, mv, op, iat, jti } = header
  const plain = alg === 'dir' && enc === 'A256GCM' && v === VERSION && !('crit' in header) && !('zip' in header)
  const id = typeof jti === 'string' && jti.length >= 1 && jti.length <= ID_CHARS
  if (!plain || !id || typeof salt !== 'string' || typeof mv !== 'string' || typeof op !== 'string') {
    throw new EnvelopeError('header')
  }
  if (typeof iat !== 'number' || !Number.isFinite(iat)) throw new EnvelopeError('header')
  return { salt: readSalt(salt), modelVersion: mv, purpose: op, issuedAt: iat, id: jti }
}

/**
 * Whether a part in base64url is the only text for its bytes. The last character of some has bits that decoders ignore: a changed envelope
 * would open.
 */
function isExact(part: string): boolean {
  const last = part.at(-1) ?? ''
  const over = part.length % 4
  if (over === 2) return 'AQgw'.includes(last)
  return over === 0 || (over === 3 && 'AEIMQUYcgkosw048'.includes(last))
}

function readSalt(text: string): Uint8Array<ArrayBuffer> {
  try {
    const salt = new Uint8Array(base64url.decode(text))
    if (salt.length === SALT_BYTES) return salt
  } catch {
    // Falls through to the same refusal.
  }
  throw new EnvelopeError('header')
}

async function deriveKey(apiKey: string, salt: Uint8Array, purpose: EnvelopePurpose) {
  const encoder = new TextEncoder()
  const secret = await crypto.subtle.importKey('raw', encoder.encode(apiKey), 'HKDF', false, ['deriveKey'])
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(salt), info: encoder.encode(`ostiary/node/v1/${purpose}`) },
    secret,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  )
}
