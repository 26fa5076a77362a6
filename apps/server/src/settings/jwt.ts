import { hash } from 'node:crypto'
import { type TenantIssuer, TOKEN_LIMITS } from '@ostiary/contract'
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import type { Outbound } from '../platform/outbound/index.ts'
import { createKeySets } from './key-sets.ts'
import type { Settings } from './service.ts'

export interface VerifiedToken {
  issuer: string
  /** A hash of the claim `sub`; only where the tenant asks for it. */
  subjectHash?: string
}

interface Deps {
  outbound: Outbound
  clock: Clock
  log: Log
  settings: Pick<Settings, 'get'>
}

const BEARER = /^Bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i
const SCHEME_CHARS = 16

/**
 * Verifies tokens of a tenant's own identity providers. A tenant without providers accepts no tokens: a token that cannot be
 * verified is refused, never ignored. Every refusal has the same answer; the log says which check failed.
 */
export function createTokenVerifier({ outbound, clock, log, settings }: Deps) {
  const keySets = createKeySets({ outbound, clock, log })

  async function check(token: string, trusted: TenantIssuer): Promise<JWTPayload> {
    const keys = await keySets.get(trusted.jwksUri)
    try {
      return await checkWith(keys, token, trusted)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const newer = await keySets.findNewer(trusted.jwksUri, keys)
      if (!newer) throw error
      return checkWith(newer, token, trusted)
    }
  }

  async function checkWith(keys: JWTVerifyGetKey, token: string, trusted: TenantIssuer): Promise<JWTPayload> {
    const { payload } = await jwtVerify(token, keys, {
      issuer: trusted.issuer,
      audience: trusted.audience,
      algorithms: trusted.algorithms,
      requiredClaims: ['exp'],
      clockTolerance: TOKEN_LIMITS.leewaySeconds,
      currentDate: clock.now(),
    })
    return payload
  }

  return {
    /** Takes the whole header with its scheme. Throws 401 for an invalid token, and 503 when the token cannot be checked. */
    async verify(tenantId: string, authorization: string): Promise<VerifiedToken> {
      const token = tokenIn(authorization)
      const { issuers } = await settings.get(tenantId)
      try {
        const trusted = issuerOf(token, issuers)
        const { sub } = await check(token, trusted)
        if (sub !== undefined && typeof sub !== 'string') throw new Error('The subject is not a text')
        const wantsSubject = trusted.subjectToMetadata && sub !== undefined
        return { issuer: trusted.issuer, ...(wantsSubject && { subjectHash: hashOf(tenantId, trusted.issuer, sub) }) }
      } catch (error) {
        // The libraries throw errors about the token or the issuer's key. In both cases the token is refused.
        throw error instanceof AppError ? error : refused(error)
      }
    },
  }
}
export type TokenVerifier = ReturnType<typeof createTokenVerifier>

function tokenIn(authorization: string): string {
  // Checked before the pattern, to limit its work.
  const isShort = authorization.length <= TOKEN_LIMITS.bytes + SCHEME_CHARS
  const token = isShort ? BEARER.exec(authorization)?.[1] : undefined
  if (token === undefined || token.length > TOKEN_LIMITS.bytes) throw refused()
  return token
}

function refused(cause?: unknown): AppError {
  return new AppError('unauthenticated', 'INVALID_TOKEN', 'Invalid bearer token', { cause })
}

/**
 * The tenant's issuer that a token claims to be from. It is not verified yet and only selects the keys. Tokens that can never
 * be valid are refused here, so that they cause no call to the issuer.
 */
function issuerOf(token: string, issuers: readonly TenantIssuer[]): TenantIssuer {
  const claimed = decodeJwt(token).iss
  const trusted = issuers.find(({ issuer }) => issuer === claimed)
  if (!trusted) throw new Error('Not an issuer of this tenant')
  const { alg } = decodeProtectedHeader(token)
  if (!trusted.algorithms.some((algorithm) => algorithm === alg)) throw new Error('Not an algorithm of this issuer')
  return trusted
}

/** The same person at two tenants has two hashes. An issuer's name has no line break, so no two triples are one text. */
function hashOf(tenantId: string, issuer: string, sub: string): string {
  return hash('sha256', `${tenantId}\n${issuer}\n${sub}`, 'base64url')
}
