import type { Day } from './types.ts'

/*
 * Days are compared as text and counted as whole numbers. No `Date` is involved: a birthday must not move with the time zone of
 * the device.
 */

/** Undefined when the calendar has no such day. */
export function toDay(year: number, month: number, dayOfMonth: number): Day | undefined {
  const isDay = month >= 1 && month <= 12 && dayOfMonth >= 1 && dayOfMonth <= daysInMonth(year, month)
  return isDay && year >= 1 && year <= 9999 ? format(year, month, dayOfMonth) : undefined
}

export function isDay(text: string): boolean {
  const [, year, month, dayOfMonth] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []
  return year !== undefined && toDay(Number(year), Number(month), Number(dayOfMonth)) !== undefined
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

export function addDays(day: Day, days: number): Day {
  return fromDayNumber(dayNumber(day) + days)
}

/** The same day of the calendar some years later; 1 March where that year has no 29 February. */
export function addYears(day: Day, years: number): Day {
  const { year, month, dayOfMonth } = parts(day)
  return toDay(year + years, month, dayOfMonth) ?? format(year + years, 3, 1)
}

export function daysBetween(from: Day, to: Day): number {
  return dayNumber(to) - dayNumber(from)
}

/**
 * The age in years: birthdays for the whole part, then the share of the days from the last birthday to the next. Who was born on
 * 29 February becomes a year older on 1 March of other years. Negative before birth.
 */
export function ageOn(today: Day, birth: Day): number {
  const years = parts(today).year - parts(birth).year
  const whole = addYears(birth, years) <= today ? years : years - 1
  const last = addYears(birth, whole)
  return whole + daysBetween(last, today) / daysBetween(last, addYears(birth, whole + 1))
}

function parts(day: Day): { year: number; month: number; dayOfMonth: number } {
  const [year = 0, month = 0, dayOfMonth = 0] = day.split('-').map(Number)
  return { year, month, dayOfMonth }
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

function format(year: number, month: number, dayOfMonth: number): Day {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(dayOfMonth).padStart(2, '0')}`
}

/** Days since 1 March of the year 0: years that begin in March have their leap day at the end. */
function dayNumber(day: Day): number {
  const { year, month, dayOfMonth } = parts(day)
  const marchYear = month > 2 ? year : year - 1
  const monthOfYear = (month + 9) % 12
  return daysBefore(marchYear) + Math.floor((153 * monthOfYear + 2) / 5) + dayOfMonth - 1
}

function fromDayNumber(number: number): Day {
  let marchYear = Math.floor(number / 365.2425)
  while (daysBefore(marchYear + 1) <= number) marchYear += 1
  while (daysBefore(marchYear) > number) marchYear -= 1
  const rest = number - daysBefore(marchYear)
  const monthOfYear = Math.floor((5 * rest + 2) / 153)
  const dayOfMonth = rest - Math.floor((153 * monthOfYear + 2) / 5) + 1
  return format(monthOfYear < 10 ? marchYear : marchYear + 1, ((monthOfYear + 2) % 12) + 1, dayOfMonth)
}

function daysBefore(marchYear: number): number {
  return marchYear * 365 + Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400)
}
