import type { Clock } from '../clock.ts'

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  advance(ms: number): void
}

export function createManualClock(start = '2026-11-15T12:00:00.000Z'): ManualClock {
  let nowMs = Date.parse(start)
  return {
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
    advance(ms) {
      nowMs += ms
    },
  }
}
