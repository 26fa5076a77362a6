import { base64url, type CryptoKey } from 'jose'
import type { PublicJwk } from './device-proof.ts'

/**
 * What the key of an enrolled device signs. Matcher and key holder both verify it before they evaluate anything: a party that can get
 * probes evaluated learns something with each of them (docs/token.md). All members are in the signed text, so a signature for one
 * token, nonce, probe or purpose is worth nothing for another.
 */
export type TokenStatement =
  /** Asks for the public key of a token, in a session. */
  | { purpose: 'begin'; sessionId: string; nonce: string; tokenId: string }
  | ({ purpose: 'compare' } & SignedProbe)
  /** The hashes are of the token and of the public key. */
  | ({ purpose: 'enrol'; tokenHash: string; publicKeyHash: string } & SignedProbe)

/** All members are base64url, or names without spaces. */
export interface SignedProbe {
  /** Names the tenant and its mode. */
  realm: string
  account: string
  tokenId: string
  keyHolderNonce: string
  matcherNonce: string
  /** SHA-256. */
  probeHash: string
}

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const SIGNATURE = /^[A-Za-z0-9_-]{86}$/

export async function signTokenStatement(privateKey: CryptoKey, statement: TokenStatement): Promise<string> {
  const signature = await crypto.subtle.sign(ECDSA, privateKey, textOf(statement))
  return base64url.encode(new Uint8Array(signature))
}

/** False also for text that is not a key or not a signature. */
export async function verifyTokenStatement(
  jwk: PublicJwk,
  signature: string,
  statement: TokenStatement,
): Promise<boolean> {
  if (!SIGNATURE.test(signature)) return false
  const { kty, crv, x, y } = jwk
  try {
    const key = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, ECDSA, false, ['verify'])
    return await crypto.subtle.verify(ECDSA, key, new Uint8Array(base64url.decode(signature)), textOf(statement))
  } catch {
    return false
  }
}

/** A JSON array: it has one spelling, and no member can be taken for another. */
function textOf(statement: TokenStatement): Uint8Array<ArrayBuffer> {
  const { purpose, tokenId } = statement
  const members = statement.purpose === 'begin' ? [statement.sessionId, statement.nonce, tokenId] : membersOf(statement)
  return new TextEncoder().encode(JSON.stringify(['ostiary-token/1', purpose, ...members]))
}

function membersOf(statement: Exclude<TokenStatement, { purpose: 'begin' }>): string[] {
  const { realm, account, tokenId, keyHolderNonce, matcherNonce, probeHash } = statement
  const probe = [realm, account, tokenId, keyHolderNonce, matcherNonce, probeHash]
  return statement.purpose === 'enrol' ? [...probe, statement.tokenHash, statement.publicKeyHash] : probe
}
