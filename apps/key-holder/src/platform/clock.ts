import { setTimeout as wait } from 'node:timers/promises'

/** The only source of time. Tests pass a clock that they can move. */
export interface Clock {
  now(): Date
  /** For durations: never goes back. */
  monotonicMs(): number
  sleep(ms: number): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms) => wait(ms),
}

/** The day in UTC, as PostgreSQL writes it. Budgets are counted by it. */
export const dayOf = (time: Date) => time.toISOString().slice(0, 10)

export const secondsAfter = (time: Date, seconds: number) => new Date(time.getTime() + seconds * 1000)
