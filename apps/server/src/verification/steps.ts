import { LAUNCH_LIMITS, SESSION_CODES, type SessionCodeName } from '@ostiary/contract'
import { assertCan, graceFor, nextState } from '../sessions/index.ts'
import { type OwnProgress, type VerificationProgress, verificationOf, withVerification } from './progress.ts'
import type { VerificationSession, VerificationStep } from './types.ts'

/** The person is known: the session ends with a success. */
export function succeeded(
  session: VerificationSession,
  progress: OwnProgress,
  change: Partial<VerificationProgress>,
): VerificationStep {
  assertCan(session, 'recognised')
  return { state: session.state, progress: withVerification(progress, change), end: { how: 'reached' } }
}

/** This try did not succeed. While a try is left, the page gets `retryCode`. After the last try the session fails with `failureCode`. */
export function retryOrFail(
  session: VerificationSession,
  progress: OwnProgress,
  { retryCode, failureCode }: { retryCode: SessionCodeName; failureCode: SessionCodeName },
): VerificationStep {
  const after = withVerification(progress, {
    workId: null,
    vector: null,
    token: null,
    successor: null,
    claim: null,
    claimedFor: null,
    selfie: null,
    // Another face may come next: nothing that came with this one may be kept for it.
    newPersonId: null,
    localKey: null,
    credential: null,
    passkey: null,
    passkeyTries: 0,
  })
  if (progress.attempt >= LAUNCH_LIMITS.attempts) return failed(session, after, failureCode)
  return { state: nextState(session, 'retry'), progress: after, errors: [SESSION_CODES[retryCode].code] }
}

/**
 * The device's claim is not enough, and there is no vector: the same capture may come again with one. That is not counted as a failure,
 * because a browser cannot know that the service has deleted its token. The challenge is open again, with the submits that it has left.
 */
export function askForVector(session: VerificationSession, progress: OwnProgress): VerificationStep {
  const { claimedFor: challenge } = verificationOf(progress)
  const after = withVerification(progress, { workId: null, claim: null, claimedFor: null, selfie: null })
  const usedNonces = progress.usedNonces.filter((nonce) => nonce !== challenge?.nonce)
  return {
    state: nextState(session, 'vector_needed'),
    progress: { ...after, challenge, usedNonces },
    ...(challenge && { dueAt: graceFor(session, challenge.expiresAtMs) }),
  }
}

export function failed(session: VerificationSession, progress: OwnProgress, name: SessionCodeName): VerificationStep {
  return {
    state: session.state,
    progress,
    errors: [SESSION_CODES[name].code],
    end: { how: 'failed', failures: [name] },
  }
}

export function locked(
  session: VerificationSession,
  progress: OwnProgress,
  retryAfterSeconds: number,
): VerificationStep {
  const failures = ['TEMPORARILY_LOCKED'] as const
  const errors = [SESSION_CODES.TEMPORARILY_LOCKED.code]
  return { state: session.state, progress, errors, end: { how: 'failed', failures, retryAfterSeconds } }
}

/** The service could not decide, and may be able to later. */
export function failedForNow(
  session: VerificationSession,
  progress: OwnProgress,
  retryAfterSeconds: number,
): VerificationStep {
  const failures = ['INTERNAL'] as const
  const errors = [SESSION_CODES.INTERNAL.code]
  return { state: session.state, progress, errors, end: { how: 'failed', failures, retryAfterSeconds } }
}

/** How long the service itself may take, where the session would end meanwhile. */
const WORK_MS = 30_000

export const graceForWork = (session: VerificationSession, now: Date): Date =>
  graceFor(session, now.getTime() + WORK_MS)
