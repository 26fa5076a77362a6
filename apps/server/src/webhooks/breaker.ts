import type { AttemptOutcome } from '@ostiary/contract'

/** State of a receiver that fails. A healthy receiver has no stored state. */
export interface BreakerState {
  /** Failures in a row. */
  failures: number
  /** How often the breaker opened since the receiver last answered; 0 while failures are only counted. */
  openedTimes: number
  /** Until then nothing is sent; afterwards one delivery may probe the receiver. */
  openUntil: Date
}

/** What an attempt shows about its receiver: it answered, it failed, or nothing (no request was sent). */
export type Sign = 'alive' | 'failing' | 'none'

export const FAILURES_TO_OPEN = 5
const OPEN_MS = 15_000
const OPEN_MAX_MS = 600_000

/** A 4xx counts as alive: the receiver works and refuses this message. */
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
    case 'unsigned':
      return 'none'
  }
}

/** The state after an attempt; undefined means healthy. A probe is the one delivery that is sent while the breaker is open. */
export function nextBreakerState(
  state: BreakerState | undefined,
  { sign, probe, now }: { sign: Sign; probe: boolean; now: Date },
): BreakerState | undefined {
  if (sign === 'alive') return undefined
  // A probe that sent no request shows nothing: the next probe may be sent at once.
  if (sign === 'none') return state && probe ? { ...state, openUntil: now } : state
  const failures = (state?.failures ?? 0) + 1
  const openedTimes = state?.openedTimes ?? 0
  if (openedTimes > 0) {
    // Attempts that were running when the breaker opened show nothing new.
    return state && !probe ? state : opened(failures, openedTimes + 1, now)
  }
  return failures < FAILURES_TO_OPEN ? { failures, openedTimes: 0, openUntil: now } : opened(failures, 1, now)
}

function opened(failures: number, openedTimes: number, now: Date): BreakerState {
  const restMs = Math.min(OPEN_MS * 2 ** (openedTimes - 1), OPEN_MAX_MS)
  return { failures, openedTimes, openUntil: new Date(now.getTime() + restMs) }
}
