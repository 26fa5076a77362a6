import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { ALGORITHMS } from './options.ts'

/** A decoded COSE_Key: a map with numeric labels. */
export interface CoseKey {
  get(part: number): unknown
}

const PART = { kind: 1, algorithm: 3, first: -1, second: -2, third: -3 } as const
const KIND = { okp: 1, ec2: 2, rsa: 3 } as const
const CURVE = { p256: 1, ed25519: 6 } as const
const RSA_BYTES_MIN = 256
const RSA_BYTES_MAX = 512
const RSA_EXPONENT = 'AQAB'

/**
 * Whether signatures can be checked with the key. A registration has no signature, so without this check a damaged key would
 * be noticed only when the person wants to sign in.
 */
export function isUsableKey(key: CoseKey): boolean {
  return toPublicKey(key) !== undefined
}

/** Whether the key has signed the bytes, and the signature has its canonical encoding. */
export function hasSigned(key: CoseKey, data: Uint8Array, signature: Uint8Array): boolean {
  const publicKey = toPublicKey(key)
  if (!publicKey) return false
  return verify(publicKey.asymmetricKeyType === 'ed25519' ? null : 'sha256', data, publicKey, signature)
}

function toPublicKey(key: CoseKey): KeyObject | undefined {
  const jwk = toJwk(key)
  if (!jwk) return undefined
  try {
    // Refuses points that are not on the curve.
    return createPublicKey({ key: jwk, format: 'jwk' })
  } catch {
    return undefined
  }
}

function toJwk(key: CoseKey): JsonWebKey | undefined {
  const [es256, edDsa, rs256] = ALGORITHMS
  const kind = key.get(PART.kind)
  const algorithm = key.get(PART.algorithm)
  const [first, second, third] = [key.get(PART.first), bytesAt(key, PART.second), bytesAt(key, PART.third)]
  if (algorithm === es256 && kind === KIND.ec2 && first === CURVE.p256) {
    if (second?.length !== 32 || third?.length !== 32) return undefined
    return { kty: 'EC', crv: 'P-256', x: second.toString('base64url'), y: third.toString('base64url') }
  }
  if (algorithm === edDsa && kind === KIND.okp && first === CURVE.ed25519) {
    return second?.length === 32 ? { kty: 'OKP', crv: 'Ed25519', x: second.toString('base64url') } : undefined
  }
  if (algorithm === rs256 && kind === KIND.rsa) return toRsaJwk(bytesAt(key, PART.first), second)
  return undefined
}

function toRsaJwk(modulus: Buffer | undefined, exponent: Buffer | undefined): JsonWebKey | undefined {
  if (!modulus || modulus.length < RSA_BYTES_MIN || modulus.length > RSA_BYTES_MAX) return undefined
  const isFull = (modulus[0] ?? 0) >= 0x80
  if (!isFull || exponent?.toString('base64url') !== RSA_EXPONENT) return undefined
  return { kty: 'RSA', n: modulus.toString('base64url'), e: RSA_EXPONENT }
}

function bytesAt(key: CoseKey, part: number): Buffer | undefined {
  const value = key.get(part)
  return value instanceof Uint8Array ? Buffer.from(value) : undefined
}
