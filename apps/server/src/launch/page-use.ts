import { setTimeout as sleep } from 'node:timers/promises'
import { LAUNCH_RATES } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { networksOf } from '../platform/networks.ts'
import type { RateLimiter } from '../platform/rate-limit.ts'
import type { Sessions } from '../sessions/index.ts'
import { embedOriginsFor, type Settings } from '../settings/index.ts'

interface Deps {
  sessions: Sessions
  settings: Settings
  addressLimiter: RateLimiter
  clock: Clock
  log: Log
}

/** How long the page waits for the list of framing origins. After that it is served without: a page that nobody can frame is better than no page. */
const PATIENCE_MS = 1_000

/**
 * Who may frame the page of a session. Costs one indexed read, and at most every few seconds the tenant's settings. Whatever
 * goes wrong, the page itself is served, and nobody may frame it.
 */
export function createPageUse({ sessions, settings, addressLimiter, clock, log }: Deps) {
  async function look(sessionId: string): Promise<string[]> {
    const owner = await sessions.findOwner(sessionId)
    if (!owner) return []
    const { embedOrigins } = await settings.get(owner.tenantId)
    return embedOriginsFor(embedOrigins, owner.livemode)
  }

  return {
    async embedOriginsOf(sessionId: string, address: string): Promise<string[]> {
      const { perSecond, burstSeconds } = LAUNCH_RATES.address
      // An address that invents session ids must not reach the database without a limit.
      const networks = networksOf(address, 'page')
      if (!addressLimiter.take(networks, perSecond, clock.monotonicMs(), burstSeconds).allowed) return []
      const enough = new AbortController()
      const tooLate = sleep(PATIENCE_MS, [], { signal: enough.signal }).catch(() => [])
      const looked = look(sessionId).catch((err: unknown) => {
        log.warn({ err }, 'cannot read which origins may frame the page')
        return []
      })
      try {
        return await Promise.race([looked, tooLate])
      } finally {
        enough.abort()
      }
    },
  }
}
export type PageUseFinder = ReturnType<typeof createPageUse>
