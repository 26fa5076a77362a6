import { BURST_SECONDS } from '@ostiary/contract'

export interface RateVerdict {
  allowed: boolean
  /** Requests that may be sent right now. */
  remaining: number
  /** Seconds until the full burst is available again. */
  resetSeconds: number
  retryAfterSeconds: number
}

/**
 * Generic cell rate algorithm: one number per caller, the time at which all that was taken is paid back. A caller may
 * run ahead by BURST_SECONDS. Kept in memory per process: with N processes a caller can reach N times the rate
 * (decision 0005).
 */
export interface RateLimiter {
  take(key: string, perSecond: number, nowMs: number): RateVerdict
  size(): number
}

export function createRateLimiter(maxCallers = 50_000): RateLimiter {
  const paidBackAt = new Map<string, number>()

  function makeRoom(nowMs: number): void {
    for (const [key, time] of paidBackAt) if (time <= nowMs) paidBackAt.delete(key)
    // Still full: many callers at once. The one seen first is forgotten, which gives it a fresh burst, not a refusal.
    for (const key of paidBackAt.keys()) {
      if (paidBackAt.size < maxCallers) break
      paidBackAt.delete(key)
    }
  }

  return {
    take(key, perSecond, nowMs) {
      const cost = 1000 / perSecond
      const ahead = BURST_SECONDS * 1000
      const base = Math.max(paidBackAt.get(key) ?? 0, nowMs)
      const next = base + cost
      // Half a microsecond of tolerance: sums of fractions must not refuse the last request of a burst.
      const allowed = next - nowMs <= ahead + 0.0005
      if (allowed) {
        if (paidBackAt.size >= maxCallers && !paidBackAt.has(key)) makeRoom(nowMs)
        paidBackAt.set(key, next)
      }
      const owed = (allowed ? next : base) - nowMs
      return {
        allowed,
        remaining: Math.max(0, Math.floor((ahead - owed) / cost + 1e-6)),
        resetSeconds: Math.ceil(owed / 1000),
        retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((next - ahead - nowMs) / 1000)),
      }
    },
    size: () => paidBackAt.size,
  }
}
