/** The only source of time. Tests pass a clock that they can move. */
export interface Clock {
  now(): Date
  /** For durations: never goes back. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
}

export const DAY_MS = 86_400_000
