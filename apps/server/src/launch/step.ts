import {
  type Challenge,
  DEVICE_REPORTABLE,
  LAUNCH_LIMITS,
  SESSION_CODES,
  type SessionCodeName,
} from '@ostiary/contract'
import { invalid } from '../platform/errors.ts'
import {
  canHappen,
  type FlowRules,
  nextState,
  notAtThisStep,
  type Progress,
  type RunningSession,
  type Session,
  type SessionState,
  type Step,
} from '../sessions/index.ts'

/** Each code once, with its last reason: any number of reports cannot remove another code. */
export function noted(progress: Progress, name: SessionCodeName, reason?: string): Progress {
  const entry = reason === undefined ? { name } : { name, reason }
  return { ...progress, failures: [...progress.failures.filter((known) => known.name !== name), entry] }
}

/** A try of the face step that failed: another one, or the end when none is left or the code is final. */
export function failTry(
  rules: Pick<FlowRules, 'failuresOf'>,
  session: Session,
  progress: Progress,
  name: SessionCodeName,
): Step {
  const { code, kind } = SESSION_CODES[name]
  const left = { state: session.state, progress: { ...progress, challenge: null }, errors: [code] }
  const noneLeft = progress.attempt >= LAUNCH_LIMITS.attempts
  if (kind === 'F' || noneLeft) {
    return { ...left, end: { how: 'failed', failures: rules.failuresOf(name, kind !== 'F') } }
  }
  return { ...left, state: canHappen(session, 'retry') ? nextState(session, 'retry') : session.state }
}

/** A person needs about ten seconds for the movements, and a slow phone as long again to compute. */
const CAPTURE_MS = 30_000

/** The challenge of the current try, for a device that lost the reply with it. Undefined if it was used or is about to expire. */
export function findIssuedChallenge(
  { state }: Pick<Session, 'state'>,
  { attempt, challenge }: Pick<Progress, 'attempt' | 'challenge'>,
  { wantedAttempt, now }: { wantedAttempt: number | undefined; now: Date },
): Challenge | undefined {
  if (wantedAttempt !== attempt || state !== 'FACE_ACTIVE' || !challenge) return undefined
  const { nonce, steps, sampleAtMs, expiresAtMs, submits } = challenge
  if (submits > 0 || expiresAtMs - now.getTime() < CAPTURE_MS) return undefined
  return { nonce, attempt, steps, sampleAtMs, expiresAt: new Date(expiresAtMs).toISOString() }
}

export interface Report {
  code: number
  reason?: string
  /** The try that failed. */
  attempt?: number
}

/** The reply to a report was lost and the report comes again: that try is over already. */
function wasCounted({ state }: Session, { attempt: counted }: Progress, { attempt }: Report): boolean {
  if (attempt === undefined) return false
  return attempt < counted || (attempt === counted && state !== 'FACE_ACTIVE')
}

/** What a device says went wrong. It may only make things worse for itself: no code of these gives a verdict. */
export function reportedFailure(
  rules: Pick<FlowRules, 'failuresOf'> & { passkeyFailed(session: RunningSession): Step },
  session: RunningSession,
  report: Report,
): Step {
  const { progress } = session
  const { code, reason } = report
  const name = DEVICE_REPORTABLE.find((candidate) => SESSION_CODES[candidate].code === code)
  if (!name) throw invalid('/body/code', 'is not a code that a device reports')
  const known = noted(progress, name, reason)
  if (SESSION_CODES[name].kind === 'D') return { state: session.state, progress: known, errors: [code] }
  if (name === 'PASSKEY_FAILED') return rules.passkeyFailed({ ...session, progress: known })
  const isUnderWay = session.state === 'FACE_ACTIVE'
  if (!isUnderWay && !MAY_FAIL.includes(session.state)) throw notAtThisStep()
  if (wasCounted(session, progress, report)) return { state: session.state, progress: known, errors: [code] }
  if (isUnderWay) return failTry(rules, session, known, name)
  // Before a challenge: the camera did not start. That is a try too, or a page could ask without end.
  return failTry(rules, session, { ...known, attempt: known.attempt + 1 }, name)
}

/** Steps of the device. A report cannot end what the service works on. */
const MAY_FAIL: readonly SessionState[] = ['READY', 'CONSENTED', 'DOC_ACTIVE', 'MATCHING']
