import type { RiskFlagCode, SessionCodeName } from '@ostiary/contract'

/** Why a capture gives no estimate, the gravest first: of several the first is the answer. */
export const CAPTURE_FAILURES = [
  'VIDEO_SPOOF',
  'SPOOF',
  'MODEL_LOAD_FAILED',
  'LIVENESS_INCONCLUSIVE',
] as const satisfies readonly SessionCodeName[]
export type CaptureFailure = (typeof CAPTURE_FAILURES)[number]

/** What one rule found wrong. A rule that finds nothing wrong returns none. */
export interface Finding {
  flag?: RiskFlagCode
  failure?: CaptureFailure
  /** The challenge was not followed: once is confusion, and is flagged from the second time on. */
  mismatch?: true
}

export const NOT_FOLLOWED: Finding = { failure: 'LIVENESS_INCONCLUSIVE', mismatch: true }
/** Too little to judge by, and nobody's fault. */
export const INCONCLUSIVE: Finding = { failure: 'LIVENESS_INCONCLUSIVE' }

export const injected = (flag: RiskFlagCode): Finding => ({ flag, failure: 'VIDEO_SPOOF' })
