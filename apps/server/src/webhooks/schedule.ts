import { type AttemptOutcome, type DeadReason, WEBHOOK_LIMITS } from '@ostiary/contract'

/** How an attempt went. */
export interface AttemptResult {
  outcome: AttemptOutcome
  status?: number | undefined
  /** From `Retry-After`, with a status for which we obey it. */
  retryAfterMs?: number | undefined
  /** The forbidden address came from a name: the next lookup may give another one. */
  isResolved?: boolean | undefined
}

/** The state of a delivery after an attempt. */
export type Plan =
  | { state: 'delivered' }
  | { state: 'pending'; nextAttemptAt: Date }
  | { state: 'dead'; reason: DeadReason }

export interface Situation {
  /** Attempts since the schedule started, including the one that just ended. */
  tries: number
  now: Date
  purgeAtMs: number
  /** A random number from 0 to 1. It spreads the retries of deliveries that failed together. */
  randomFraction: () => number
}

const JITTER = 0.2

/** The wait is at least as long as the receiver asked for (up to an hour), and no attempt is planned after the data is purged. */
export function planNext(result: AttemptResult, { tries, now, purgeAtMs, randomFraction }: Situation): Plan {
  const { outcome, retryAfterMs = 0 } = result
  if (outcome === 'delivered') return { state: 'delivered' }
  if (outcome === 'gone') return { state: 'dead', reason: 'gone' }
  if (outcome === 'forbidden' && !result.isResolved) return { state: 'dead', reason: 'forbidden' }
  const waitSeconds = WEBHOOK_LIMITS.retrySeconds[tries - 1]
  if (waitSeconds === undefined) return { state: 'dead', reason: 'exhausted' }
  const waitMs = waitSeconds * 1000 * (1 - JITTER + 2 * JITTER * randomFraction())
  const asked = Math.min(retryAfterMs, WEBHOOK_LIMITS.retryAfterSecondsMax * 1000)
  const nextAttemptAt = new Date(now.getTime() + Math.round(Math.max(waitMs, asked)))
  if (nextAttemptAt.getTime() >= purgeAtMs) return { state: 'dead', reason: 'retention' }
  return { state: 'pending', nextAttemptAt }
}

/** Classifies the answer of a receiver. */
export function attemptResultOf(status: number, retryAfter: string | undefined, now: Date): AttemptResult {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status }
  if (status === 410) return { outcome: 'gone', status }
  if (status < 400) return { outcome: 'redirect', status }
  const outcome = status >= 500 ? 'failed' : 'rejected'
  const counts = status === 429 || status === 503
  return { outcome, status, retryAfterMs: counts ? retryAfterMs(retryAfter, now) : undefined }
}

/** Seconds, or a date as in HTTP (RFC 9110, 10.2.3). Undefined for anything else, and for the past. */
export function retryAfterMs(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined
  const text = value.trim()
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000
  // `Date.parse` accepts much that is not an HTTP date; requiring a day of the week excludes most of it.
  const ms = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) - now.getTime() : Number.NaN
  return ms > 0 ? ms : undefined
}
