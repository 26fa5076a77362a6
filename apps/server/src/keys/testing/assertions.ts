/** Clients that sign, and the assertions they sign. Only tests import this. */
import { generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto'
import { CLIENT_ASSERTION_TYPE } from '@ostiary/contract'
import { SignJWT } from 'jose'

export interface Signer {
  publicJwk: JsonWebKey
  privateKey: KeyObject
  alg: string
}

export function createSigner(alg: 'ES256' | 'RS256' | 'PS256' | 'EdDSA' = 'ES256'): Signer {
  const { publicKey, privateKey } = pairFor(alg)
  return { publicJwk: publicKey.export({ format: 'jwk' }), privateKey, alg }
}

export interface AssertionParts {
  claims: Record<string, unknown>
  header?: Record<string, unknown>
}

/** The claims of a valid assertion, to be changed one at a time. */
export function goodClaims(clientId: string, audience: string, now: Date): Record<string, unknown> {
  const nowSeconds = Math.floor(now.getTime() / 1000)
  counter++
  return { iss: clientId, sub: clientId, aud: audience, iat: nowSeconds, exp: nowSeconds + 60, jti: `jti-${counter}` }
}
let counter = 0

export function sign({ privateKey, alg }: Signer, { claims, header = {} }: AssertionParts): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, ...header }).sign(privateKey)
}

/** A JWT put together from its parts. The signature is not computed: it is empty or any text. */
export function assembleJwt(header: object, claims: object, signature = ''): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part(header)}.${part(claims)}.${signature}`
}

export function assertionForm(assertion: string, more: Record<string, string> = {}): string {
  return new URLSearchParams({
    grant_type: 'client_credentials',
    client_assertion_type: CLIENT_ASSERTION_TYPE,
    client_assertion: assertion,
    ...more,
  }).toString()
}

function pairFor(alg: 'ES256' | 'RS256' | 'PS256' | 'EdDSA'): { publicKey: KeyObject; privateKey: KeyObject } {
  if (alg === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519')
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
}
