import type {
  CapturePayload,
  ComparisonMessage,
  DeviceKey,
  EnrolmentMessage,
  TokenBegun,
  TokenEnrolBody,
  TokenProbeBody,
} from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { bodyHash, decodeBytes, encodeBytes, sealForKeyHolder, signTokenStatement, thumbprint } from '@ostiary/crypto'
import { type DeviceCryptoKey, DeviceError } from './signed-calls.ts'

/* What a device signs and seals around a token or a probe. The encryption itself is @ostiary/token, which the caller brings. */

/** The key of one token. Both services verify its signature before they evaluate anything. */
export interface TokenKeys {
  privateKey: DeviceCryptoKey
  publicKey: DeviceKey
}

/** What @ostiary/token makes at an enrolment: a token, and a probe of the same vector. */
export interface MadeToken {
  token: Uint8Array
  publicKey: Uint8Array
  matcherShare: Uint8Array
  keyShare: Uint8Array
  probe: Uint8Array
}

/** In the capture: which token or probe it belongs to. */
export type TokenClaim = NonNullable<CapturePayload['token']>

export interface TokenMessage<Body> {
  body: Omit<Body, 'sessionId'>
  claim: TokenClaim
}

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256' } as const

/** Scripts can use the private key. They can read it only if it is `extractable`, for simulated devices that keep it in a file. */
export async function createTokenKeys(extractable = false): Promise<TokenKeys> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(ECDSA, extractable, ['sign'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', publicKey)
  return { privateKey, publicKey: { kty: 'EC', crv: 'P-256', x, y } }
}

/** Proves to `tokenBegin` that this device holds the key of the token. `nonce` is that of the challenge. */
export function proveToken(
  { privateKey }: TokenKeys,
  of: { sessionId: string; nonce: string; tokenId: string },
): Promise<string> {
  return signTokenStatement(privateKey, { purpose: 'begin', ...of })
}

/** Whether the key holder's key is one of those pinned in the build. Without a pin no key is trusted. */
export async function isPinned(key: DeviceKey, fingerprints: readonly string[]): Promise<boolean> {
  return fingerprints.includes(await thumbprint(key))
}

/**
 * The key under which a probe of this token is encrypted; undefined if it is not the key that this device made at the enrolment. The
 * service sends it, and one that sent a key of its own instead could decrypt the probe.
 */
export async function tokenKeyOf({ publicKey }: TokenBegun, publicKeyHash: string): Promise<Uint8Array | undefined> {
  if (publicKey === null) return undefined
  const bytes = decodeBytes(publicKey)
  return (await bodyHash(bytes)) === publicKeyHash ? bytes : undefined
}

/** The body of `tokenEnrol`. The key share leaves the device only sealed to the key holder. The device keeps the hash of the public key. */
export async function enrolmentOf(
  begun: TokenBegun,
  { privateKey, publicKey: deviceKey }: TokenKeys,
  made: MadeToken,
): Promise<TokenMessage<TokenEnrolBody> & { publicKeyHash: string }> {
  const [probeHash, tokenHash, publicKeyHash] = await Promise.all(
    [made.probe, made.token, made.publicKey].map((bytes) => bodyHash(bytes)),
  )
  if (!probeHash || !tokenHash || !publicKeyHash) throw new Error('A hash is missing')
  const statement = { purpose: 'enrol', ...boundTo(begun), probeHash, tokenHash, publicKeyHash } as const
  const signature = await signTokenStatement(privateKey, statement)
  const message: EnrolmentMessage = { ...statement, deviceKey, signature }
  return {
    body: {
      token: encodeBytes(made.token),
      publicKey: encodeBytes(made.publicKey),
      matcherShare: encodeBytes(made.matcherShare),
      probe: encodeBytes(made.probe),
      deviceKey,
      signature,
      sealed: await sealForKeyHolder(begun.keyHolderKey, message, made.keyShare),
    },
    claim: { id: begun.tokenId, probeHash },
    publicKeyHash,
  }
}

/** The body of `tokenProbe`. `sealedToken` is what this device keeps of the token, where the service wants it. */
export async function comparisonOf(
  begun: TokenBegun,
  { privateKey }: TokenKeys,
  { probe, sealedToken }: { probe: Uint8Array; sealedToken: string | null },
): Promise<TokenMessage<TokenProbeBody>> {
  const probeHash = await bodyHash(probe)
  const statement = { purpose: 'compare', ...boundTo(begun), probeHash } as const
  const signature = await signTokenStatement(privateKey, statement)
  const message: ComparisonMessage = { ...statement, signature }
  return {
    body: {
      probe: encodeBytes(probe),
      signature,
      sealed: await sealForKeyHolder(begun.keyHolderKey, message),
      ...(begun.wantsToken && sealedToken !== null && { sealedToken }),
    },
    claim: { id: begun.tokenId, probeHash },
  }
}

function boundTo({ realm, account, tokenId, keyHolderNonce, matcherNonce }: TokenBegun) {
  return { realm, account, tokenId, keyHolderNonce, matcherNonce }
}

/** Why a token or a probe could not be sent: what a device reports with `failure`. */
export interface TokenFailure {
  code: number
  reason: 'no_hint' | 'token_refused' | 'key_holder' | 'key_holder_pin' | 'token_key' | 'token_storage'
}

export const TOKEN_FAILURES = {
  /** This device holds no key of a token that fits the session. It ends the session. */
  noToken: { code: codes.USER_NOT_ENROLLED, reason: 'no_hint' },
  /** A signature, a hash or a test does not hold. It costs a try. */
  refused: { code: codes.FACE_SCAN_ERROR, reason: 'token_refused' },
  /** Nobody is recognised without the key holder. It ends the session. */
  keyHolderAway: { code: codes.INTERNAL, reason: 'key_holder' },
  /** The key holder's key is not the one in the build. Nothing was sent, and the session ends. */
  notPinned: { code: codes.INTERNAL, reason: 'key_holder_pin' },
  /** The service sent another public key than the token's. No probe was made, and the session ends. */
  otherKey: { code: codes.INTERNAL, reason: 'token_key' },
  /** The browser keeps nothing, so the enrolled person could never sign in. Nothing was sent, and the session ends. */
  noStorage: { code: codes.INTERNAL, reason: 'token_storage' },
} as const satisfies Record<string, TokenFailure>

/** What an answer of the service to one of the token calls means; undefined for all that any call may get. */
export function tokenFailureOf(error: unknown): TokenFailure | undefined {
  if (!(error instanceof DeviceError)) return undefined
  if (error.code === 'NO_TOKEN') return TOKEN_FAILURES.noToken
  if (error.code === 'TOKEN_REFUSED') return TOKEN_FAILURES.refused
  return error.code === 'KEY_HOLDER_UNAVAILABLE' ? TOKEN_FAILURES.keyHolderAway : undefined
}
