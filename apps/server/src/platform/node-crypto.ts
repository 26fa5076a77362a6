import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  createSecretKey,
  hash,
  type KeyObject,
  verify,
} from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import {
  type OpeningMeans,
  type PrivateJwk,
  ProofError,
  type PublicJwk,
  SealError,
  type SignatureCheck,
} from '@ostiary/crypto'
import { BoundedMap } from './bounded-map.ts'

/**
 * What `@ostiary/crypto` does in every environment, by OpenSSL and zlib directly. Web Crypto sends each operation to another thread and
 * imports each key again, which costs more than the operation: a signature 383 µs instead of 177, a payload 1,475 instead of 457.
 */
const CURVE = 'prime256v1'

/** A device signs all calls of its session with one key. */
const keys = new BoundedMap<string, KeyObject>(10_000)

/**
 * Everything of a public key on P-256 before its two coordinates (RFC 5480). As text, because Node 24 asks first whether it got a key
 * object, and for any other object finds out by an exception, twice: importing a JWK costs 66 µs, importing this 27.
 */
const PUBLIC_KEY_HEAD = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex')

function keyOf({ x, y }: PublicJwk): KeyObject {
  const name = `${x}.${y}`
  const known = keys.get(name)
  if (known) return known
  const point = [Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]
  if (point.some(({ length }) => length !== COORDINATE)) throw new ProofError('key')
  try {
    const content = Buffer.concat([PUBLIC_KEY_HEAD, ...point]).toString('base64')
    // Throws for a point that is not on the curve.
    const key = createPublicKey(`-----BEGIN PUBLIC KEY-----\n${content}\n-----END PUBLIC KEY-----`)
    keys.set(name, key)
    return key
  } catch {
    throw new ProofError('key')
  }
}

export const checkSignature: SignatureCheck = (jwk, compact) => {
  const end = compact.lastIndexOf('.')
  const signed = Buffer.from(compact.slice(0, end), 'latin1')
  const key = keyOf(jwk)
  const signature = toDer(Buffer.from(compact.slice(end + 1), 'base64url'))
  if (!signature || !verify('sha256', signed, key, signature)) throw new ProofError('signature')
}

/**
 * A signature of two numbers of 32 bytes in the form that OpenSSL reads (RFC 3279). Node would change the form too, but then takes the key
 * inside of other options, and that costs 37 µs of 137.
 */
function toDer(signature: Buffer): Buffer | undefined {
  if (signature.length !== 2 * COORDINATE) return undefined
  const der = Buffer.allocUnsafe(2 + 2 * (3 + COORDINATE))
  const end = writeNumber(der, writeNumber(der, 2, signature, 0), signature, COORDINATE)
  der[0] = 0x30
  der[1] = end - 2
  return der.subarray(0, end)
}

/** Writes a number in its shortest form, with a zero before it where it would be negative. Returns the place after it. */
function writeNumber(der: Buffer, at: number, from: Buffer, start: number): number {
  const last = start + COORDINATE - 1
  let first = start
  while (first < last && from[first] === 0) first++
  const isNegative = (from[first] ?? 0) >= 0x80
  const length = last - first + 1
  der[at] = 0x02
  der[at + 1] = length + (isNegative ? 1 : 0)
  if (isNegative) der[at + 2] = 0
  const place = at + 2 + (isNegative ? 1 : 0)
  from.copy(der, place, first, last + 1)
  return place + length
}

/** The same as `thumbprint` of `@ostiary/crypto`. */
export function thumbprintOf({ kty, crv, x, y }: PublicJwk): string {
  return hash('sha256', JSON.stringify({ crv, kty, x, y }), 'base64url')
}

/** A key pair for one session, whose private half has the public one. */
export function createSealKey(): PrivateJwk {
  const pair = createECDH(CURVE)
  // 0x04, then both coordinates.
  const point = pair.generateKeys()
  const d = Buffer.concat([Buffer.alloc(COORDINATE), pair.getPrivateKey()]).subarray(-COORDINATE)
  return {
    kty: 'EC',
    crv: 'P-256',
    x: point.toString('base64url', 1, 1 + COORDINATE),
    y: point.toString('base64url', 1 + COORDINATE),
    d: d.toString('base64url'),
  }
}
const COORDINATE = 32

/** RFC 7518, section 4.6.2: the algorithm, two empty names and the length of the key, each with its length or as 32 bits. */
const KEY_CONTEXT = Buffer.concat([numbered(7), Buffer.from('A256GCM'), numbered(0), numbered(0), numbered(256)])
const FIRST_ROUND = numbered(1)

function numbered(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

interface Inflated {
  buffer: Buffer
  engine: { bytesWritten: number }
}

export const nodeMeans: OpeningMeans = {
  decrypt({ d }, compact, { x, y }) {
    const [header = '', , iv = '', content = '', tag = ''] = compact.split('.')
    try {
      const own = createECDH(CURVE)
      own.setPrivateKey(d, 'base64url')
      const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
      // Throws for a point that is not on the curve.
      const shared = own.computeSecret(point)
      // A key object: for bare bytes Node finds out by two exceptions that they are none.
      const key = createSecretKey(hash('sha256', Buffer.concat([FIRST_ROUND, shared, KEY_CONTEXT]), 'buffer'))
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(header, 'latin1'))
      decipher.setAuthTag(Buffer.from(tag, 'base64url'))
      return Buffer.concat([decipher.update(content, 'base64url'), decipher.final()])
    } catch {
      throw new SealError('key')
    }
  },

  inflate(bytes, maxBytes) {
    try {
      const options = { maxOutputLength: maxBytes, info: true }
      const { buffer, engine } = inflateRawSync(bytes, options) as unknown as Inflated
      // zlib ignores what comes after the end of the content.
      if (engine.bytesWritten === bytes.length) return buffer
    } catch {
      // Falls through to the same refusal.
    }
    throw new SealError('inflated')
  },
}
