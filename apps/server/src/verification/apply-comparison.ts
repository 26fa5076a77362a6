import type { SessionCodeName } from '@ostiary/contract'
import { secondsToTomorrow } from '../matcher/index.ts'
import type { Passkeys } from '../passkeys/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { nextState } from '../sessions/index.ts'
import type { Budget } from './budget.ts'
import type { Comparison, ComparisonKind } from './comparison.ts'
import { countFailure, withoutRepeats } from './counting.ts'
import type { Lockouts } from './lockouts.ts'
import { type OwnProgress, verificationOf, withVerification } from './progress.ts'
import { askForVector, failed, failedForNow, locked, retryOrFail, succeeded } from './steps.ts'
import type { RunningVerification, VerificationStep } from './types.ts'
import type { Work } from './work.ts'

interface Deps {
  clock: Clock
  work: Work
  passkeys: Passkeys
  lockouts: Lockouts
  budget: Budget
}

/** A comparison is applied in `tx`. The progress of `session` contains already what the comparison has shown. */
interface ApplyContext {
  deps: Deps
  tx: Queryable
  session: RunningVerification
}

type StepAfter<Kind extends ComparisonKind> = (
  context: ApplyContext,
  comparison: Comparison<Kind>,
) => VerificationStep | Promise<VerificationStep>

/** When a host may try again after the key holder was away. */
export const KEY_HOLDER_RETRY_SECONDS = 60

/** Says for each kind of comparison (see work.ts) which step follows it. */
const STEP_AFTER: { readonly [Kind in ComparisonKind]: StepAfter<Kind> } = {
  enrolled: afterEnrolment,
  found: afterRecognition,
  miss: afterMiss,
  other_face: afterMiss,
  replay: afterReplay,
  unproven: ({ session }) => askForVector(session, session.progress),
  unknown: ({ session }) => failed(session, session.progress, 'USER_NOT_ENROLLED'),
  known_name: ({ session }) => failed(session, session.progress, 'ALREADY_ENROLLED'),
  exhausted: ({ deps, session }) => locked(session, session.progress, secondsToTomorrow(deps.clock.now())),
  unavailable: ({ session }) => failedForNow(session, session.progress, KEY_HOLDER_RETRY_SECONDS),
  unusable: ({ session }) => retryOrFail(session, session.progress, { retryCode: 'NO_FACE', failureCode: 'NO_FACE' }),
}

/** Returns the next step of the session after a comparison of the face. A lockout comes first: then the result is not used. */
export async function applyComparison(
  deps: Deps,
  tx: Queryable,
  session: RunningVerification,
  comparison: Comparison,
): Promise<VerificationStep> {
  const compared = { ...session, progress: withLockoutSubjects(session.progress, comparison) }
  const { waitSeconds, progress } = await waitOrCountMiss(deps, tx, compared, comparison)
  if (waitSeconds > 0) return locked(session, progress, waitSeconds)
  return stepAfter({ deps, tx, session: { ...session, progress } }, comparison)
}

function stepAfter<Kind extends ComparisonKind>(context: ApplyContext, comparison: Comparison<Kind>) {
  const step: StepAfter<Kind> = STEP_AFTER[comparison.kind]
  return step(context, comparison)
}

/**
 * Adds what the comparison showed for the lockout. A failure counts against all `subjects`: the network, and the person and the browser
 * as far as they are known. A success deletes the failures of `cleared`: the browser is among them only if its key (`thumbprint`)
 * belongs to the person who was found.
 */
function withLockoutSubjects(progress: OwnProgress, { subjects, thumbprint }: Comparison): OwnProgress {
  return withVerification(progress, {
    localThumbprint: thumbprint,
    subjects: withoutRepeats([...verificationOf(progress).subjects, ...subjects]),
    cleared: subjects.filter(({ kind }) => kind === 'person' || thumbprint !== null),
  })
}

/**
 * If a lockout makes one of the subjects wait, returns that wait and counts nothing. Otherwise counts a miss. During a lockout of a network
 * or of a person that the host named, a hit gets the same answer as a miss: otherwise an attacker could go on trying faces and see which
 * one matches. Sessions with the same subjects pass one after another, so parallel tries cannot outrun the lockout: it begins after
 * `LOCKOUT.failures` misses, and the later tries have to wait.
 */
async function waitOrCountMiss(
  { lockouts, budget }: Deps,
  tx: Queryable,
  session: RunningVerification,
  { kind }: Comparison,
): Promise<{ waitSeconds: number; progress: OwnProgress }> {
  const { progress } = session
  const { subjects } = verificationOf(progress)
  // An ENROLL has subjects if it compares with a person who is enrolled. Any other compares nothing that a budget could protect.
  const budgetSeconds = subjects.length > 0 ? budget.waitOf(session) : 0
  const waitSeconds = Math.max(budgetSeconds, await lockouts.lockRowsAndGetWait(tx, session, subjects))
  const isMiss = kind === 'miss' || kind === 'replay' || kind === 'other_face'
  if (!isMiss || waitSeconds > 0) return { waitSeconds, progress }
  budget.count(session)
  const counted = await countFailure(lockouts, tx, session, kind === 'replay' ? 'VIDEO_SPOOF' : 'FACE_NOT_MATCH')
  return { waitSeconds: counted.before, progress: counted.progress }
}

function afterMiss({ session }: ApplyContext): VerificationStep {
  // A SIGN-IN searches among all people: if the last try finds nobody, the user is not enrolled. Other sessions compare with one person.
  const failureCode = session.request.type === 'SIGN-IN' ? 'USER_NOT_ENROLLED' : 'FACE_NOT_MATCH'
  return retryOrFail(session, session.progress, { retryCode: 'FACE_NOT_MATCH', failureCode })
}

/** The device hears the same as after a miss: nothing tells it which check failed. The host gets the code of a replayed capture. */
function afterReplay({ session }: ApplyContext): VerificationStep {
  return retryOrFail(session, session.progress, { retryCode: 'FACE_NOT_MATCH', failureCode: 'VIDEO_SPOOF' })
}

async function afterEnrolment(
  { deps, tx, session }: ApplyContext,
  { person: { puid, guid }, isNew }: Comparison<'enrolled'>,
): Promise<VerificationStep> {
  const { progress } = session
  // Somebody deleted the person after the comparison, such as another session that created them and then failed. The user is not at
  // fault, and another try can enrol them again.
  if (!(await deps.work.lockIfEnrolled(session, puid, tx)))
    return retryOrFail(session, progress, { retryCode: 'INTERNAL', failureCode: 'INTERNAL' })
  const notes: SessionCodeName[] = isNew ? [] : ['ALREADY_ENROLLED']
  const person = { puid, guid, matchedBy: 'server' as const }
  if (isNew || !verificationOf(progress).credential) return succeeded(session, progress, { person, notes })
  // The person was enrolled before: only one of their passkeys entitles them to add the new one.
  return askForPasskey({ deps, tx, session }, withVerification(progress, { person, notes, vector: null }), puid)
}

async function afterRecognition(
  { deps, tx, session }: ApplyContext,
  { person: { puid, guid }, by, keepsSuccessor }: Comparison<'found'>,
): Promise<VerificationStep> {
  const { request } = session
  const progress = await withSuccessor({ deps, tx, session }, puid, keepsSuccessor)
  // Somebody deleted the person after the comparison. No other try can find them.
  if (!(await deps.work.lockIfEnrolled(session, puid, tx))) return failed(session, progress, 'USER_NOT_ENROLLED')
  const person = { puid, guid, matchedBy: by }
  if (!request.requirements.includes('passkey')) return succeeded(session, progress, { person })
  return askForPasskey({ deps, tx, session }, withVerification(progress, { person, vector: null, claim: null }), puid)
}

/**
 * Drops the new token of a person who has a passkey and will not show it in this session. A face is a claim of the device: alone it may not
 * bind another device to a person who has something better.
 */
async function withSuccessor(
  { deps, tx, session }: ApplyContext,
  puid: string,
  keepsSuccessor: boolean,
): Promise<OwnProgress> {
  const { progress, request } = session
  if (verificationOf(progress).successor === null) return progress
  const showsPasskey = request.requirements.includes('passkey')
  const mayBind =
    keepsSuccessor && (showsPasskey || (await deps.passkeys.findForPerson(tx, session, puid)).length === 0)
  return mayBind ? progress : withVerification(progress, { successor: null })
}

/** Asks for one of the person's passkeys, with `nextProgress`. Fails if they have none. */
async function askForPasskey(
  { deps, tx, session }: ApplyContext,
  nextProgress: OwnProgress,
  puid: string,
): Promise<VerificationStep> {
  const credentials = await deps.passkeys.findForPerson(tx, session, puid)
  if (credentials.length === 0) return failed(session, session.progress, 'PASSKEY_FAILED')
  return { state: nextState(session, 'passkey_needed'), progress: nextProgress }
}
