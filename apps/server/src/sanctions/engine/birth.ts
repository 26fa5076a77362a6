/** Compares two birth dates, only as precisely as both are known. */

/** A span of days, `YYYYMMDD`. BirthDate in lists/listed.ts has the same shape. */
export interface BirthSpan {
  from: number
  to: number
  circa: boolean
}

export const BIRTH_KINDS = [
  'unknown',
  'same_day',
  'same_month',
  'same_year',
  'within_range',
  'day_and_month_swapped',
  'one_digit',
  'near',
  'other_day',
  'different',
] as const
export type BirthKind = (typeof BIRTH_KINDS)[number]

export interface BirthEvidence {
  kind: BirthKind
  /** Added to the calibrated name score. */
  effect: number
  /** Index of the entity's date that gave this evidence, or -1. */
  at: number
}

/** The most that a birth date can add. A search lowers its name threshold by this much. */
export const BIRTH_BONUS_MAX = 0.03

const UNKNOWN: BirthEvidence = { kind: 'unknown', effect: 0, at: -1 }
const yearOf = (day: number) => Math.trunc(day / 10_000)
const isDay = ({ from, to }: BirthSpan) => from === to

/** Effect by years apart, where a date is not an exact day. Publishers of lists often disagree by a year or two. */
const YEARS_APART = [-0.03, -0.04, -0.1, -0.2, -0.2, -0.25] as const
const CIRCA_APART = [-0.01, -0.02, -0.05, -0.1, -0.15, -0.2] as const
const DIFFERENT = -0.33

export function compareBirths(query: BirthSpan | null, listed: readonly BirthSpan[]): BirthEvidence {
  if (!query || listed.length === 0) return UNKNOWN
  let best: BirthEvidence = { kind: 'different', effect: Number.NEGATIVE_INFINITY, at: -1 }
  listed.forEach((span, at) => {
    const evidence = compareSpans(query, span)
    if (evidence.effect > best.effect) best = { ...evidence, at }
  })
  return best
}

function compareSpans(query: BirthSpan, listed: BirthSpan): Omit<BirthEvidence, 'at'> {
  if (isDay(query) && isDay(listed)) return compareDays(query.from, listed.from, listed.circa)
  if (query.from <= listed.to && listed.from <= query.to) return overlap(query, listed)
  const apart = Math.min(
    Math.abs(yearOf(query.from) - yearOf(listed.to)),
    Math.abs(yearOf(listed.from) - yearOf(query.to)),
  )
  const table = listed.circa || query.circa ? CIRCA_APART : YEARS_APART
  const effect = table[apart] ?? DIFFERENT
  return { kind: effect === DIFFERENT ? 'different' : 'near', effect }
}

/** The wider span decides how much the agreement is worth. */
function overlap(query: BirthSpan, listed: BirthSpan): Omit<BirthEvidence, 'at'> {
  const wider = Math.max(query.to - query.from, listed.to - listed.from)
  if (wider <= 31) return { kind: 'same_month', effect: 0.02 }
  const oneYear = [query, listed].every(({ from, to }) => yearOf(from) === yearOf(to))
  if (oneYear) return { kind: 'same_year', effect: listed.circa ? 0 : 0.01 }
  return { kind: 'within_range', effect: 0 }
}

function compareDays(query: number, listed: number, circa: boolean): Omit<BirthEvidence, 'at'> {
  if (query === listed) return { kind: 'same_day', effect: BIRTH_BONUS_MAX }
  const [year, month, day] = [yearOf(listed), Math.trunc(listed / 100) % 100, listed % 100]
  if (yearOf(query) === year && Math.trunc(query / 100) % 100 === day && query % 100 === month) {
    return { kind: 'day_and_month_swapped', effect: 0 }
  }
  if (differentDigits(query, listed) === 1) return { kind: 'one_digit', effect: -0.04 }
  if (yearOf(query) === year) return { kind: 'other_day', effect: -0.08 }
  const apart = Math.abs(yearOf(query) - year)
  const sameDay = query % 10_000 === listed % 10_000
  if (apart === 1 && sameDay) return { kind: 'near', effect: -0.04 }
  if (circa && apart <= 2) return { kind: 'near', effect: -0.08 }
  return apart === 1 ? { kind: 'near', effect: -0.2 } : { kind: 'different', effect: DIFFERENT }
}

function differentDigits(a: number, b: number): number {
  let count = 0
  for (let [x, y] = [a, b]; x > 0 || y > 0; x = Math.trunc(x / 10), y = Math.trunc(y / 10))
    if (x % 10 !== y % 10) count++
  return count
}

/** As people write it: `1958-04-03`, `1958-04`, `1958`, `1958 to 1962`, `circa 1958`. */
export function formatBirth({ from, to, circa }: BirthSpan): string {
  const text = from === to ? isoDay(from) : wholeOf(from, to)
  return circa ? `circa ${text}` : text
}

function wholeOf(from: number, to: number): string {
  const [first, last] = [isoDay(from), isoDay(to)]
  const wholeYears = first.endsWith('-01-01') && last.endsWith('-12-31')
  if (wholeYears) return yearOf(from) === yearOf(to) ? String(yearOf(from)) : `${yearOf(from)} to ${yearOf(to)}`
  if (first.slice(0, 7) === last.slice(0, 7) && first.endsWith('-01') && isMonthEnd(last)) return first.slice(0, 7)
  return `${first} to ${last}`
}

function isMonthEnd(day: string): boolean {
  const next = new Date(`${day}T00:00:00Z`)
  next.setUTCDate(next.getUTCDate() + 1)
  return next.getUTCDate() === 1
}

function isoDay(day: number): string {
  const text = String(day).padStart(8, '0')
  return `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`
}
