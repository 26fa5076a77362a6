import {
  type Challenge,
  DOCUMENT_LIMITS,
  LAUNCH_LIMITS,
  MOVEMENT_KINDS,
  MOVEMENT_KINDS_MIN,
  type MovementKind,
} from '@ostiary/contract'
import { createChallenge, kindsLeft, type Needs, timingOf } from '../capture-checks/index.ts'
import { invalid } from '../platform/errors.ts'
import type { Ids } from '../platform/ids.ts'
import {
  type DocumentAsk,
  documentOf,
  graceFor,
  nextState,
  notAtThisStep,
  type OpenChallenge,
  type Progress,
  type RefusedStep,
  type ReplyingStep,
  type RunningSession,
  type Session,
  type Step,
  sessionEnded,
  withDocument,
} from '../sessions/index.ts'

/** The reply is the challenge that was issued. */
export type Begun = ReplyingStep<Challenge>

/** Which challenge a device asks for. */
export interface WantedChallenge extends Needs {
  attempt?: number
  for?: 'match'
}

interface IssueContext {
  /** What the session asks of the document step. */
  ask: DocumentAsk | null
  ids: Ids
  now: Date
}

/**
 * The challenge of the next attempt or look. A device that lost the reply repeats `attempt` and gets the same challenge, while there is time to
 * answer it. One that the user cannot meet is replaced however late they say so.
 */
export function issueChallenge(found: RunningSession, wanted: WantedChallenge, { ask, ids, now }: IssueContext): Begun {
  const isLook = wanted.for === 'match'
  const session = { ...found, progress: withNeeds(found.progress, wanted) }
  const { state, progress } = session
  const current = { wantedAttempt: wanted.attempt, isLook }
  const underWay = findUnderWay(session, current)
  if (underWay && isOutdated(progress, underWay)) {
    const replaced = replaceChallenge(session, { ids, now })
    if (replaced) return replaced
  } else {
    const issued = findIssuedChallenge(session, { ...current, now })
    if (issued) return { state, progress, reply: issued }
  }
  return isLook ? beginLook(session, ask, { ids, now }) : beginAttempt(session, ids, now)
}

/** Starts the next attempt with a new challenge. If no attempt is left, refuses the call and ends the flow. */
function beginAttempt(session: RunningSession, ids: Ids, now: Date): Begun {
  const { progress } = session
  const state = nextState(session, 'camera_ready')
  const attempt = progress.attempt + 1
  if (attempt > LAUNCH_LIMITS.attempts) return usedUp({ state, progress })
  const challenge = newChallenge(session, ids, now)
  return {
    state,
    progress: { ...progress, attempt, challenge },
    dueAt: graceFor(session, challenge.expiresAtMs),
    reply: issuedOf(challenge, attempt),
  }
}

/**
 * Starts a look at the face for the comparison with a document alone, on a device that does not hold the numbers of the first one. It is no
 * try of the face step.
 */
function beginLook(session: RunningSession, ask: DocumentAsk | null, { ids, now }: { ids: Ids; now: Date }): Begun {
  const { state, progress } = session
  if (state !== 'DOC_ACTIVE' || !ask?.comparesFace || !ask.mayLook) throw notAtThisStep()
  const looks = documentOf(progress).looks + 1
  if (looks > DOCUMENT_LIMITS.looks) return usedUp({ state, progress })
  const challenge: OpenChallenge = { ...newChallenge(session, ids, now), isLook: true }
  return {
    state,
    progress: { ...withDocument(progress, { looks }), challenge },
    dueAt: graceFor(session, challenge.expiresAtMs),
    reply: issuedOf(challenge, looks),
  }
}

/** What the user needs from now on: what earlier calls asked for stays, on whichever device. */
function withNeeds(progress: Progress, { cannot = [], pace }: Needs): Progress {
  const all: MovementKind[] = MOVEMENT_KINDS.filter((kind) => cannot.includes(kind) || progress.cannot?.includes(kind))
  if (kindsLeft(all).length < MOVEMENT_KINDS_MIN)
    throw invalid('/body/cannot', `must leave ${MOVEMENT_KINDS_MIN} kinds of movement in all`)
  const isSlow = pace === 'slow' || progress.pace === 'slow'
  return { ...progress, ...(all.length > 0 && { cannot: all }), ...(isSlow && { pace: 'slow' }) }
}

/** Whether the user has asked for something that the challenge under way does not respect. */
function isOutdated({ cannot = [], pace }: Needs, challenge: Needs): boolean {
  return cannot.length > (challenge.cannot?.length ?? 0) || pace !== challenge.pace
}

/**
 * Replaces the challenge under way by one that the user can meet. Costs no try: who says so at the first movement should not lose one. An
 * attacker gets no endless supply of challenges, because what the user needs only grows, and because the replacements are counted.
 */
function replaceChallenge(session: RunningSession, { ids, now }: { ids: Ids; now: Date }): Begun | undefined {
  const { state, progress } = session
  const { challenge, replaced = 0 } = progress
  if (!challenge || replaced >= LAUNCH_LIMITS.replacements) return undefined
  const next: OpenChallenge = { ...newChallenge(session, ids, now), ...(challenge.isLook && { isLook: true }) }
  return {
    state,
    progress: { ...progress, challenge: next, replaced: replaced + 1 },
    dueAt: graceFor(session, next.expiresAtMs),
    reply: issuedOf(next, attemptOf(progress, { isLook: challenge.isLook ?? false })),
  }
}

export function usedUp(at: Pick<Step, 'state' | 'progress'>): RefusedStep {
  const refuse = sessionEnded('All tries are used up')
  return { ...at, refuse, end: { how: 'failed', failures: ['ATTEMPTS_EXCEEDED'] } }
}

function newChallenge({ request, progress }: Session, ids: Ids, now: Date): OpenChallenge {
  const expiresAtMs = now.getTime() + LAUNCH_LIMITS.challengeSeconds * 1000
  // A test session may have pinned the movements instead of leaving them to chance.
  const made = createChallenge(ids.randomBytes, request.pinned ?? undefined, {
    cannot: progress?.cannot,
    pace: progress?.pace,
  })
  return { ...made, nonce: newNonce(ids), expiresAtMs, submits: 0 }
}

export const newNonce = (ids: Ids): string => Buffer.from(ids.randomBytes(24)).toString('base64url')

function issuedOf({ nonce, steps, sampleAtMs, expiresAtMs, pace }: OpenChallenge, attempt: number): Challenge {
  const answer = pace && { answerMs: timingOf({ pace }).seenUntilMs }
  return { nonce, attempt, steps, sampleAtMs, expiresAt: new Date(expiresAtMs).toISOString(), ...answer }
}

/** A slow phone needs twenty seconds to compute what was captured. */
const COMPUTE_MS = 20_000

interface Wanted {
  wantedAttempt: number | undefined
  isLook: boolean
}

/** The challenge of the current try or look, for a device that lost the reply with it. Undefined if it was used or is about to expire. */
export function findIssuedChallenge(
  session: Pick<RunningSession, 'state' | 'progress'>,
  { now, ...wanted }: Wanted & { now: Date },
): Challenge | undefined {
  const challenge = findUnderWay(session, wanted)
  const captureMs = COMPUTE_MS + (challenge?.sampleAtMs.at(-1) ?? 0)
  if (!challenge || challenge.expiresAtMs - now.getTime() < captureMs) return undefined
  return issuedOf(challenge, attemptOf(session.progress, wanted))
}

/** The unused challenge of the current try or look, if that is the wanted one. */
function findUnderWay(
  { state, progress }: Pick<RunningSession, 'state' | 'progress'>,
  { wantedAttempt, isLook }: Wanted,
): OpenChallenge | undefined {
  const { challenge } = progress
  const attempt = attemptOf(progress, { isLook })
  const isUnderWay = state === (isLook ? 'DOC_ACTIVE' : 'FACE_ACTIVE') && isLook === (challenge?.isLook ?? false)
  // A device cannot know how many looks there were before it: it names none, and means the one under way.
  const wanted = wantedAttempt ?? (isLook ? attempt : undefined)
  return wanted === attempt && isUnderWay && challenge?.submits === 0 ? challenge : undefined
}

const attemptOf = (progress: Progress, { isLook }: Pick<Wanted, 'isLook'>): number =>
  isLook ? documentOf(progress).looks : progress.attempt
