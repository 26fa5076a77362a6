import type { Look } from './look.ts'

/** The looks in a row that failed and say no more than that there was no answer. */
export interface Failing {
  looks: number
  sinceMs: number
}

const LOOKS_MAX = 3
const SILENCE_MAX_MS = 5_000

/**
 * Whether a cell takes readiness away. A database that says why it stores nothing does so at once. One that only does not answer may be slow
 * for a moment, and every process would leave the load balancer at the same time: it has three looks or five seconds. One that refuses new
 * logins may still serve the connections that were made before (`isUp`).
 */
export function judgeReadiness(
  look: Look,
  before: Failing | undefined,
  { nowMs, answeredMs, isUp }: { nowMs: number; answeredMs: number; isUp: boolean },
): { isReady: boolean; failing?: Failing } {
  if (look === 'ok' || (look === 'refused' && isUp)) return { isReady: true }
  if (look !== 'slow' && look !== 'unreachable') return { isReady: false }
  const hasAnswered = before === undefined || answeredMs > before.sinceMs
  const failing = hasAnswered ? { looks: 1, sinceMs: nowMs } : { ...before, looks: before.looks + 1 }
  return { isReady: failing.looks < LOOKS_MAX && nowMs - failing.sinceMs < SILENCE_MAX_MS, failing }
}
