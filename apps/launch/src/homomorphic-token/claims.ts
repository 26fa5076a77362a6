import type { TokenBegun, VerificationType } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import {
  createTokenKeys,
  type Device,
  isPinned,
  proveToken,
  TOKEN_FAILURES,
  type TokenClaim,
  type TokenFailure,
  tokenFailureOf,
  tokenKeyOf,
} from '@ostiary/device'
import { CaptureFailure } from '../capture/capture-types.ts'
import type { RecordStorage } from './record-storage.ts'
import { runWorker, type TokenWorker } from './run-worker.ts'

export interface TokenClaimsOptions {
  sessionId: string
  type: VerificationType
  realm: string
  /** The user was asked whether a token replaces the vector that the service has stored: a browser without a key then sends the vector once more. */
  migrates: boolean
  /** Repeats a call until the service answers. */
  call<T>(work: (device: Device) => Promise<T>): Promise<T>
  wait(ms: number, signal: AbortSignal): Promise<void>
  nowMs(): number
}

/** What comes from the browser and from the build. */
export interface TokenApis {
  records: RecordStorage
  /** Of the key holders that this build trusts. */
  fingerprints: readonly string[]
  startWorker(): TokenWorker
}

/** The face of one try. */
export interface SeenFace {
  /** The caller wipes it. */
  vector: Float32Array
  /** Of the challenge. */
  nonce: string
  /** Ends with the try. */
  signal: AbortSignal
}

/** What the capture says about tokens. `withVector`: the vector goes with it, because the service has a vector to compare with. */
export interface TokensSent {
  token?: TokenClaim
  /** A new token, which replaces the old one or the stored vector. */
  successor?: TokenClaim
  withVector?: boolean
}

/** A key holder that is being restarted is back soon; the challenge is good for 90 seconds. */
const KEY_HOLDER_TRIES = 3
const KEY_HOLDER_WAIT_MS = 2_000

/**
 * What this browser sends of a face where the tenant keeps tokens: an ENROLL makes a token, SIGN-IN and VERIFY a probe. The vector goes to the
 * worker that encrypts it, and nowhere else. It leaves the device only with `migrates`, once.
 */
export function createTokenClaims(options: TokenClaimsOptions, { records, fingerprints, startWorker }: TokenApis) {
  const { sessionId, type, realm, migrates, call, wait, nowMs } = options

  /** A key holder that is away is asked again a few times. All other answers stand. */
  async function send<T>(signal: AbortSignal, work: (device: Device) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await call((device) => {
          // An abandoned try must not change what the next one has begun.
          signal.throwIfAborted()
          return work(device).catch(asFailure)
        })
      } catch (error) {
        const isAway = error instanceof CaptureFailure && error.reason === TOKEN_FAILURES.keyHolderAway.reason
        if (!isAway || tries >= KEY_HOLDER_TRIES) throw error
        await wait(tries * KEY_HOLDER_WAIT_MS, signal)
      }
    }
  }

  /** Nothing that comes from the face is made or sent unless the key holder is the one that this build knows. */
  async function pinned(begun: TokenBegun): Promise<TokenBegun> {
    if (!(await isPinned(begun.keyHolderKey, fingerprints))) throw failureOf(TOKEN_FAILURES.notPinned)
    return begun
  }

  async function enrol(
    { vector, signal }: SeenFace,
    begin: (device: Device) => Promise<TokenBegun>,
  ): Promise<TokenClaim> {
    const begun = await pinned(await send(signal, begin))
    const keys = await createTokenKeys()
    const { body, claim, publicKeyHash } = await inWorker(runWorker(startWorker, { ask: 'enrol', begun, keys, vector }))
    const { tokenId, account } = begun
    const record = { version: 1, tokenId, publicKeyHash, account, keys, sealedToken: null } as const
    const putAside = (sealedToken: string | null) =>
      records.putAside(sessionId, { realm, record: { ...record, sealedToken }, atMs: nowMs() }).catch(() => {
        throw failureOf(TOKEN_FAILURES.noStorage)
      })
    // Before it is sent: an enrolment whose key is lost is of no use to anybody.
    await putAside(null)
    const { sealedToken } = await send(signal, (device) => device.tokenEnrol(body))
    if (sealedToken !== null) await putAside(sealedToken)
    return claim
  }

  const succeed = (face: SeenFace) => enrol(face, (device) => device.tokenBeginSuccessor())

  async function compare(face: SeenFace): Promise<TokensSent> {
    const { vector, nonce, signal } = face
    const record = await records.find(realm)
    if (!record && migrates) return { successor: await succeed(face), withVector: true }
    if (!record) throw failureOf(TOKEN_FAILURES.noToken)
    const { tokenId, keys, sealedToken } = record
    const held = { tokenId, proof: await proveToken(keys, { sessionId, nonce, tokenId }) }
    const begun = await pinned(await send(signal, (device) => device.tokenBegin(held)))
    const isSame = begun.tokenId === tokenId && begun.realm === realm
    if (!isSame || !(await tokenKeyOf(begun, record.publicKeyHash))) throw failureOf(TOKEN_FAILURES.otherKey)
    const { body, claim } = await inWorker(runWorker(startWorker, { ask: 'probe', begun, keys, sealedToken, vector }))
    await send(signal, (device) => device.tokenProbe(body))
    if (!begun.renewalDue) return { token: claim }
    // The old token is still good: without a new one the next session tries again.
    const successor = await succeed(face).catch(undefinedIfFailed)
    return { token: claim, ...(successor && { successor }) }
  }

  return {
    /** Why this session cannot succeed here; found before the camera starts, so that nobody is filmed for nothing. */
    async obstacle(): Promise<CaptureFailure | undefined> {
      if (fingerprints.length === 0) return failureOf(TOKEN_FAILURES.notPinned)
      const keepsKey = type === 'ENROLL' || migrates
      if (!keepsKey) return (await records.find(realm)) ? undefined : failureOf(TOKEN_FAILURES.noToken)
      return (await records.canKeep(await createTokenKeys())) ? undefined : failureOf(TOKEN_FAILURES.noStorage)
    },
    /** Sends the token or the probe, and returns what the capture says about it. Throws CaptureFailure. */
    async claimsFor(face: SeenFace): Promise<TokensSent> {
      return type === 'ENROLL' ? { token: await enrol(face, (device) => device.tokenBegin()) } : compare(face)
    },
    /** The session has ended. The record is kept only if the service has bound the token: otherwise an older one stays. */
    async end(isBound: boolean): Promise<void> {
      await (isBound ? records.keep(sessionId) : records.drop(sessionId))
    },
    /** Another device takes over: the face seen here will not be enrolled. */
    drop: (): void => void records.drop(sessionId),
  }
}
export type TokenClaims = ReturnType<typeof createTokenClaims>

function failureOf({ code, reason }: TokenFailure): CaptureFailure {
  return new CaptureFailure(code, reason)
}

function asFailure(error: unknown): never {
  const failure = tokenFailureOf(error)
  throw failure ? failureOf(failure) : error
}

function undefinedIfFailed(error: unknown): undefined {
  if (!(error instanceof CaptureFailure)) throw error
}

/** Its script could not be loaded, or it failed. */
function inWorker<T>(work: Promise<T>): Promise<T> {
  return work.catch(() => {
    throw new CaptureFailure(codes.MODEL_LOAD_FAILED, 'token_worker')
  })
}
