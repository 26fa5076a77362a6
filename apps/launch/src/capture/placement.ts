import * as codes from '@ostiary/contract/codes'
import type { Guidance } from '@ostiary/faces'

/** The face must be well placed for this long before the movements start. */
export const PLACED_MS = 700
/** The search for a well-placed face ends after this time. */
export const SEARCH_MS_MAX = 45_000
/** A longer gap between two looks (a background tab) counts as this much: the user got no guidance meanwhile. */
const GAP_MS_MAX = 2_000

/** Session codes for the problem that lasted longest. Guidance that is not listed is about distance, pose or sharpness. */
const CODE_OF: Partial<Record<Guidance, number>> = {
  no_face: codes.NO_FACE,
  one_face_only: codes.MULTIPLE_FACES,
  too_dark: codes.LOW_LIGHT,
  too_bright: codes.LOW_LIGHT,
  backlit: codes.LOW_LIGHT,
}

export type Placement = { is: 'searching' } | { is: 'placed' } | { is: 'given_up'; code: number }

/** Follows the guidance until the face has been well placed for a moment, or has not been for too long. */
export function createPlacement(): { note(guidance: Guidance, atMs: number): Placement } {
  const spentMs = new Map<number, number>()
  let lastMs: number | undefined
  let placedSinceMs: number | undefined

  return {
    note(guidance, atMs) {
      const gapMs = Math.min(atMs - (lastMs ?? atMs), GAP_MS_MAX)
      lastMs = atMs
      if (guidance === 'in_oval') {
        placedSinceMs ??= atMs
        return atMs - placedSinceMs >= PLACED_MS ? { is: 'placed' } : { is: 'searching' }
      }
      placedSinceMs = undefined
      const code = CODE_OF[guidance] ?? codes.QUALITY_LOW
      spentMs.set(code, (spentMs.get(code) ?? 0) + gapMs)
      const byTime = [...spentMs].toSorted(([, a], [, b]) => b - a)
      const searchedMs = byTime.reduce((sum, [, ms]) => sum + ms, 0)
      const [most = codes.QUALITY_LOW] = byTime[0] ?? []
      return searchedMs < SEARCH_MS_MAX ? { is: 'searching' } : { is: 'given_up', code: most }
    },
  }
}
