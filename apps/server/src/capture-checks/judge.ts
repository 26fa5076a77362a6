import { type CapturePayload, RISK_FLAG_CODES, type RiskFlagCode } from '@ostiary/contract'
import type { ChallengePlan } from './challenge.ts'
import type { LogState } from './event-log.ts'
import { currentTry } from './event-rules.ts'
import { CAPTURE_FAILURES, type CaptureFailure, type Finding, injected } from './finding.ts'
import { checkFrameTimes, checkRepeats, checkStillness } from './frames.ts'
import { checkLatencies, checkMovements } from './movements.ts'
import { checkEstimate, checkLive, checkQuality, checkRanges, estimateOf } from './numbers.ts'
import { CAPTURE_RULES } from './rules.ts'

export interface CaptureCase {
  payload: CapturePayload
  challenge: ChallengePlan
  log: LogState
  /** Which try this is. */
  attempt: number
  /** How many earlier tries did not follow their challenge. */
  mismatches: number
  /** Whether the session asked for an age. If not, ages are not checked here; the caller refuses a payload that has one. */
  wantsAge: boolean
  acceptModel(model: CapturePayload['model']): boolean
}

export interface CaptureJudgement {
  /** All flags that were raised, in the order of the contract's table. */
  flags: RiskFlagCode[]
  /** Null when the capture is accepted; otherwise the most serious failure. */
  failure: CaptureFailure | null
  estimateYears: number
  /** The frames disagree about the age: a reason for a document, not for a refusal. */
  unstable: boolean
  /** The challenge was not followed. */
  mismatch: boolean
}

/**
 * Judges what a device claims to have seen. Every number is a claim, so this proves nothing: it makes a claim that does not
 * come from a camera costly to invent (docs/api/age.md says what that is worth). All rules run even after one has failed, because
 * a person who investigates later needs all flags.
 */
export function judgeCapture(capture: CaptureCase): CaptureJudgement {
  const { payload, challenge, log } = capture
  const { ageYears, unstable } = estimateOf(payload.frames)
  const findings: Finding[] = [
    ...checkLog(capture),
    ...checkFrameTimes(payload.frames, challenge.sampleAtMs),
    ...checkRepeats(payload.frames),
    ...checkStillness(payload.frames),
    ...checkMovements(payload.frames, challenge),
    ...checkLatencies(currentTry(log.entries), challenge),
    ...checkRanges(payload.frames),
    ...(capture.wantsAge ? checkEstimate(payload) : checkQuality(payload.frames)),
    ...checkLive(payload.live),
    ...checkModel(capture),
    ...(unstable ? [{ flag: 'BH_AGE_UNSTABLE' } as const] : []),
  ]
  const mismatch = findings.some((finding) => finding.mismatch)
  const raised = new Set(findings.map(({ flag }) => flag))
  if (mismatch && capture.mismatches > 0) raised.add('BH_CHALLENGE_MISMATCH')
  return {
    flags: RISK_FLAG_CODES.filter((code) => raised.has(code)),
    failure: CAPTURE_FAILURES.find((failure) => findings.some((finding) => finding.failure === failure)) ?? null,
    estimateYears: ageYears,
    unstable,
    mismatch,
  }
}

/** The log must describe this capture: the same try, started with a running camera, finished, and as long as its frames. */
export function checkLog({ payload, log, attempt }: Pick<CaptureCase, 'payload' | 'log' | 'attempt'>): Finding[] {
  const started = currentTry(log.entries)
  const begin = started[0]
  const end = started.find(({ type }) => type === 'capture_done')
  const cameraRan = log.entries.some(({ type, seq }) => type === 'camera_ready' && seq < (begin?.seq ?? 0))
  const lastFrameMs = payload.frames.at(-1)?.t ?? 0
  const matchesLog =
    payload.attempt === attempt &&
    begin?.n === attempt &&
    cameraRan &&
    end !== undefined &&
    end.t - begin.t >= lastFrameMs - CAPTURE_RULES.logSlackMs &&
    payload.log.seq === log.seq &&
    payload.log.hash === log.hash
  return [
    ...(log.flags.includes('BH_CHAIN_BROKEN') ? [injected('BH_CHAIN_BROKEN')] : []),
    ...(matchesLog ? [] : [injected('BH_RESULT_NO_CAPTURE')]),
  ]
}

function checkModel({ payload, acceptModel }: CaptureCase): Finding[] {
  return acceptModel(payload.model) ? [] : [{ flag: 'BH_MODEL_MISMATCH', failure: 'MODEL_LOAD_FAILED' }]
}
