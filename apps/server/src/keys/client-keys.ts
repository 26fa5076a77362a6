import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { invalid } from '../platform/errors.ts'

/** The algorithms for assertions. No symmetric ones, because our stored key could then sign. */
export const ASSERTION_ALGORITHMS = ['ES256', 'RS256', 'PS256', 'EdDSA'] as const
export type AssertionAlgorithm = (typeof ASSERTION_ALGORITHMS)[number]

/** A public key as it is stored: the members that make up the key, and its `kid`. */
export interface ClientKey {
  jwk: Readonly<Record<string, string>>
  kid: string | null
  algorithms: readonly AssertionAlgorithm[]
}

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const RSA_BITS_MIN = 2048
/** Larger keys make each verification expensive. */
const RSA_BITS_MAX = 4096
const RSA_EXPONENT_MIN = 65_537n
const KID_CHARS_MAX = 200

/** The members that make a key, in the order of RFC 7638, and what it can sign. */
const KINDS: readonly { fixed: Record<string, string>; members: string[]; algorithms: AssertionAlgorithm[] }[] = [
  { fixed: { kty: 'EC', crv: 'P-256' }, members: ['crv', 'kty', 'x', 'y'], algorithms: ['ES256'] },
  { fixed: { kty: 'OKP', crv: 'Ed25519' }, members: ['crv', 'kty', 'x'], algorithms: ['EdDSA'] },
  { fixed: { kty: 'RSA' }, members: ['e', 'kty', 'n'], algorithms: ['RS256', 'PS256'] },
]

/** Parses a JWK from the operator. Its errors name the problem and never quote the key. */
export function readClientKey(value: unknown): ClientKey {
  if (typeof value !== 'object' || value === null) throw refused('must be JWKs')
  const members = new Map<string, unknown>(Object.entries(value))
  if (PRIVATE_MEMBERS.some((name) => members.has(name))) {
    throw refused('must be public keys alone: this one holds its private part, and should be replaced')
  }
  const kind = KINDS.find(({ fixed }) => Object.entries(fixed).every(([name, wanted]) => members.get(name) === wanted))
  if (!kind) throw refused('must be of P-256, Ed25519 or RSA')
  const [kid, use] = [members.get('kid') ?? null, members.get('use') ?? 'sig']
  if (kid !== null && (typeof kid !== 'string' || kid.length === 0 || kid.length > KID_CHARS_MAX)) {
    throw refused(`must have a kid of 1 to ${KID_CHARS_MAX} characters, or none`)
  }
  if (use !== 'sig') throw refused('must be for signatures')
  const alg = members.get('alg')
  const algorithms = kind.algorithms.filter((name) => alg === undefined || name === alg)
  if (algorithms.length === 0) throw refused(`must be for one of ${ASSERTION_ALGORITHMS.join(', ')}`)
  const jwk = Object.fromEntries(kind.members.map((name) => [name, String(members.get(name))]))
  checkStrength(jwk)
  return { jwk, kid, algorithms }
}

/** RFC 7638: the same key has the same thumbprint everywhere. */
export function thumbprintOf({ jwk }: Pick<ClientKey, 'jwk'>): string {
  const members = Object.keys(jwk).sort()
  return hash('sha256', JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]]))), 'base64url')
}

export function openClientKey({ jwk }: Pick<ClientKey, 'jwk'>): KeyObject {
  return createPublicKey({ key: { ...jwk }, format: 'jwk' })
}

function checkStrength(jwk: Readonly<Record<string, string>>): void {
  let key: KeyObject
  try {
    key = openClientKey({ jwk })
  } catch {
    throw refused('must be valid')
  }
  if (key.asymmetricKeyType !== 'rsa') return
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (modulusLength < RSA_BITS_MIN || modulusLength > RSA_BITS_MAX || publicExponent < RSA_EXPONENT_MIN) {
    throw refused(`of RSA must have ${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits and an exponent of 65537 or more`)
  }
}

function refused(message: string): Error {
  return invalid('/public_keys', message)
}
