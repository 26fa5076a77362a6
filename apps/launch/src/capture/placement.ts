import * as codes from '@ostiary/contract/codes'
import type { Guidance } from '@ostiary/faces'

/** The face must be well placed for this long before the movements start. */
export const PLACED_MS = 700
/** The search for a well-placed face ends after this time. */
export const SEARCH_MS_MAX = 45_000
/** A longer gap between two looks (a background tab) counts as this much: the user got no guidance meanwhile. */
const GAP_MS_MAX = 2_000

/** How a search ends whose longest problem was this one. */
interface Verdict {
  code: number
  /** What the user can change. */
  reason?: string
}

const LIGHT: Verdict = { code: codes.LOW_LIGHT }
/** Pose and sharpness. */
const QUALITY: Verdict = { code: codes.QUALITY_LOW }

const VERDICT_OF: Partial<Record<Guidance, Verdict>> = {
  no_face: { code: codes.NO_FACE },
  one_face_only: { code: codes.MULTIPLE_FACES },
  too_dark: LIGHT,
  too_bright: LIGHT,
  backlit: LIGHT,
  too_far: { code: codes.QUALITY_LOW, reason: 'too_far' },
  too_close: { code: codes.QUALITY_LOW, reason: 'too_close' },
  eyes_hidden: { code: codes.FACE_OBSTRUCTED, reason: 'eyes_hidden' },
  remove_mask: { code: codes.FACE_OBSTRUCTED, reason: 'mask' },
}

export type Placement = { is: 'searching' } | { is: 'placed' } | ({ is: 'given_up' } & Verdict)

/** Follows the guidance until the face has been well placed for a moment, or has not been for too long. */
export function createPlacement(): { note(guidance: Guidance, atMs: number): Placement } {
  const spentMs = new Map<Verdict, number>()
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
      const verdict = VERDICT_OF[guidance] ?? QUALITY
      spentMs.set(verdict, (spentMs.get(verdict) ?? 0) + gapMs)
      const byTime = [...spentMs].toSorted(([, a], [, b]) => b - a)
      const searchedMs = byTime.reduce((sum, [, ms]) => sum + ms, 0)
      const [most = QUALITY] = byTime[0] ?? []
      return searchedMs < SEARCH_MS_MAX ? { is: 'searching' } : { is: 'given_up', ...most }
    },
  }
}
