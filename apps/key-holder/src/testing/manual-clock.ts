import type { Clock } from '../platform/clock.ts'

/** A clock that stands still until it is moved. A sleep moves it. */
export interface ManualClock extends Clock {
  advance(ms: number): void
  /** How long each sleep was, in order. */
  readonly sleeps: number[]
}

export const SECOND_MS = 1_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export function createManualClock(start = '2026-11-15T12:00:00.000Z'): ManualClock {
  let nowMs = Date.parse(start)
  const sleeps: number[] = []
  return {
    sleeps,
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
    advance(ms) {
      nowMs += ms
    },
    async sleep(ms) {
      sleeps.push(ms)
      nowMs += ms
    },
  }
}
