/** The days that a birth date stands for, as `YYYYMMDD`: one day, or all days of a month or a year. */
export interface DobSpan {
  from: number
  to: number
}

/** Reads `YYYY-MM-DD`, `YYYY-MM` and `YYYY`; undefined for an empty field. */
export function readDob(text: string): DobSpan | 'invalid' | undefined {
  const date = text.trim()
  if (date === '') return undefined
  const year = digits(date, 0, 4)
  if (!(year >= 1850 && year <= 2100)) return 'invalid'
  if (date.length === 4) return { from: year * 10_000 + 101, to: year * 10_000 + 1231 }
  const month = date[4] === '-' ? digits(date, 5, 2) : 0
  if (!(month >= 1 && month <= 12)) return 'invalid'
  const first = year * 10_000 + month * 100
  if (date.length === 7) return { from: first + 1, to: first + daysIn(year, month) }
  const day = date[7] === '-' && date.length === 10 ? digits(date, 8, 2) : 0
  if (!(day >= 1 && day <= daysIn(year, month))) return 'invalid'
  return { from: first + day, to: first + day }
}

function digits(text: string, start: number, count: number): number {
  let number = 0
  for (let at = start; at < start + count; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    number = number * 10 + digit
  }
  return number
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && isLeap ? 29 : (MONTH_DAYS[month - 1] ?? 0)
}
