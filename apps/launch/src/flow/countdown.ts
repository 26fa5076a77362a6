/** The page shows the remaining time only from here on: earlier, a countdown only makes people nervous. */
const MATTERS_FROM_SECONDS = 120

/** Whole seconds until a moment, never below zero. */
export function secondsUntil(untilMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((untilMs - nowMs) / 1000))
}

export function matters(secondsLeft: number): boolean {
  return secondsLeft <= MATTERS_FROM_SECONDS
}

const LAST_MINUTE_SECONDS = 60
export type Mark = 'matters' | 'last_minute'

/** The moments at which the remaining time is announced; null before the first one. */
export function markOf(secondsLeft: number): Mark | null {
  if (!matters(secondsLeft)) return null
  return secondsLeft <= LAST_MINUTE_SECONDS ? 'last_minute' : 'matters'
}

/** Minutes and seconds, in the digits of the language. */
export function clockText(seconds: number, locale: string): string {
  const whole = new Intl.NumberFormat(locale, { useGrouping: false })
  const padded = new Intl.NumberFormat(locale, { minimumIntegerDigits: 2 })
  return `${whole.format(Math.floor(seconds / 60))}:${padded.format(seconds % 60)}`
}

/** By how much the server's clock is ahead of this device's, from a `Date` header; null if the header cannot be read. */
export function serverAheadMs(date: string | null, nowMs: number): number | null {
  const serverMs = date === null ? Number.NaN : Date.parse(date)
  return Number.isNaN(serverMs) ? null : serverMs - nowMs
}
