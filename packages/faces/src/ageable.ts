import { USABLE_SCORE_MIN } from './quality.ts'
import type { SeenFace } from './types.ts'

/**
 * Beyond these limits no age is estimated. Estimates of turned heads are wrong. Shut eyes raise them by two years only
 * (docs/accuracy/faces.md), so the limit for eyes is the one below which there is no telling: it must not shut out people whose one
 * eye is narrow.
 */
export const AGEABLE = { scoreMin: USABLE_SCORE_MIN, yawMax: 18.75, eyesMin: 0.12 } as const

/** The one definition for the guide and the estimator: a face that the guide calls well placed gets an age. */
export function isAgeable({ quality, pose, eyes, covered }: Omit<SeenFace, 'mesh' | 'box' | 'size'>): boolean {
  return (
    covered === null &&
    quality.score >= AGEABLE.scoreMin &&
    Math.abs(pose.yaw) <= AGEABLE.yawMax &&
    eyes >= AGEABLE.eyesMin
  )
}
