import type { SessionCodeName } from '@ostiary/contract'
import type { Passkeys } from '../passkeys/index.ts'
import type { Queryable } from '../platform/db.ts'
import { nextState } from '../sessions/index.ts'
import { countOnce, withoutRepeats } from './counting.ts'
import type { Lockouts } from './lockouts.ts'
import { type OwnProgress, verificationOf, withVerification } from './progress.ts'
import { failed, locked, missed, reached, vectorNeeded } from './steps.ts'
import type { RunningVerification, VerificationStep } from './types.ts'
import type { Comparison, ComparisonKind, Work } from './work.ts'

interface Deps {
  work: Work
  passkeys: Passkeys
  lockouts: Lockouts
}

/** The transaction that applies a comparison, and its session with everything that the comparison has shown. */
interface Applying {
  deps: Deps
  tx: Queryable
  session: RunningVerification
}

type StepAfter<Kind extends ComparisonKind> = (
  applying: Applying,
  comparison: Comparison<Kind>,
) => VerificationStep | Promise<VerificationStep>

const STEP_AFTER: { readonly [Kind in ComparisonKind]: StepAfter<Kind> } = {
  enrolled: afterEnrolment,
  found: afterRecognition,
  miss: afterMiss,
  other_face: afterMiss,
  unproven: ({ session }) => vectorNeeded(session, session.progress),
  unknown: ({ session }) => failed(session, session.progress, 'USER_NOT_ENROLLED'),
  unusable: ({ session }) => missed(session, session.progress, { reply: 'NO_FACE', last: 'NO_FACE' }),
}

/** What a comparison found, as the next step. */
export async function applyComparison(
  deps: Deps,
  tx: Queryable,
  session: RunningVerification,
  comparison: Comparison,
): Promise<VerificationStep> {
  const progress = withSubjects(session.progress, comparison)
  const { waitSeconds, progress: known } = await countMiss(deps.lockouts, tx, { ...session, progress }, comparison)
  if (waitSeconds > 0) return locked(session, known, waitSeconds)
  return stepAfter({ deps, tx, session: { ...session, progress: known } }, comparison)
}

function stepAfter<Kind extends ComparisonKind>(applying: Applying, comparison: Comparison<Kind>) {
  const step: StepAfter<Kind> = STEP_AFTER[comparison.kind]
  return step(applying, comparison)
}

function withSubjects(progress: OwnProgress, { subjects, thumbprint }: Comparison): OwnProgress {
  return withVerification(progress, {
    localThumbprint: thumbprint,
    subjects: withoutRepeats([...verificationOf(progress).subjects, ...subjects]),
    cleared: subjects.filter(({ kind }) => kind === 'person' || thumbprint !== null),
  })
}

/**
 * Counts a miss. Returns the wait that the session has to respect before anything is said about the face: while a network or a named
 * person has to wait, a hit and a miss must look alike. Of many misses at the same time only the first five count.
 */
async function countMiss(
  lockouts: Lockouts,
  tx: Queryable,
  session: RunningVerification,
  { kind }: Comparison,
): Promise<{ waitSeconds: number; progress: OwnProgress }> {
  const { progress } = session
  const waitSeconds = await lockouts.holdWaitOf(tx, session, verificationOf(progress).subjects)
  const isMiss = kind === 'miss' || kind === 'other_face'
  if (!isMiss || waitSeconds > 0) return { waitSeconds, progress }
  const counted = await countOnce(lockouts, tx, session, 'FACE_NOT_MATCH')
  return { waitSeconds: counted.before, progress: counted.progress }
}

function afterMiss({ session }: Applying): VerificationStep {
  const last = session.request.type === 'SIGN-IN' ? 'USER_NOT_ENROLLED' : 'FACE_NOT_MATCH'
  return missed(session, session.progress, { reply: 'FACE_NOT_MATCH', last })
}

async function afterEnrolment(
  { deps, tx, session }: Applying,
  { person: { puid, guid }, isNew }: Comparison<'enrolled'>,
): Promise<VerificationStep> {
  const { progress } = session
  // Another session that created the person may have deleted them since: the next try creates them again.
  if (!(await deps.work.hold(session, puid, tx)))
    return missed(session, progress, { reply: 'INTERNAL', last: 'INTERNAL' })
  const notes: SessionCodeName[] = isNew ? [] : ['ALREADY_ENROLLED']
  const person = { puid, guid, matchedBy: 'server' as const }
  if (isNew || !verificationOf(progress).credential) return reached(session, progress, { person, notes })
  return askForPasskey({ deps, tx, session }, withVerification(progress, { person, notes, vector: null }), puid)
}

async function afterRecognition(
  { deps, tx, session }: Applying,
  { person: { puid, guid }, by }: Comparison<'found'>,
): Promise<VerificationStep> {
  const { progress, request } = session
  if (!(await deps.work.hold(session, puid, tx))) return failed(session, progress, 'USER_NOT_ENROLLED')
  const person = { puid, guid, matchedBy: by }
  if (!request.requirements.includes('passkey')) return reached(session, progress, { person })
  return askForPasskey({ deps, tx, session }, withVerification(progress, { person, vector: null, claim: null }), puid)
}

/** `known` is the progress when the person has a passkey to ask for. */
async function askForPasskey(
  { deps, tx, session }: Applying,
  known: OwnProgress,
  puid: string,
): Promise<VerificationStep> {
  const credentials = await deps.passkeys.findForPerson(tx, session, puid)
  if (credentials.length === 0) return failed(session, session.progress, 'PASSKEY_FAILED')
  return { state: nextState(session, 'passkey_needed'), progress: known }
}
