import { hash } from 'node:crypto'
import { OAUTH_LIMITS } from '@ostiary/contract'
import { decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose'
import {
  ASSERTION_ALGORITHMS,
  type AssertionAlgorithm,
  type ClientKey,
  openClientKey,
  thumbprintOf,
} from './client-keys.ts'

const JTI_CHARS_MAX = 255

export interface AssertionRules {
  clientId: string
  keys: readonly ClientKey[]
  /** The accepted audiences: the token endpoint and the issuer of this service. */
  audiences: readonly string[]
  now: Date
}

/** The client that an assertion claims to be from. It is not verified yet and only selects the keys. */
export function clientIdIn(assertion: string): string | undefined {
  try {
    const { sub } = decodeJwt(assertion)
    return typeof sub === 'string' ? sub : undefined
  } catch {
    return undefined
  }
}

/**
 * Verifies a signed client assertion (RFC 7523). Returns what to store so that it cannot be used again, or undefined if it is
 * not valid.
 */
export async function checkAssertion(
  assertion: string,
  { clientId, keys, audiences, now }: AssertionRules,
): Promise<{ hash: Buffer; expiresAt: Date } | undefined> {
  for (const { key, algorithm } of candidates(assertion, keys)) {
    const payload = await verified(assertion, key, {
      algorithms: [algorithm],
      issuer: clientId,
      subject: clientId,
      audience: [...audiences],
      requiredClaims: ['exp', 'jti'],
      clockTolerance: OAUTH_LIMITS.leewaySeconds,
      currentDate: now,
    })
    if (payload) return useOf(payload, clientId, now)
  }
  return undefined
}

async function verified(
  assertion: string,
  key: ClientKey,
  options: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload | undefined> {
  try {
    return (await jwtVerify(assertion, openClientKey(key), options)).payload
  } catch {
    return undefined
  }
}

/** Checks what the library does not: the lifetime, that we are the only audience, and that there is a `jti`. */
function useOf({ aud, exp = 0, iat = 0, jti }: JWTPayload, clientId: string, now: Date) {
  const nowSeconds = now.getTime() / 1000
  if (exp > nowSeconds + OAUTH_LIMITS.assertionSeconds + OAUTH_LIMITS.leewaySeconds) return undefined
  if (iat > nowSeconds + OAUTH_LIMITS.leewaySeconds) return undefined
  // Another audience of the same assertion could replay it here.
  if (Array.isArray(aud) && aud.length !== 1) return undefined
  if (typeof jti !== 'string' || jti.length === 0 || jti.length > JTI_CHARS_MAX) return undefined
  return {
    hash: hash('sha256', `${clientId}\n${jti}`, 'buffer'),
    expiresAt: new Date((exp + OAUTH_LIMITS.leewaySeconds) * 1000),
  }
}

/** The keys that the header allows: those with its `kid`, or all keys of its algorithm. */
function candidates(
  assertion: string,
  keys: readonly ClientKey[],
): { key: ClientKey; algorithm: AssertionAlgorithm }[] {
  const { alg, kid } = headerOf(assertion)
  const algorithm = ASSERTION_ALGORITHMS.find((name) => name === alg)
  if (!algorithm) return []
  return keys
    .filter((key) => key.algorithms.includes(algorithm))
    .filter((key) => kid === undefined || kid === key.kid || kid === thumbprintOf(key))
    .map((key) => ({ key, algorithm }))
}

function headerOf(assertion: string): { alg?: unknown; kid?: unknown } {
  try {
    return decodeProtectedHeader(assertion)
  } catch {
    return {}
  }
}
