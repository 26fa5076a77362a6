import type { AgeResult } from '@ostiary/contract'

/** The three fields that decide. */
export type AgeVerdict = Pick<AgeResult, 'flowStatus' | 'status'> & {
  /** What you are advised to do. */
  riskEvaluation: Pick<AgeResult['riskEvaluation'], 'recommendation'>
}

/**
 * Whether somebody may buy: the check was completed, the age is at or above the threshold, and the recommendation is `ALLOW`. Takes a result,
 * or the body of a webhook. Everything else is a no: `REVIEW` is for a person of yours to look at.
 */
export function isOldEnough({ flowStatus, status, riskEvaluation }: AgeVerdict): boolean {
  const isAtLeast = /^AGE_(AT|ABOVE)_THRESHOLD$/.test(status)
  return isAtLeast && flowStatus === 'COMPLETED' && riskEvaluation.recommendation === 'ALLOW'
}
