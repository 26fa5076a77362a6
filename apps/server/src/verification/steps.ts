import { LAUNCH_LIMITS, SESSION_CODES, type SessionCodeName } from '@ostiary/contract'
import {
  graceFor,
  newVerificationProgress,
  nextState,
  type Progress,
  type Step,
  type VerificationProgress,
} from '../sessions/index.ts'
import type { VerificationSession } from './types.ts'

/** The steps that every kind of session takes, as what launch is to do. */
export function reached(session: VerificationSession, progress: Progress, change: Partial<VerificationProgress>): Step {
  nextState(session, 'recognised')
  return { state: session.state, progress: withVerification(progress, change), end: { how: 'reached' } }
}

/** Nobody, or somebody else: another try while there is one. */
export function missed(
  session: VerificationSession,
  progress: Progress,
  { told, last }: { told: SessionCodeName; last: SessionCodeName },
): Step {
  const after = withVerification(progress, {
    workId: null,
    vector: null,
    claim: null,
    claimedFor: null,
    selfie: null,
    // Another face may come next: nothing that came with this one is kept for it.
    newPersonId: null,
    localKey: null,
    credential: null,
    passkey: null,
    passkeyTries: 0,
  })
  if (progress.attempt >= LAUNCH_LIMITS.attempts) return failed(session, after, last)
  return { state: nextState(session, 'retry'), progress: after, errors: [SESSION_CODES[told].code] }
}

/**
 * The device's word counts for nothing, and there is no vector: the same capture may come again with it. That is nobody's failure:
 * a browser cannot know that its token was forgotten here. The challenge is the one that was answered, with the submits that it has left.
 */
export function vectorNeeded(session: VerificationSession, progress: Progress): Step {
  const { claimedFor: challenge } = verificationOf(progress)
  const after = withVerification(progress, { workId: null, claim: null, claimedFor: null, selfie: null })
  const usedNonces = progress.usedNonces.filter((nonce) => nonce !== challenge?.nonce)
  return {
    state: nextState(session, 'vector_needed'),
    progress: { ...after, challenge, usedNonces },
    ...(challenge && { dueAt: graceFor(session, challenge.expiresAtMs) }),
  }
}

export function failed(session: VerificationSession, progress: Progress, name: SessionCodeName): Step {
  return {
    state: session.state,
    progress,
    errors: [SESSION_CODES[name].code],
    end: { how: 'failed', failures: [name] },
  }
}

export function locked(session: VerificationSession, progress: Progress, retryAfterSeconds: number): Step {
  const failures = ['TEMPORARILY_LOCKED'] as const
  const errors = [SESSION_CODES.TEMPORARILY_LOCKED.code]
  return { state: session.state, progress, errors, end: { how: 'failed', failures, retryAfterSeconds } }
}

/** With what an earlier version of ours did not note yet. */
export const verificationOf = (progress: Progress | undefined): VerificationProgress => ({
  ...newVerificationProgress(),
  ...progress?.verification,
})

export function withVerification(progress: Progress, change: Partial<VerificationProgress>): Progress {
  return { ...progress, verification: { ...verificationOf(progress), ...change } }
}
