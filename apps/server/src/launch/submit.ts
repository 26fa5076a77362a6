import {
  CaptureConditions,
  CapturePayload,
  CONDITION_LIMITS,
  LAUNCH_LIMITS,
  RELEASED_MODELS,
  type RiskFlagCode,
  type SessionCodeName,
  SIMULATED_MODEL,
} from '@ostiary/contract'
import { Compile } from 'typebox/compile'
import { judgeCapture, type LogState, sealedEvents } from '../capture-checks/index.ts'
import { AppError } from '../platform/errors.ts'
import {
  type AcceptedCapture,
  documentOf,
  type Flow,
  type FlowRules,
  isWaiting,
  notAtThisStep,
  type OpenChallenge,
  type Progress,
  type RunningSession,
  type Session,
  type Step,
  withDocument,
  withFlags,
} from '../sessions/index.ts'
import { lacksBrowserData, type Sender, withBrowser } from './browser-data.ts'
import { misfitOf, noChallenge, readSealed, unfitPayload } from './sealed.ts'
import { openSelfie } from './selfie.ts'
import { failLook, failTry, noted, withEvents } from './step.ts'

const payloads = Compile(CapturePayload)
const captureConditions = Compile(CaptureConditions)

export interface Submit {
  flow: Pick<Flow, 'captured'>
  rules: FlowRules
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
  const { session, sealed, now } = submit
  const { progress } = session
  if (isWaiting(session.state)) return acceptRepeat(session, sealed)
  const { challenge } = progress
  const isLook = session.state === 'DOC_ACTIVE' && challenge?.isLook === true
  if (session.state === 'DOC_ACTIVE' && !isLook) return acceptRepeatAtDocument(session, sealed)
  if (session.state !== 'FACE_ACTIVE' && !isLook) throw notAtThisStep()
  const { rules, attempt, fail, accept } = isLook ? lookOf(submit) : faceTryOf(submit)
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
  const read = await readSealed(payloads, session, progress, sealed)
  if (read instanceof AppError) return stay(read, counted)
  const misfit = misfitOf(read, { sessionId: session.sessionId, nonce: challenge.nonce, attempt }, progress)
  if (misfit) return stay(misfit.refuse, withFlags(counted, misfit.flags))
  const unasked = rules.payloadFault(read, submit.selfie !== undefined)
  if (unasked) return stay(unfitPayload(unasked), counted)
  // Without the user's consent they are dropped, whatever they are.
  const conditions = rules.takesConditions ? readConditions(read) : null
  if (conditions === undefined) return stay(unfitPayload('conditions'), counted)
  const selfie = submit.selfie === undefined ? null : await openSelfie(session, progress, submit.selfie)
  if (selfie instanceof AppError) return stay(selfie, counted)
  const usedNonces = [...progress.usedNonces, challenge.nonce]
  // Only now: what is refused for its form has brought nothing.
  const { progress: logged } = withEvents({ ...session, progress: counted }, sealedEvents(read.log))
  const answered = { ...logged, usedNonces, ...(rules.takesConditions && { conditions }) }
  const judged = judge(rules, session, answered, {
    payload: read,
    attempt,
    selfie,
    challenge: begun,
    sender: submit.sender,
    now,
  })
  return 'capture' in judged ? accept(judged.progress, judged.capture) : fail(judged.progress, judged.failure)
}

/** What a capture is for. */
interface Purpose {
  rules: FlowRules
  /** Which try, or which look. */
  attempt: number
  fail(progress: Progress, name: SessionCodeName): Step
  accept(progress: Progress, capture: AcceptedCapture): Promise<Step>
}

function faceTryOf({ flow, rules, session }: Submit): Purpose {
  return {
    rules,
    attempt: session.progress.attempt,
    fail: (progress, name) => failTry(rules, session, progress, name),
    accept: (progress, capture) =>
      flow.captured({ ...session, progress: rules.document ? withCapture(progress, capture) : progress }, capture),
  }
}

/** A look shows that the same live person is there, for the comparison with a document. It says nothing else about them. */
function lookOf({ rules, session }: Submit): Purpose {
  return {
    rules: { ...rules, wantsAge: false, takesConditions: false, payloadFault: lookFault },
    attempt: documentOf(session.progress).looks,
    fail: (progress, name) => failLook(rules, session, progress, name),
    accept: async (progress, capture) => ({ state: session.state, progress: withCapture(progress, capture) }),
  }
}

function lookFault({ estimate, frames, face, local, match }: CapturePayload, hasSelfie: boolean): string | undefined {
  const { age: years, spread, frames: used } = estimate
  const hasAge = used !== 0 || years !== 0 || spread !== 0 || frames.some(({ age }) => age !== undefined)
  return hasSelfie || hasAge || face || local || match ? 'look' : undefined
}

/** From now on a portrait is compared with this face, by the device that holds its numbers. */
function withCapture(progress: Progress, { payload }: AcceptedCapture): Progress {
  const thumbprint = progress.holder?.thumbprint ?? ''
  return withDocument(progress, { capture: { nonce: payload.nonce, thumbprint } })
}

/** The page repeats a capture because the reply was lost. The work on it continues; nothing in the repeat counts. */
async function acceptRepeat(session: RunningSession, sealed: string): Promise<Step> {
  const { progress } = session
  const read = await readSealed(payloads, session, progress, sealed)
  const known = { state: session.state, progress }
  if (read instanceof AppError) return { ...known, refuse: read }
  if (read.nonce === progress.usedNonces.at(-1)) return known
  return { ...known, refuse: noChallenge('The payload answers another challenge') }
}

/** The reply that asked for the document was lost. In an ENROLL the user would have to repeat the face otherwise. */
async function acceptRepeatAtDocument(session: RunningSession, sealed: string): Promise<Step> {
  const { state, progress } = session
  const { capture } = documentOf(progress)
  const read = capture && (await readSealed(payloads, session, progress, sealed))
  const isRepeat = read !== null && !(read instanceof AppError) && read.nonce === capture?.nonce
  return { state, progress, ...(!isRepeat && { refuse: notAtThisStep() }) }
}

interface Answer {
  payload: CapturePayload
  attempt: number
  selfie: string | null
  challenge: OpenChallenge
  sender: Sender
  now: Date
}

/** The accepted capture or why it failed, with what is known then. */
function judge(
  rules: FlowRules,
  session: Session,
  progress: Progress,
  answer: Answer,
): { progress: Progress } & ({ failure: SessionCodeName } | { capture: AcceptedCapture }) {
  const { payload, attempt, selfie, challenge, sender, now } = answer
  const judged = judgeCapture({
    payload,
    challenge,
    log: progress.log,
    attempt,
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
    return { failure, progress: noted({ ...known, mismatches }, failure) }
  }
  const { estimateYears, unstable } = judged
  const capture: AcceptedCapture = { payload, challenge, selfie, estimateYears, unstable, unfit, now }
  return { capture, progress: { ...known, challenge: null } }
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

const { step: MOTION_STEP } = CONDITION_LIMITS.motion
const toStep = (value: number) => Math.round(value / MOTION_STEP) * MOTION_STEP

/**
 * Light, movement and camera of a capture; null when the device sent none. Claims of the device, for the record only: nothing is decided by
 * them. Undefined when they are not what the contract says.
 */
function readConditions({ metadata }: Pick<CapturePayload, 'metadata'>): CaptureConditions | null | undefined {
  const sent = metadata?.captureConditions
  if (sent === undefined) return null
  if (!captureConditions.Check(sent)) return undefined
  // The check of steps has a tolerance, in which a device could hide a number.
  return sent.motion === null ? sent : { ...sent, motion: toStep(sent.motion) }
}
