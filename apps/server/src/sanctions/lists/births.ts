import type { BirthDate } from './listed.ts'

/** Outside of these a "year" is of another calendar (1385 Hijri, 2510 Buddhist) or a slip. */
const FIRST_YEAR = 1700
const LAST_YEAR = 2100
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const ISO = /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ]\d{2}:\d{2}\S*)?)?)?$/
const SPOKEN = /^(?:(?:(\d{1,2})\s+)?([a-z]{3,9})\.?,?\s+)?(\d{4})$/i
const CIRCA = /^(?:circa|ca?\.|approximately|approx\.?|about)\s*/i
const RANGES = [/^between\s+(.+?)\s+and\s+(.+)$/i, /^(.+?)\s+(?:to|-|–)\s+(.+)$/i, /^(.*\d{4})\s*[-–]\s*(\d{4})$/]
const REMARK = /(?:^|:\s*|\balt\.\s*)DOB:?\s+(.+)$/i

/** `1962`, `1962-03`, `1962-03-04`, with or without a time. Null for anything else: a date is never guessed. */
export function parseIsoBirth(text: string): BirthDate | null {
  const match = ISO.exec(text.trim())
  return match && spanOf(Number(match[1]), numberOf(match[2]), numberOf(match[3]))
}

/** A date in words: `12 Mar 1962`, `March 1962`, `circa 1962`, `1958 to 1962`, `between 1958 and 1962`, or ISO. */
export function parseBirthText(text: string): BirthDate | null {
  const trimmed = text.trim().replace(/\.$/, '')
  const plain = trimmed.replace(CIRCA, '')
  const span = parsePoint(plain) ?? parseRange(plain)
  return span && { ...span, circa: span.circa || plain !== trimmed }
}

/** The birth dates in OFAC's remarks: `DOB 12 Mar 1962; alt. DOB circa 1963; POB …`. */
export function birthsInRemarks(remarks: string): BirthDate[] {
  return remarks.split(';').flatMap((part) => {
    const match = REMARK.exec(part.trim())
    return (match?.[1] && parseBirthText(match[1])) || []
  })
}

/** The fields of an `INDIVIDUAL_DATE_OF_BIRTH` of the UN, each empty where the list has none. */
export interface UnBirth {
  type: string
  date: string
  year: string
  fromYear: string
  toYear: string
  note: string
}

/** The UN writes months without a day into the note, and sometimes that a range is approximate. */
export function parseUnBirth({ type, date, year, fromYear, toYear, note }: UnBirth): BirthDate | null {
  const circa = /^approx/i.test(type.trim()) || /^(?:approx|circa)/i.test(note.trim())
  const span =
    fromYear.trim() === '' && toYear.trim() === ''
      ? parseIsoBirth(date.trim() === '' ? year : date)
      : joinSpan(parseIsoBirth(fromYear), parseIsoBirth(toYear))
  const found = span ?? (date.trim() === '' && year.trim() === '' ? parseBirthText(note) : null)
  return found && { ...found, circa: found.circa || circa }
}

function parsePoint(text: string): BirthDate | null {
  const match = SPOKEN.exec(text)
  if (!match) return parseIsoBirth(text)
  if (match[2] === undefined) return spanOf(Number(match[3]))
  const word = match[2].toLowerCase()
  const month = MONTHS.findIndex((name) => name.startsWith(word)) + 1
  return month === 0 ? null : spanOf(Number(match[3]), month, numberOf(match[1]))
}

function parseRange(text: string): BirthDate | null {
  for (const range of RANGES) {
    const match = range.exec(text)
    if (match?.[1] && match[2]) return joinSpan(parsePart(match[1]), parsePart(match[2]))
  }
  return null
}

function parsePart(text: string): BirthDate | null {
  const plain = text.replace(CIRCA, '')
  const point = parsePoint(plain)
  return point && { ...point, circa: plain !== text }
}

function joinSpan(first: BirthDate | null, last: BirthDate | null): BirthDate | null {
  if (!first || !last || first.from > last.to) return null
  return { from: first.from, to: last.to, circa: first.circa || last.circa }
}

/** A month or a day of zero is as impossible as a thirteenth one. */
function spanOf(year: number, month?: number, day?: number): BirthDate | null {
  if (year < FIRST_YEAR || year > LAST_YEAR) return null
  if (month === undefined) return { from: year * 10_000 + 101, to: year * 10_000 + 1231, circa: false }
  if (month < 1 || month > 12) return null
  const lastDay = month === 2 && isLeapYear(year) ? 29 : (DAYS[month - 1] ?? 0)
  const base = year * 10_000 + month * 100
  if (day === undefined) return { from: base + 1, to: base + lastDay, circa: false }
  return day < 1 || day > lastDay ? null : { from: base + day, to: base + day, circa: false }
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}
