import { nowSeconds } from './clock.ts'
import { invalidOption } from './error.ts'
import type { ClientKey, WebCryptoKey } from './options.ts'

/** RFC 7523: how a client with a key pair shows who it is (`private_key_jwt`). */
export const CLIENT_ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** The service takes at most five minutes. A minute is enough for one call. */
const LIFETIME_SECONDS = 60

interface Scheme {
  alg: string
  importAs: { name: string; namedCurve?: string; hash?: string }
  signAs: { name: string; hash?: string; saltLength?: number }
}

const SHA256 = 'SHA-256'
const ES256: Scheme = {
  alg: 'ES256',
  importAs: { name: 'ECDSA', namedCurve: 'P-256' },
  signAs: { name: 'ECDSA', hash: SHA256 },
}
const ED25519: Scheme = { alg: 'EdDSA', importAs: { name: 'Ed25519' }, signAs: { name: 'Ed25519' } }
const RS256: Scheme = {
  alg: 'RS256',
  importAs: { name: 'RSASSA-PKCS1-v1_5', hash: SHA256 },
  signAs: { name: 'RSASSA-PKCS1-v1_5' },
}
const PS256: Scheme = {
  alg: 'PS256',
  importAs: { name: 'RSA-PSS', hash: SHA256 },
  signAs: { name: 'RSA-PSS', saltLength: 32 },
}

export interface AssertionOptions {
  clientId: string
  clientKey: ClientKey
  /** The token endpoint, as the service knows itself. */
  audience: string
}

/** Makes assertions. Each is good once, so each attempt of a call needs a new one. */
export function createAssertions({ clientId, clientKey, audience }: AssertionOptions): () => Promise<string> {
  const scheme = schemeOf(clientKey)
  let key: Promise<WebCryptoKey> | undefined

  return async () => {
    key ??= importKey(clientKey, scheme)
    const now = nowSeconds()
    const claims = { iss: clientId, sub: clientId, aud: audience, iat: now, exp: now + LIFETIME_SECONDS }
    const kid = 'kid' in clientKey && typeof clientKey.kid === 'string' ? { kid: clientKey.kid } : {}
    const head = { alg: scheme.alg, typ: 'JWT', ...kid }
    const text = `${part(head)}.${part({ ...claims, jti: crypto.randomUUID() })}`
    const signature = await crypto.subtle.sign(scheme.signAs, await key, new TextEncoder().encode(text))
    return `${text}.${toBase64Url(new Uint8Array(signature))}`
  }
}

function schemeOf(key: ClientKey): Scheme {
  const found = isCryptoKey(key) ? [ES256, ED25519, RS256, PS256].find(isFor(key)) : schemeOfJwk(key)
  if (!found) throw invalidOption('clientKey must be a private key of P-256, Ed25519 or RSA')
  return found
}

function schemeOfJwk(jwk: Exclude<ClientKey, WebCryptoKey>): Scheme | undefined {
  const { kty, crv, alg, d } = jwk
  if (typeof d !== 'string') throw invalidOption('clientKey is a public key: the private one signs')
  if (kty === 'EC' && crv === 'P-256') return ES256
  if (kty === 'OKP' && crv === 'Ed25519') return ED25519
  if (kty === 'RSA') return alg === 'PS256' ? PS256 : RS256
  return undefined
}

const isFor = (key: WebCryptoKey) => (scheme: Scheme) =>
  scheme.signAs.name === key.algorithm.name && key.usages.includes('sign')

function isCryptoKey(key: ClientKey): key is WebCryptoKey {
  return 'algorithm' in key && 'usages' in key
}

async function importKey(key: ClientKey, { importAs }: Scheme): Promise<WebCryptoKey> {
  if (isCryptoKey(key)) return key
  // `alg`, `use` and `key_ops` of a stored JWK may contradict what it is imported for.
  const { alg: _, use: __, key_ops: ___, ...jwk } = key
  return crypto.subtle.importKey('jwk', jwk, importAs, false, ['sign'])
}

const part = (value: object) => toBase64Url(new TextEncoder().encode(JSON.stringify(value)))

export function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
