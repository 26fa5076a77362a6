import type { Guidance } from '@ostiary/faces'

/** So long the face must be well placed before the movements begin. */
export const PLACED_MS = 700
/** So long we look for a face that can be measured. */
export const SEARCH_MS_MAX = 45_000
/** A longer pause between two looks (a tab in the background) counts as this much: nobody could place anything meanwhile. */
const GAP_MS_MAX = 2_000

/** Session codes for what was wrong most of the time. Guidance that is not here is about distance, pose or sharpness. */
const CODES: Partial<Record<Guidance, number>> = {
  no_face: -12,
  one_face_only: -11,
  too_dark: -10,
  too_bright: -10,
  backlit: -10,
}
const QUALITY_LOW = -39

export type Placement = { is: 'searching' } | { is: 'placed' } | { is: 'given_up'; code: number }

/** Follows what the guide says until the face has been well placed for a moment, or for too long was not. */
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
      const code = CODES[guidance] ?? QUALITY_LOW
      spentMs.set(code, (spentMs.get(code) ?? 0) + gapMs)
      const byTime = [...spentMs].toSorted(([, a], [, b]) => b - a)
      const searchedMs = byTime.reduce((sum, [, ms]) => sum + ms, 0)
      const [most = QUALITY_LOW] = byTime[0] ?? []
      return searchedMs < SEARCH_MS_MAX ? { is: 'searching' } : { is: 'given_up', code: most }
    },
  }
}
