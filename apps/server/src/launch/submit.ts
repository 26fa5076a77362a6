import {
  CapturePayload,
  LAUNCH_LIMITS,
  RELEASED_MODELS,
  type RiskFlagCode,
  readIndicators,
  SIMULATED_MODEL,
} from '@ostiary/contract'
import { openPayload, SealError } from '@ostiary/crypto'
import { Compile } from 'typebox/compile'
import { judgeCapture, type LogState } from '../capture-checks/index.ts'
import { AppError } from '../platform/errors.ts'
import { flagsOfIndicators, type RiskFlag } from '../risk/index.ts'
import {
  type AcceptedCapture,
  type Flow,
  type FlowRules,
  isWaiting,
  notAtThisStep,
  type OpenChallenge,
  type Progress,
  type RunningSession,
  type Session,
  type Step,
  withFlags,
} from '../sessions/index.ts'
import { lacksBrowserData, type Sender } from './browser-data.ts'
import { readConditions } from './conditions.ts'
import { openSelfie } from './selfie.ts'
import { failTry, noted } from './step.ts'

const payloads = Compile(CapturePayload)

export interface Submit {
  flow: Pick<Flow, 'rules' | 'captured'>
  session: RunningSession
  sealed: string
  /** Sealed in the same way, where the session shares one. */
  selfie: string | undefined
  /** What the headers of the call say about its sender. */
  sender: Sender
  now: Date
}

/**
 * A capture, from the sealed text to the next step. Everything in it is a claim: it counts only once, only for the challenge that it
 * answers, and only when it is consistent.
 */
export async function judgeSubmit(submit: Submit): Promise<Step> {
  const { flow, session, sealed, now } = submit
  const { progress } = session
  if (isWaiting(session.state)) return acceptRepeat(session, sealed)
  if (session.state !== 'FACE_ACTIVE') throw notAtThisStep()
  const rules = flow.rules(session)
  const { challenge } = progress
  const stay = (refuse: AppError, after: Progress = progress): Step => ({
    state: session.state,
    progress: after,
    refuse,
  })
  if (!challenge || now.getTime() > challenge.expiresAtMs) return stay(noChallenge('There is no challenge under way'))
  if (challenge.submits >= LAUNCH_LIMITS.submitsPerAttempt)
    return stay(noChallenge('Too many submits for one challenge'))
  const begun = { ...challenge, submits: challenge.submits + 1 }
  const counted = { ...progress, challenge: begun }
  const read = await readPayload(session, progress, sealed)
  if (read instanceof AppError) return stay(read, counted)
  const fault = faultOf(read, session, counted, challenge)
  if (fault) return stay(fault.refuse, withFlags(counted, fault.flags))
  const unasked = rules.payloadFault(read, submit.selfie !== undefined)
  if (unasked) return stay(badPayload(unasked), counted)
  // Without the user's consent they are dropped, whatever they are.
  const conditions = rules.takesConditions ? readConditions(read) : null
  if (conditions === undefined) return stay(badPayload('conditions'), counted)
  const selfie = submit.selfie === undefined ? null : await openSelfie(session, progress, submit.selfie)
  if (selfie instanceof AppError) return stay(selfie, counted)
  const usedNonces = [...progress.usedNonces, challenge.nonce]
  const answered = { ...counted, usedNonces, ...(rules.takesConditions && { conditions }) }
  const judged = judge(rules, session, answered, {
    payload: read,
    selfie,
    challenge: begun,
    sender: submit.sender,
    now,
  })
  return 'capture' in judged ? flow.captured({ ...session, progress: judged.progress }, judged.capture) : judged
}

/** The page repeats a capture because the reply was lost. The work on it continues; nothing in the repeat counts. */
async function acceptRepeat(session: RunningSession, sealed: string): Promise<Step> {
  const { progress } = session
  const read = await readPayload(session, progress, sealed)
  const known = { state: session.state, progress }
  if (read instanceof AppError) return { ...known, refuse: read }
  if (read.nonce === progress.usedNonces.at(-1)) return known
  return { ...known, refuse: noChallenge('The payload answers another challenge') }
}

async function readPayload(session: Session, progress: Progress, sealed: string): Promise<CapturePayload | AppError> {
  if (!progress.sealKey) return badPayload('key')
  const limits = {
    sessionId: session.sessionId,
    maxBytes: LAUNCH_LIMITS.sealedBytes,
    maxInflatedBytes: LAUNCH_LIMITS.inflatedBytes,
  }
  try {
    const payload = await openPayload(progress.sealKey, sealed, limits)
    return payloads.Check(payload) ? payload : badPayload('schema')
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    if (error.fault === 'size') return new AppError('too_large', 'PAYLOAD_TOO_LARGE', 'The sealed payload is too large')
    return badPayload(error.fault)
  }
}

function faultOf(
  payload: CapturePayload,
  session: Session,
  progress: Progress,
  challenge: OpenChallenge,
): { refuse: AppError; flags: RiskFlag[] } | undefined {
  if (payload.sessionId !== session.sessionId) return { refuse: badPayload('session'), flags: [] }
  if (progress.usedNonces.includes(payload.nonce)) {
    const refuse = new AppError('conflict', 'PAYLOAD_REPLAYED', 'This challenge was answered already')
    return { refuse, flags: [{ code: 'BH_PAYLOAD_REPLAY' }] }
  }
  if (payload.nonce !== challenge.nonce)
    return { refuse: noChallenge('The payload answers another challenge'), flags: [] }
  if (payload.attempt !== progress.attempt) return { refuse: badPayload('attempt'), flags: [] }
  return undefined
}

interface Answer {
  payload: CapturePayload
  selfie: string | null
  challenge: OpenChallenge
  sender: Sender
  now: Date
}

/** The accepted capture with what is known then, or the step after a try that failed. */
function judge(
  rules: FlowRules,
  session: Session,
  progress: Progress,
  answer: Answer,
): Step | { capture: AcceptedCapture; progress: Progress } {
  const { payload, selfie, challenge, sender, now } = answer
  const judged = judgeCapture({
    payload,
    challenge,
    log: progress.log,
    attempt: progress.attempt,
    mismatches: progress.mismatches,
    wantsAge: rules.wantsAge,
    acceptModel: (model) => isReleased(model) || (!session.livemode && isSimulated(model)),
  })
  const tooFast = !isSimulated(payload.model) && cameTooFast(payload, challenge, now)
  const flags = tooFast ? [...judged.flags, 'BH_TOO_FAST' as const] : judged.flags
  const unfit = isUnfit(progress.log)
  const inconclusive = unfit && !rules.hasOtherWay ? 'LIVENESS_INCONCLUSIVE' : null
  const failure = tooFast ? 'VIDEO_SPOOF' : (judged.failure ?? inconclusive)
  // A simulated device has no browser. Its model counts in test sessions only.
  const withoutBrowser =
    !isSimulated(payload.model) && lacksBrowserData(payload, sender, progress.holder?.tellsCamera ?? false)
  const raised = [...flags, ...(withoutBrowser ? (['BH_NO_BROWSER_DATA'] as const) : [])].map((code) => ({ code }))
  const known = withBrowser({ ...withFlags(progress, raised), behaviour: true }, payload)
  if (failure) {
    const mismatches = known.mismatches + (judged.mismatch ? 1 : 0)
    return failTry(rules, session, noted({ ...known, mismatches }, failure), failure)
  }
  const { estimateYears, unstable } = judged
  const capture: AcceptedCapture = { payload, challenge, selfie, estimateYears, unstable, unfit, now }
  return { capture, progress: { ...known, challenge: null } }
}

function withBrowser(progress: Progress, { indicators: marks, browser }: CapturePayload): Progress {
  if (marks === undefined) return progress
  const indicators = readIndicators(marks)
  const context = { kind: browser?.kind ?? 'ordinary', phoneCamera: browser?.phoneCamera ?? false } as const
  return withFlags({ ...progress, indicators }, flagsOfIndicators(indicators, context))
}

/** One of the sets of nets that a launch page of ours ships. */
const isReleased = ({ id, hash }: CapturePayload['model']) =>
  RELEASED_MODELS.some((set) => set.id === id && set.hash === hash)

const isSimulated = ({ id, hash }: CapturePayload['model']) =>
  id === SIMULATED_MODEL.id && hash === SIMULATED_MODEL.hash

/**
 * A log that was cut or reordered, or whose timing is not a human's, leaves the step without a verdict, however good the pictures are.
 * It does not prove that no person was there, so it is not an attack either. What a busy device causes (a hidden tab) is not listed.
 */
const NO_VERDICT: readonly RiskFlagCode[] = ['BH_STEP_ORDER', 'BH_LOG_GAP', 'BH_TIME_REGRESSION', 'BH_TOO_FAST']

const isUnfit = ({ flags }: LogState) => flags.some((code) => NO_VERDICT.includes(code))

/** By the server's clock: a capture of seven seconds cannot arrive three seconds after the challenge was issued. */
function cameTooFast({ frames }: CapturePayload, { expiresAtMs }: OpenChallenge, now: Date): boolean {
  const issuedMs = expiresAtMs - LAUNCH_LIMITS.challengeSeconds * 1000
  return now.getTime() - issuedMs < (frames.at(-1)?.t ?? 0)
}

const noChallenge = (message: string) => new AppError('conflict', 'CHALLENGE_NOT_VALID', message)
const badPayload = (detail: string) =>
  new AppError('invalid_request', 'INVALID_PAYLOAD', 'The payload cannot be read', { detail })
