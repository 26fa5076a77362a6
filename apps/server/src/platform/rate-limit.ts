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
 * Generic cell rate algorithm: one number per caller, the time at which the caller has its full burst again. A caller may
 * use up BURST_SECONDS of its rate at once, or the burst that the call names. Kept in memory per process: with N processes a caller
 * can reach N times the rate (decision 0005).
 */
export interface RateLimiter {
  take(key: string, perSecond: number, nowMs: number, burstSeconds?: number): RateVerdict
  /** Seconds to wait before a request would be allowed; 0 when it is allowed now. Does not count as a request. */
  wait(key: string, perSecond: number, nowMs: number): number
  size(): number
}

export function createRateLimiter(maxCallers = 50_000): RateLimiter {
  const paidBackAt = new Map<string, number>()

  function makeRoom(nowMs: number): void {
    for (const [key, time] of paidBackAt) if (time <= nowMs) paidBackAt.delete(key)
    // Still full: many callers at once. The oldest entry is deleted, which gives that caller a fresh burst, not a refusal.
    for (const key of paidBackAt.keys()) {
      if (paidBackAt.size < maxCallers) break
      paidBackAt.delete(key)
    }
  }

  return {
    take(key, perSecond, nowMs, burstSeconds = BURST_SECONDS) {
      const cost = 1000 / perSecond
      const ahead = burstSeconds * 1000
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
    wait(key, perSecond, nowMs) {
      const next = Math.max(paidBackAt.get(key) ?? 0, nowMs) + 1000 / perSecond
      const overMs = next - nowMs - BURST_SECONDS * 1000
      return overMs <= 0.0005 ? 0 : Math.max(1, Math.ceil(overMs / 1000))
    },
    size: () => paidBackAt.size,
  }
}

/**
 * The caller that an address belongs to: the address itself for IPv4, its /64 for IPv6, because one subscriber has 2^64 addresses.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = plain.split('%', 1)[0]?.split('::') ?? []
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)
  const whole = [...groups, ...Array.from({ length: missing }, () => '0'), ...(tail ? tail.split(':') : [])]
  return `${whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
