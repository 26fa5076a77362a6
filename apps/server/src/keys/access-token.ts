import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { type AccessToken, OAUTH_LIMITS } from '@ostiary/contract'
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../platform/clock.ts'
import { bucketOf, type Ids } from '../platform/ids.ts'
import { masterKeyId } from '../platform/key-vault.ts'
import type { ClientFacts } from './client.ts'

const ALGORITHM = 'HS256'
const TYPE = 'at+jwt'
const PURPOSE = 'ostiary/access-token/v1'
const KEY_BYTES = 32
const TOKEN_CHARS_MAX = 2048

/** The client that a token was issued to. */
export type TokenHolder = Pick<ClientFacts, 'clientId' | 'tenantId' | 'livemode'>

interface Deps {
  /** The first key signs, all keys verify: tokens of the old master key stay valid after a rotation. */
  masterKeys: readonly Uint8Array[]
  clock: Clock
  ids: Ids
  issuer: string
}

/**
 * Access tokens for ten minutes. Only this service reads them, so it signs them with a key derived from the master key.
 * Nothing is stored, and every process can verify every token.
 */
export function createAccessTokens({ masterKeys, clock, ids, issuer }: Deps) {
  const keys = new Map(masterKeys.map((key) => [masterKeyId(key), derive(key)]))
  const [current] = keys
  if (current === undefined) throw new Error('Access tokens need a master key')
  const [currentId, currentKey] = current

  return {
    async issue({ clientId, tenantId, livemode }: TokenHolder): Promise<AccessToken> {
      const issuedAt = Math.floor(clock.now().getTime() / 1000)
      const token = await new SignJWT({ tid: tenantId, livemode })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: currentId })
        .setIssuer(issuer)
        .setAudience(issuer)
        .setSubject(clientId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + OAUTH_LIMITS.tokenSeconds)
        .setJti(ids.next(bucketOf(tenantId)))
        .sign(currentKey)
      return { access_token: token, token_type: 'Bearer', expires_in: OAUTH_LIMITS.tokenSeconds }
    },

    /** Undefined for a token that is not ours, incomplete or expired. It does not check whether the client is still active. */
    async verify(token: string): Promise<TokenHolder | undefined> {
      if (token.length > TOKEN_CHARS_MAX) return undefined
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid = '' }) => {
            const key = keys.get(kid)
            if (!key) throw new errors.JWKSNoMatchingKey()
            return key
          },
          {
            algorithms: [ALGORITHM],
            typ: TYPE,
            issuer,
            audience: issuer,
            requiredClaims: ['exp', 'iat', 'jti'],
            currentDate: clock.now(),
          },
        )
        return holderOf(payload)
      } catch {
        return undefined
      }
    },
  }
}
export type AccessTokens = ReturnType<typeof createAccessTokens>

function holderOf({ sub, tid, livemode }: JWTPayload): TokenHolder | undefined {
  if (typeof sub !== 'string' || typeof tid !== 'string' || typeof livemode !== 'boolean') return undefined
  return { clientId: sub, tenantId: tid, livemode }
}

function derive(masterKey: Uint8Array): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, '', PURPOSE, KEY_BYTES)))
}
