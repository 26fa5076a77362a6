import type { AttemptOutcome } from '@ostiary/contract'

/** A receiver in trouble. Healthy ones have no state at all. */
export interface Trouble {
  /** Failures in a row. */
  failures: number
  /** How often it was given a rest since it last answered; 0 while failures are only counted. */
  openedTimes: number
  /** Until then nothing is sent; afterwards one delivery may probe. */
  openUntil: Date
}

/** What an attempt says about its receiver: it answered, it did not, or nothing (we did not ask). */
export type Sign = 'alive' | 'failing' | 'none'

export const FAILURES_TO_OPEN = 5
const OPEN_MS = 15_000
const OPEN_MAX_MS = 600_000

/** A 4xx is an answer: the receiver works, and does not like this message. */
export function signOf(outcome: AttemptOutcome): Sign {
  switch (outcome) {
    case 'delivered':
    case 'rejected':
    case 'redirect':
    case 'gone':
      return 'alive'
    case 'failed':
    case 'timeout':
    case 'refused':
    case 'dns':
    case 'tls':
      return 'failing'
    case 'forbidden':
    case 'sandbox':
      return 'none'
  }
}

/** The state after an attempt; undefined is healthy. A probe is the one delivery that is sent while the receiver rests. */
export function nextTrouble(
  trouble: Trouble | undefined,
  { sign, probe, now }: { sign: Sign; probe: boolean; now: Date },
): Trouble | undefined {
  if (sign === 'alive') return undefined
  // A probe that asked nobody has proved nothing: the next may go at once.
  if (sign === 'none') return trouble && probe ? { ...trouble, openUntil: now } : trouble
  const failures = (trouble?.failures ?? 0) + 1
  const openedTimes = trouble?.openedTimes ?? 0
  if (openedTimes > 0) {
    // Those that were under way when the rest began say nothing new.
    return trouble && !probe ? trouble : opened(failures, openedTimes + 1, now)
  }
  return failures < FAILURES_TO_OPEN ? { failures, openedTimes: 0, openUntil: now } : opened(failures, 1, now)
}

function opened(failures: number, openedTimes: number, now: Date): Trouble {
  const restMs = Math.min(OPEN_MS * 2 ** (openedTimes - 1), OPEN_MAX_MS)
  return { failures, openedTimes, openUntil: new Date(now.getTime() + restMs) }
}
