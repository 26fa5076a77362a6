import { HIT_BUDGET, SCORE_BANDS } from '@ostiary/contract'

/** Hits of one person by the ten minutes in which they were counted: their start in milliseconds, and how many. */
export type HitSlots = ReadonlyMap<number, number>

export type HitLevel = 'open' | 'alarm' | 'refuse'

const SLOT_MS = 600_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export const slotOf = (nowMs: number): number => Math.floor(nowMs / SLOT_MS) * SLOT_MS

/** Slots before this one are of no consequence. */
export const oldestSlot = (nowMs: number): number => slotOf(nowMs) - DAY_MS

/**
 * What the last 60 minutes and the last 24 hours come to. Both begin within a slot, which counts whole: a person who asks in its last
 * moment would have a second budget otherwise. So they are up to ten minutes longer.
 */
export function levelOf(slots: HitSlots, nowMs: number): HitLevel {
  const now = slotOf(nowMs)
  let [hour, day] = [0, 0]
  for (const [at, hits] of slots) {
    if (at >= now - HOUR_MS) hour += hits
    if (at >= now - DAY_MS) day += hits
  }
  if (hour > HIT_BUDGET.hour.refuse || day > HIT_BUDGET.day.refuse) return 'refuse'
  return hour >= HIT_BUDGET.hour.alarm || day >= HIT_BUDGET.day.alarm ? 'alarm' : 'open'
}

/** The stricter of two. */
export function stricter(a: HitLevel, b: HitLevel): HitLevel {
  return LEVELS.indexOf(a) > LEVELS.indexOf(b) ? a : b
}
const LEVELS: readonly HitLevel[] = ['open', 'alarm', 'refuse']

/** The lower edge of the band in which the score of a hit lies. */
export function bandOf(score: number): number {
  return SCORE_BANDS.findLast((edge) => score >= edge) ?? SCORE_BANDS[0]
}

/** How the scores of an answer are reported. */
export type ScoreDetail = 'exact' | 'bands' | 'one_band'

/** Candidates with the scores as they are reported, best first. People of equal score are ordered by id, which says nothing of the face. */
export function reportScores<T extends { puid: string; score: number }>(
  candidates: readonly T[],
  detail: ScoreDetail,
): T[] {
  if (detail === 'exact') return [...candidates]
  const reported = candidates.map((one) => ({ ...one, score: detail === 'bands' ? bandOf(one.score) : SCORE_BANDS[0] }))
  return reported.sort((a, b) => b.score - a.score || (a.puid < b.puid ? -1 : 1))
}
