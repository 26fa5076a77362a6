import {
  DEVICE_REPORTABLE,
  DOCUMENT_LIMITS,
  LAUNCH_LIMITS,
  SESSION_CODES,
  type SessionCodeName,
} from '@ostiary/contract'
import { appendEvents, type NewEvent } from '../capture-checks/index.ts'
import { invalid } from '../platform/errors.ts'
import {
  canHappen,
  documentOf,
  type FlowRules,
  failDocument,
  nextState,
  notAtThisStep,
  type Progress,
  type RunningSession,
  type Session,
  type SessionState,
  type Step,
  withFlags,
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

/** A look at the face for the comparison that failed. It costs no try of any step, but looks are counted when they begin. */
export function failLook(
  rules: Pick<FlowRules, 'failuresOf'>,
  { state }: Session,
  progress: Progress,
  name: SessionCodeName,
): Step {
  const { code, kind } = SESSION_CODES[name]
  const step = { state, progress: { ...progress, challenge: null }, errors: [code] }
  const noneLeft = documentOf(progress).looks >= DOCUMENT_LIMITS.looks
  if (kind !== 'F' && !noneLeft) return step
  return { ...step, end: { how: 'failed', failures: rules.failuresOf(name, kind !== 'F') } }
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

interface FailureRules extends Pick<FlowRules, 'failuresOf' | 'alsoReportable'> {
  passkeyFailed(session: RunningSession): Step
  /** Counts a document of which the device read nothing. */
  documentFailed(name: SessionCodeName): void
}

/** What a device says went wrong. It may only make things worse for itself: no code of these gives a verdict. */
export function reportedFailure(rules: FailureRules, session: RunningSession, report: Report): Step {
  const { progress } = session
  const { code, reason } = report
  const reportable: readonly SessionCodeName[] = [...DEVICE_REPORTABLE, ...(rules.alsoReportable ?? [])]
  const name = reportable.find((candidate) => SESSION_CODES[candidate].code === code)
  if (!name) throw invalid('/body/code', 'is not a code that a device reports')
  const known = noted(progress, name, reason)
  if (SESSION_CODES[name].kind === 'D') return { state: session.state, progress: known, errors: [code] }
  if (name === 'PASSKEY_FAILED') return rules.passkeyFailed({ ...session, progress: known })
  if (session.state === 'DOC_ACTIVE')
    return failedAtDocument(rules, { ...session, progress: known }, { ...report, name })
  if (OF_DOCUMENT.includes(name)) throw notAtThisStep()
  const isUnderWay = session.state === 'FACE_ACTIVE'
  if (!isUnderWay && !MAY_FAIL.includes(session.state)) throw notAtThisStep()
  if (wasCounted(session, progress, report)) return { state: session.state, progress: known, errors: [code] }
  if (isUnderWay) return failTry(rules, session, known, name)
  // Before a challenge: the camera did not start. That is a try too, or a page could ask without end.
  return failTry(rules, session, { ...known, attempt: known.attempt + 1 }, name)
}

/** Steps of the device before a try of the face step. A report cannot end what the service works on. */
const MAY_FAIL: readonly SessionState[] = ['READY', 'CONSENTED', 'DOC_DONE']

/** Failures that use up a try of the document step. */
const OF_DOCUMENT: readonly SessionCodeName[] = ['DOCUMENT_UNREADABLE', 'DOCUMENT_UNSUPPORTED', 'DOB_NOT_FOUND']

/** The tries of the face step stay as they are: a document that cannot be read costs none of them. */
function failedAtDocument(
  rules: Pick<FailureRules, 'failuresOf' | 'documentFailed'>,
  session: RunningSession,
  { name, code, attempt }: Report & { name: SessionCodeName },
): Step {
  const { state, progress } = session
  const { tries, looks } = documentOf(progress)
  const noted = { state, progress, errors: [code] }
  if (OF_DOCUMENT.includes(name)) {
    // The reply to the report was lost, and it comes again.
    const isCounted = attempt !== undefined && attempt <= tries
    if (isCounted) return noted
    rules.documentFailed(name)
    return failDocument(rules, session, progress, name)
  }
  const isOfLook = progress.challenge?.isLook && (attempt === undefined || attempt === looks)
  return isOfLook ? failLook(rules, session, progress, name) : noted
}

/**
 * The session with more entries in the log of its holder. Whether they come alone or with a call that is decided after them makes no
 * difference: no rule asks when an entry arrived.
 */
export function withEvents(session: RunningSession, events: readonly NewEvent[]): RunningSession {
  if (events.length === 0) return session
  const { progress } = session
  const { log, flags } = appendEvents(progress.log, events, { maxEvents: LAUNCH_LIMITS.events })
  const raised = flags.map((code) => ({ code }))
  return { ...session, progress: withFlags({ ...progress, log, behaviour: true }, raised) }
}
