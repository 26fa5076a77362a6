import { SESSION_CODES, type SessionCodeName } from '@ostiary/contract'
import type { Queryable } from '../platform/db.ts'
import type { FlowEnd } from '../sessions/index.ts'
import type { Lockouts } from './lockouts.ts'
import {
  type LockoutSubject,
  type OwnProgress,
  type VerificationProgress,
  verificationOf,
  withVerification,
} from './progress.ts'
import type { RunningVerification, VerificationEnd, VerificationSession } from './types.ts'

/**
 * Whether failures of a session count. An ENROLL compares with no person that the host has named, unless the name belongs to a person
 * already: then it could be used to try faces like a VERIFY, and has subjects like one.
 */
export function isCounted({ request, progress }: VerificationSession, end: FlowEnd): boolean {
  if (end.how === 'simulated') return false
  return request.type !== 'ENROLL' || verificationOf(progress).subjects.length > 0
}

/**
 * Counts a failure at once, against every subject that the session has not counted against yet. A user who cancels afterwards, or lets
 * the session expire, has tried all the same. `before` is the wait that a subject has already; then nothing is counted.
 */
export async function countFailure(
  lockouts: Lockouts,
  tx: Queryable,
  session: RunningVerification,
  failure: SessionCodeName,
): Promise<{ before: number; progress: OwnProgress }> {
  const { progress } = session
  const { counted } = verificationOf(progress)
  const fresh = uncountedOf(progress)
  const failures = countableOf(session, [failure])
  if (failures.length === 0) return { before: 0, progress }
  // Locks the known rows first, in the order of a comparison: two transactions that lock the same rows in different orders would deadlock.
  await lockouts.lockRowsAndGetWait(tx, session, fresh)
  const { before } = await lockouts.record(tx, session, fresh, failures)
  if (before > 0) return { before, progress }
  return { before, progress: withVerification(progress, { counted: [...counted, ...fresh] }) }
}

/** Failures that leave another try and show who was there. A mismatch does too, but the comparison counts it. */
const AT_ONCE: readonly SessionCodeName[] = ['SPOOF', 'PASSKEY_FAILED']

/**
 * The failure of a step that did not end the session, where it counts. Without this a session that is cancelled after two masks, or two wrong
 * passkeys, would be free, any number of times. A subject that has to wait already goes on here, and waits at the next comparison.
 */
export const failureAtOnce = (errors: readonly number[]): SessionCodeName | undefined =>
  AT_ONCE.find((name) => errors.includes(SESSION_CODES[name].code))

/** The wait of the next session after one that failed. It counts against no subject twice. */
export async function waitAfter(
  lockouts: Lockouts,
  tx: Queryable,
  session: VerificationSession,
  end: Extract<VerificationEnd, { state: 'FAILED' }>,
): Promise<number> {
  if (end.failures.includes('TEMPORARILY_LOCKED')) return 0
  const failures = countableOf(session, end.failures)
  const fresh = uncountedOf(session.progress)
  await lockouts.lockRowsAndGetWait(tx, session, fresh)
  const { after } = await lockouts.record(tx, session, fresh, failures)
  return Math.max(after, await lockouts.waitOf(tx, session, verificationOf(session.progress).counted))
}

/** Whose failures a success clears. The person that the host named is the person who was there, under any name. */
export function clearedBy(
  { request }: VerificationSession,
  { cleared, subjects }: VerificationProgress,
): LockoutSubject[] {
  return request.type === 'SIGN-IN' ? cleared : [...cleared, ...subjects.filter(({ kind }) => kind === 'person')]
}

export const withoutRepeats = (subjects: readonly LockoutSubject[]): LockoutSubject[] =>
  subjects.filter(({ hash }, at) => subjects.findIndex((one) => one.hash === hash) === at)

/**
 * The failures that count in this session. When an authenticator creates no passkey, that does not say who was there. A VERIFY of a
 * person who is not enrolled compares nothing. A face that is not the one on a document was compared with no enrolled person yet.
 */
function countableOf(
  { request, progress, state }: VerificationSession,
  failures: readonly SessionCodeName[],
): SessionCodeName[] {
  const isMaking = request.type === 'ENROLL' && !verificationOf(progress).person
  return failures.filter((name) => {
    if (name === 'PASSKEY_FAILED') return !isMaking
    if (name === 'FACE_NOT_MATCH') return state !== 'DOC_ACTIVE'
    return name !== 'USER_NOT_ENROLLED' || request.type !== 'VERIFY'
  })
}

function uncountedOf(progress: OwnProgress | null): LockoutSubject[] {
  const { subjects, counted } = verificationOf(progress)
  return subjects.filter(({ hash }) => !counted.some((one) => one.hash === hash))
}
