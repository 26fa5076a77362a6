import { daysInMonth, toDay } from '../day.ts'
import type { Day } from '../types.ts'

/** Documents are valid for at most 30 years or so, and no machine-readable zone is older than 50. */
const EXPIRY_WINDOW_YEARS = 50

/**
 * A birth date of six characters. The century is the latest one that does not put the birth after `today`, so a person of 100 or
 * more years is taken for a child: that refuses them, and the other choice would let children pass as old people. An unknown month
 * or day (`<<` or `00`) counts as the latest possible one, which makes the person as young as they can be. Without a year
 * there is no birth date.
 */
export function readBirth(text: string, today: Day): Day | undefined {
  const read = readParts(text)
  if (!read) return undefined
  const year = latestYear(read.year, (candidate) => earliest(candidate, read) <= today, today)
  const latest = toDay(year, read.month ?? 12, read.dayOfMonth ?? daysInMonth(year, read.month ?? 12))
  return latest !== undefined && latest > today ? today : latest
}

/**
 * A date of expiry of six characters, in the century nearest to `today`. `none` when the document has no such date, undefined when the
 * characters are not a date. An unknown day or month counts as the first one.
 */
export function readExpiry(text: string, today: Day): Day | 'none' | undefined {
  if (/^(<{6}|0{6})$/.test(text)) return 'none'
  const read = readParts(text)
  if (!read) return undefined
  const yearMax = yearOf(today) + EXPIRY_WINDOW_YEARS
  const year = latestYear(read.year, (candidate) => candidate <= yearMax, today)
  return toDay(year, read.month ?? 1, read.dayOfMonth ?? 1)
}

/** The first day of a month of issue (`YYMM`), in the latest century that does not put it after `today`. */
export function readIssueMonth(text: string, today: Day): Day | undefined {
  const read = readParts(`${text}01`)
  if (!read) return undefined
  const year = latestYear(read.year, (candidate) => earliest(candidate, read) <= today, today)
  return toDay(year, read.month ?? 1, 1)
}

interface DateParts {
  year: number
  month: number | undefined
  dayOfMonth: number | undefined
}

function readParts(text: string): DateParts | undefined {
  const [, year, month = '', dayOfMonth = ''] = /^(\d\d)(\d\d|<<)(\d\d|<<)$/.exec(text) ?? []
  if (year === undefined) return undefined
  const known = (part: string) => (part === '<<' || part === '00' ? undefined : Number(part))
  const read = { year: Number(year), month: known(month), dayOfMonth: known(dayOfMonth) }
  // A day of an unknown month says too little to be trusted.
  return read.month === undefined && read.dayOfMonth !== undefined ? undefined : read
}

function latestYear(twoDigits: number, isAllowed: (year: number) => boolean, today: Day): number {
  let year = Math.floor(yearOf(today) / 100) * 100 + 100 + twoDigits
  while (!isAllowed(year)) year -= 100
  return year
}

function earliest(year: number, { month = 1, dayOfMonth = 1 }: DateParts): Day {
  return `${year}-${String(month).padStart(2, '0')}-${String(dayOfMonth).padStart(2, '0')}`
}

function yearOf(day: Day): number {
  return Number(day.slice(0, 4))
}
