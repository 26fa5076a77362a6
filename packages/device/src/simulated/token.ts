import type { LaunchState, OpenedSession, TokenBegun } from '@ostiary/contract'
import { decodeBytes } from '@ostiary/crypto'
import type { Device } from '../device.ts'
import {
  comparisonOf,
  createTokenKeys,
  enrolmentOf,
  isPinned,
  type MadeToken,
  proveToken,
  TOKEN_FAILURES,
  type TokenClaim,
  type TokenFailure,
  type TokenKeys,
  tokenFailureOf,
  tokenKeyOf,
} from '../token-messages.ts'

/** The two functions of @ostiary/token that a device needs. */
export interface TokenFunctions {
  createToken(tokenId: Uint8Array, vector: ArrayLike<number>): Promise<Omit<MadeToken, 'probe'>>
  createProbe(publicKey: Uint8Array, vector: ArrayLike<number>): Promise<Uint8Array>
}

/** What a device keeps of an enrolment by token. */
export interface KeptToken {
  realm: string
  tokenId: string
  account: string
  keys: TokenKeys
  /** Of the token's public key: no probe is made under another one. */
  publicKeyHash: string
  /** Where the device keeps the token itself: the bytes that the service has sealed. */
  sealedToken: string | null
}

/** What one device remembers between sessions: one token per realm. */
export interface TokenKeeper {
  find(realm: string): Promise<KeptToken | undefined>
  keep(kept: KeptToken): Promise<void>
}

/** For sessions that store tokens instead of vectors. */
export interface SimulatedTokens {
  functions: TokenFunctions
  keeper: TokenKeeper
  /** Accepts no other key holder. Without them any: a simulated device has no build that could pin one. */
  fingerprints?: readonly string[]
  /** The user agrees that a stored vector is replaced by a token, where the tenant wants it: the vector is sent once more. */
  migrates?: boolean
  /** The keys can be exported, for a keeper that writes them to a file. */
  extractable?: boolean
}

export function createTokenKeeper(): TokenKeeper {
  const kept = new Map<string, KeptToken>()
  return {
    find: async (realm) => kept.get(realm),
    keep: async (token) => void kept.set(token.realm, token),
  }
}

/** What the capture says about tokens. `withVector`: the stored vector has to be found once more. */
export interface TokenClaims {
  token?: TokenClaim
  successor?: TokenClaim
  withVector?: boolean
}

/** A token or a probe could not be sent. */
export class TokenFailed extends Error {
  readonly failure: TokenFailure

  constructor(failure: TokenFailure) {
    super(failure.reason)
    this.name = 'TokenFailed'
    this.failure = failure
  }
}

/** Undefined for sessions whose vector is sent. */
export function findTokenSteps(
  device: Device,
  { type, verification }: OpenedSession,
  { tokens, onStep }: { tokens: SimulatedTokens | undefined; onStep(step: string): void },
) {
  const { templates = 'vector', realm } = verification ?? { realm: '' }
  if (templates === 'vector') return undefined
  if (!tokens) throw new Error('The session stores tokens: give the person `tokens`')
  const { functions, keeper, fingerprints } = tokens
  /** Kept when the session has ended and the service says that the token is the person's. */
  let made: KeptToken | undefined

  const pinned = async (begun: TokenBegun): Promise<TokenBegun> => {
    const isKnown = !fingerprints || (await isPinned(begun.keyHolderKey, fingerprints))
    if (!isKnown) throw new TokenFailed(TOKEN_FAILURES.notPinned)
    return begun
  }

  async function begin(nonce: string, held: KeptToken | undefined): Promise<TokenBegun> {
    const { sessionId } = device
    const proven = held && {
      tokenId: held.tokenId,
      proof: await proveToken(held.keys, { sessionId, nonce, tokenId: held.tokenId }),
    }
    return pinned(await device.tokenBegin(proven).catch(asTokenFailed))
  }

  const beginSuccessor = async () => pinned(await device.tokenBeginSuccessor().catch(asTokenFailed))

  async function enrol(vector: ArrayLike<number>, begun: TokenBegun): Promise<TokenClaim> {
    const keys = await createTokenKeys(tokens?.extractable)
    const token = await functions.createToken(decodeBytes(begun.tokenId), vector)
    const probe = await functions.createProbe(token.publicKey, vector)
    const { body, claim, publicKeyHash } = await enrolmentOf(begun, keys, { ...token, probe })
    onStep(
      `sends a token (${token.token.length} bytes) and a probe instead of ${type === 'ENROLL' ? 'a vector' : 'what was stored'}, and a key share for the key holder`,
    )
    const { sealedToken } = await device.tokenEnrol(body).catch(asTokenFailed)
    const { realm, tokenId, account } = begun
    made = { realm, tokenId, account, keys, publicKeyHash, sealedToken }
    return claim
  }

  async function compare(vector: ArrayLike<number>, nonce: string): Promise<TokenClaims> {
    const held = await keeper.find(realm)
    if (!held && tokens?.migrates && verification?.migrates) {
      onStep('agrees that the stored vector is replaced by a token')
      return { successor: await enrol(vector, await beginSuccessor()), withVector: true }
    }
    const begun = await begin(nonce, held)
    // Without a key the service has answered NO_TOKEN.
    if (!held || begun.publicKey === null) throw new TokenFailed(TOKEN_FAILURES.noToken)
    const publicKey = await tokenKeyOf(begun, held.publicKeyHash)
    if (!publicKey) throw new TokenFailed(TOKEN_FAILURES.otherKey)
    const probe = await functions.createProbe(publicKey, vector)
    const { body, claim } = await comparisonOf(begun, held.keys, { probe, sealedToken: held.sealedToken })
    onStep(`sends a probe (${probe.length} bytes) instead of a vector`)
    await device.tokenProbe(body).catch(asTokenFailed)
    if (!begun.renewalDue) return { token: claim }
    onStep('renews its token')
    return { token: claim, successor: await enrol(vector, await beginSuccessor()) }
  }

  return {
    /** Sends the token or the probe. Throws TokenFailed. */
    async claimsFor(vector: ArrayLike<number>, nonce: string): Promise<TokenClaims> {
      if (type !== 'ENROLL') return compare(vector, nonce)
      return { token: await enrol(vector, await begin(nonce, undefined)) }
    },
    async end({ tokenBound }: LaunchState): Promise<void> {
      if (made && tokenBound === true) await keeper.keep(made)
      made = undefined
    },
  }
}
export type TokenSteps = ReturnType<typeof findTokenSteps>

function asTokenFailed(error: unknown): never {
  const failure = tokenFailureOf(error)
  throw failure ? new TokenFailed(failure) : error
}
