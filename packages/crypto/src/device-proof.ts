import { base64url, type CryptoKey, compactVerify, importJWK } from 'jose'

/**
 * Each call of a device is signed by the key the device made when it opened the session: a compact JWS (ES256) over the
 * session, the method, the path, the hash of the body, a counter and the time. A call that was changed, repeated or sent
 * by another device does not verify. docs/internal/launch.md describes it.
 */
export const DEVICE_PROOF_HEADER = 'x-device-proof'

/** A public key on P-256. */
export interface PublicJwk {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
}

/** The call that is signed. */
export interface DeviceRequest {
  sessionId: string
  method: string
  /** Without the query: it holds only the session id, which is a claim of its own. */
  path: string
  bodyHash: string
}

export interface ProofClaims extends DeviceRequest {
  /** Greater than in the call before. */
  counter: number
  /** Unix time in seconds, by the device's clock. */
  issuedAt: number
}

export interface ExpectedProof extends DeviceRequest {
  /** Refuses proofs that were made further than this from now. */
  window?: { nowSeconds: number; seconds: number }
}

export type ProofFault = 'format' | 'header' | 'claims' | 'session' | 'request' | 'body' | 'time' | 'key' | 'signature'

/** Why a proof was refused. */
export class ProofError extends Error {
  readonly fault: ProofFault
  constructor(fault: ProofFault) {
    super(`The device's proof was refused: ${fault}`)
    this.name = 'ProofError'
    this.fault = fault
  }
}

const ECDSA = { name: 'ECDSA', hash: 'SHA-256' } as const
const HEADER = { alg: 'ES256', typ: 'ostiary-device+jwt' } as const
/** Only this exact spelling is accepted, so no header has to be parsed before the signature is checked. */
const HEADER_PART = base64url.encode(JSON.stringify(HEADER))
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}$/
const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Without jose, which would be 0.7 KB of the launch page: Web Crypto writes an ECDSA signature as ES256 wants it. */
export async function signProof(privateKey: CryptoKey, claims: ProofClaims): Promise<string> {
  const { sessionId, method, path, bodyHash, counter, issuedAt } = claims
  const payload = { sid: sessionId, htm: method, htu: path, bh: bodyHash, ctr: counter, iat: issuedAt }
  const signed = `${HEADER_PART}.${base64url.encode(JSON.stringify(payload))}`
  const signature = await crypto.subtle.sign(ECDSA, privateKey, new TextEncoder().encode(signed))
  return `${signed}.${base64url.encode(new Uint8Array(signature))}`
}

/**
 * Checks the ES256 signature over the first two parts of a compact JWS with three parts; throws a ProofError when it does not verify.
 * A server has cheaper means than Web Crypto.
 */
export type SignatureCheck = (jwk: PublicJwk, compact: string) => Promise<void> | void

/**
 * Checks that this device signed this call; throws a ProofError otherwise. The caller checks the counter, because only the
 * caller knows the last one.
 */
export async function verifyProof(
  jwk: PublicJwk,
  compact: string,
  expected: ExpectedProof,
  checkSignature: SignatureCheck = checkWithJose,
): Promise<{ counter: number; issuedAt: number }> {
  const { counter, issuedAt, ...signed } = readClaims(compact)
  if (signed.sessionId !== expected.sessionId) throw new ProofError('session')
  if (signed.method !== expected.method || signed.path !== expected.path) throw new ProofError('request')
  if (signed.bodyHash !== expected.bodyHash) throw new ProofError('body')
  const { window } = expected
  if (window && Math.abs(window.nowSeconds - issuedAt) > window.seconds) throw new ProofError('time')
  await checkSignature(jwk, compact)
  return { counter, issuedAt }
}

export async function checkWithJose(jwk: PublicJwk, compact: string): Promise<void> {
  const key = await importJWK({ ...jwk }, HEADER.alg).catch(() => {
    throw new ProofError('key')
  })
  await compactVerify(compact, key, { algorithms: [HEADER.alg] }).catch(() => {
    throw new ProofError('signature')
  })
}

/** base64url of the SHA-256 of a body; of zero bytes for a call without one. */
export async function bodyHash(bytes: Uint8Array = new Uint8Array()): Promise<string> {
  return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))))
}

/** The name of a key (RFC 7638): base64url of SHA-256 over its members in the order of their names. */
export function thumbprint({ kty, crv, x, y }: PublicJwk): Promise<string> {
  return bodyHash(new TextEncoder().encode(JSON.stringify({ crv, kty, x, y })))
}

/** Cheap checks before the signature: they refuse most malformed proofs. */
function readClaims(compact: string): ProofClaims {
  if (!COMPACT.test(compact)) throw new ProofError('format')
  const [header = '', payload = ''] = compact.split('.')
  if (header !== HEADER_PART) throw new ProofError('header')
  const { sid, htm, htu, bh, ctr, iat, ...rest } = parseObject(payload)
  const texts = typeof sid === 'string' && typeof htm === 'string' && typeof htu === 'string' && typeof bh === 'string'
  if (!texts || !isCount(ctr) || !isCount(iat) || Object.keys(rest).length > 0) throw new ProofError('claims')
  return { sessionId: sid, method: htm, path: htu, bodyHash: bh, counter: ctr, issuedAt: iat }
}

function parseObject(part: string): Record<string, unknown> {
  try {
    const text = utf8.decode(base64url.decode(part))
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return { ...value }
  } catch {
    // Falls through to the same refusal.
  }
  throw new ProofError('format')
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
