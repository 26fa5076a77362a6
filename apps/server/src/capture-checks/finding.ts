import type { RiskFlagCode, SessionCodeName } from '@ostiary/contract'

/** Why a capture gives no estimate, the most serious first. Of several failures the first in this list is the answer. */
export const CAPTURE_FAILURES = [
  'VIDEO_SPOOF',
  'SPOOF',
  'MODEL_LOAD_FAILED',
  'LIVENESS_INCONCLUSIVE',
] as const satisfies readonly SessionCodeName[]
export type CaptureFailure = (typeof CAPTURE_FAILURES)[number]

/** A fault that one rule found. A rule returns an empty list when it finds no fault. */
export interface Finding {
  flag?: RiskFlagCode
  failure?: CaptureFailure
  /** The person did not follow the challenge. The first time can be confusion; from the second time on it raises a flag. */
  mismatch?: true
}

export const NOT_FOLLOWED: Finding = { failure: 'LIVENESS_INCONCLUSIVE', mismatch: true }
/** Too little to decide by, and no sign of an attack. */
export const INCONCLUSIVE: Finding = { failure: 'LIVENESS_INCONCLUSIVE' }

export const injected = (flag: RiskFlagCode): Finding => ({ flag, failure: 'VIDEO_SPOOF' })
