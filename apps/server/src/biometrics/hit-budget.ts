import { HIT_BUDGET, SCORE_BANDS } from '@ostiary/contract'

/** Hits of one person by the slot in which they were counted: its start in milliseconds, and how many. */
export type HitSlots = ReadonlyMap<number, number>

export type HitLevel = 'open' | 'alarm' | 'refuse'

/** How a key may be answered after a hit, and for how long it then gets no answer: until the person's next token. */
export interface HitVerdict {
  level: HitLevel
  waitMs: number
}

/** Of the last release, and what the windows of the alarm are counted in. */
const OLD_SLOT_MS = 600_000
const SLOT_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Half of what a window may have is there at once, and the other half comes back within the window: together never more. */
const BUCKETS = [
  { tokens: HIT_BUDGET.hour.most / 2, perMs: HIT_BUDGET.hour.most / 2 / HOUR_MS },
  { tokens: HIT_BUDGET.day.most / 2, perMs: HIT_BUDGET.day.most / 2 / DAY_MS },
] as const

/**
 * The second of a hit, a millisecond late: so it is no slot of the last release, which begin with a tenth minute, and is counted by its processes.
 */
export const slotOf = (nowMs: number): number => Math.floor(nowMs / SLOT_MS) * SLOT_MS + 1

const oldSlotOf = (nowMs: number): number => Math.floor(nowMs / OLD_SLOT_MS) * OLD_SLOT_MS

/** For how long a slot may be of consequence. */
export const SLOTS_KEPT_MS = DAY_MS + OLD_SLOT_MS

/** Slots before this one are of no consequence. */
export const oldestSlot = (nowMs: number): number => oldSlotOf(nowMs) - DAY_MS

export function verdictOf(slots: HitSlots, nowMs: number): HitVerdict {
  const times = [...slots].map(([at, hits]) => ({ at: takenAt(at, nowMs), hits })).sort((a, b) => a.at - b.at)
  const spent = BUCKETS.map(({ tokens, perMs }) => ({ tokens, perMs, debt: debtOf(times, perMs, nowMs) }))
  const waitMs = Math.max(0, ...spent.map(({ tokens, perMs, debt }) => (debt - (tokens - 1)) / perMs))
  return { level: spent.some(({ tokens, debt }) => debt > tokens) ? 'refuse' : alarmOf(slots, nowMs), waitMs }
}

/** When in a slot of the last release its hits were is not known: at its end at the latest. */
function takenAt(slot: number, nowMs: number): number {
  return slot % OLD_SLOT_MS === 0 ? Math.min(slot + OLD_SLOT_MS, nowMs) : slot - 1
}

/** The tokens that are missing now. */
function debtOf(times: readonly { at: number; hits: number }[], perMs: number, nowMs: number): number {
  let [debt, since] = [0, 0]
  for (const { at, hits } of times) {
    debt = Math.max(0, debt - (at - since) * perMs) + hits
    since = at
  }
  return Math.max(0, debt - (nowMs - since) * perMs)
}

/** The last 60 minutes and the last 24 hours, up to ten minutes longer, as the last release counts them. */
function alarmOf(slots: HitSlots, nowMs: number): HitLevel {
  const now = oldSlotOf(nowMs)
  let [hour, day] = [0, 0]
  for (const [at, hits] of slots) {
    if (at >= now - HOUR_MS) hour += hits
    if (at >= now - DAY_MS) day += hits
  }
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
