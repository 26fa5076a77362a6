import { SESSION_CODES, type SessionCodeName } from '@ostiary/contract'
import type { Queryable } from '../platform/db.ts'
import type { FlowEnd, LockoutSubject, Progress, Step, VerificationProgress } from '../sessions/index.ts'
import type { Lockouts } from './lockouts.ts'
import { verificationOf, withVerification } from './steps.ts'
import type { VerificationEnd, VerificationSession } from './types.ts'

/**
 * Whether failures of a session count. An ENROLL compares with nobody whom the host has named, unless the name is somebody's
 * already: then it is as good for trying faces as a VERIFY, and has subjects like one.
 */
export function isCounted({ request }: VerificationSession, progress: Progress | null, end: FlowEnd): boolean {
  if (end.how === 'wished') return false
  return request.type !== 'ENROLL' || verificationOf(progress ?? undefined).subjects.length > 0
}

interface Counting {
  session: VerificationSession
  progress: Progress
}

/**
 * Counts a failure at once, against whom the session has not counted against yet: whoever cancels after it, or lets the session
 * expire, has tried all the same. `before` is the wait that somebody concerned has already; then nothing is counted.
 */
export async function countOnce(
  lockouts: Lockouts,
  tx: Queryable,
  { session, progress }: Counting,
  failure: SessionCodeName,
): Promise<{ before: number; progress: Progress }> {
  const { counted } = verificationOf(progress)
  const fresh = uncountedOf(progress)
  const failures = tellingOf(session, progress, [failure])
  if (failures.length === 0) return { before: 0, progress }
  // What is known of them first, as a comparison does it: two that take the same rows in another order would wait for each other.
  await lockouts.holdWaitOf(tx, session, fresh)
  const { before } = await lockouts.record(tx, session, fresh, failures)
  if (before > 0) return { before, progress }
  return { before, progress: withVerification(progress, { counted: [...counted, ...fresh] }) }
}

/** Failures that leave another try and say who was there. A mismatch does too, and is counted where it is found. */
const AT_ONCE: readonly SessionCodeName[] = ['SPOOF', 'PASSKEY_FAILED']

/**
 * A step that did not end the session. Without this a session that is cancelled after two masks, or two wrong passkeys, would be free,
 * as often as one likes. Whoever has to wait already goes on here, and waits at the next comparison.
 */
export async function countTry(
  lockouts: Lockouts,
  tx: Queryable,
  session: VerificationSession,
  { progress, errors = [] }: Step,
): Promise<Progress> {
  const failure = AT_ONCE.find((name) => errors.includes(SESSION_CODES[name].code))
  if (!failure) return progress
  return (await countOnce(lockouts, tx, { session, progress }, failure)).progress
}

/** The wait of the next session after one that failed. It counts against nobody twice. */
export async function waitAfter(
  lockouts: Lockouts,
  tx: Queryable,
  {
    session,
    progress,
    bound,
  }: { session: VerificationSession; progress: Progress | null; bound: Extract<VerificationEnd, { state: 'FAILED' }> },
): Promise<number> {
  if (bound.failures.includes('TEMPORARILY_LOCKED')) return 0
  const known = progress ?? undefined
  const failures = tellingOf(session, known, bound.failures)
  const fresh = uncountedOf(known)
  await lockouts.holdWaitOf(tx, session, fresh)
  const { after } = await lockouts.record(tx, session, fresh, failures)
  return Math.max(after, await lockouts.waitOf(tx, session, verificationOf(known).counted))
}

/** Whose failures a success wipes out. Whom the host had named is who it was, under whatever name. */
export function clearedBy(
  { request }: VerificationSession,
  { cleared, subjects }: VerificationProgress,
): LockoutSubject[] {
  return request.type === 'SIGN-IN' ? cleared : [...cleared, ...subjects.filter(({ kind }) => kind === 'person')]
}

export const withoutRepeats = (subjects: readonly LockoutSubject[]): LockoutSubject[] =>
  subjects.filter(({ hash }, at) => subjects.findIndex((one) => one.hash === hash) === at)

/**
 * Those that say something in this session. An authenticator that makes no passkey says nothing of whose it is; and a VERIFY of
 * somebody who is not enrolled compares nothing, whatever the host has named.
 */
function tellingOf(
  { request }: VerificationSession,
  progress: Progress | undefined,
  failures: readonly SessionCodeName[],
): SessionCodeName[] {
  const isMaking = request.type === 'ENROLL' && !verificationOf(progress).person
  return failures.filter((name) => {
    if (name === 'PASSKEY_FAILED') return !isMaking
    return name !== 'USER_NOT_ENROLLED' || request.type !== 'VERIFY'
  })
}

function uncountedOf(progress: Progress | undefined): LockoutSubject[] {
  const { subjects, counted } = verificationOf(progress)
  return subjects.filter(({ hash }) => !counted.some((one) => one.hash === hash))
}
