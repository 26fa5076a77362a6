import { base64url, CompactSign, type CryptoKey } from 'jose'
import { checkWithJose, ProofError, type PublicJwk, type SignatureCheck, thumbprint } from './device-proof.ts'

/**
 * A browser's claim about its own comparison, signed with the key that it created at enrolment: a compact JWS (ES256)
 * over the session, the nonce of the challenge and the outcome. The header names the key by its thumbprint. The claim proves
 * that this browser enrolled the person. It proves nothing about the face in front of its camera.
 */
export interface LocalClaim {
  sessionId: string
  /** The nonce of the challenge that the capture answers: a claim is valid for one attempt. */
  nonce: string
  hit: boolean
}

const TYPE = 'ostiary-local+jwt'
const ALG = 'ES256'
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}$/
const THUMBPRINT = /^[A-Za-z0-9_-]{43}$/

export async function signLocalProof(privateKey: CryptoKey, claim: LocalClaim & { key: PublicJwk }): Promise<string> {
  const { key, sessionId, nonce, hit } = claim
  const header = { alg: ALG, typ: TYPE, kid: await thumbprint(key) }
  const payload = new TextEncoder().encode(JSON.stringify({ sid: sessionId, nonce, hit }))
  return new CompactSign(payload).setProtectedHeader(header).sign(privateKey)
}

/** The thumbprint of the key that a proof names, to look the key up. This verifies nothing. */
export function kidOfLocalProof(proof: string): string | undefined {
  if (!COMPACT.test(proof)) return undefined
  const { alg, typ, kid, ...rest } = readPart(proof.split('.')[0] ?? '')
  const isOurs = alg === ALG && typ === TYPE && Object.keys(rest).length === 0
  return isOurs && typeof kid === 'string' && THUMBPRINT.test(kid) ? kid : undefined
}

/** Checks that this key signed this claim. Throws a ProofError otherwise. */
export async function verifyLocalProof(
  key: PublicJwk,
  proof: string,
  expected: LocalClaim,
  checkSignature: SignatureCheck = checkWithJose,
): Promise<void> {
  if (!COMPACT.test(proof)) throw new ProofError('format')
  const kid = kidOfLocalProof(proof)
  if (kid === undefined) throw new ProofError('header')
  const { sid, nonce, hit, ...rest } = readPart(proof.split('.')[1] ?? '')
  if (Object.keys(rest).length > 0) throw new ProofError('claims')
  if (sid !== expected.sessionId) throw new ProofError('session')
  if (nonce !== expected.nonce || hit !== expected.hit) throw new ProofError('claims')
  if (kid !== (await thumbprint(key))) throw new ProofError('key')
  await checkSignature(key, proof)
}

/** Returns an empty object for text that is not a JSON object, so that every check of a member fails. */
function readPart(part: string): Record<string, unknown> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(base64url.decode(part))
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
