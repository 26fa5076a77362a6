import type { Health } from '@ostiary/contract'
import type { Cells } from './cells.ts'
import type { Clock } from './clock.ts'
import { sql } from './db.ts'

export interface HealthMonitor {
  health(): Promise<Health>
  /** Whether a load balancer should send traffic. */
  readiness(): Promise<'ok' | 'starting' | 'stopping' | 'degraded'>
  markStarted(): void
  markStopping(): void
  /** Adds a warning: while it is true, `health` shows it as `stale`. It changes neither the status nor the readiness. */
  warn(name: string, isStale: () => Promise<boolean>): void
}

// A server that has become a standby answers queries but cannot store anything.
const PING = sql('health.ping', 'select not pg_is_in_recovery() as ok')
const FRESH_MS = 1_000
const PATIENCE_MS = 1_500

/** Checks database and warnings at most once a second, however often the route is called, because the route needs no key. */
export function createHealthMonitor(service: string, version: string, cells: Cells, clock: Clock): HealthMonitor {
  const startedMs = clock.monotonicMs()
  let phase: 'starting' | 'running' | 'stopping' = 'starting'
  const warnings = new Map<string, () => Promise<boolean>>()
  let last: { atMs: number; checks: Promise<Map<string, boolean>>; stale: Promise<string[]> } | undefined

  function look() {
    const nowMs = clock.monotonicMs()
    if (!last || nowMs - last.atMs > FRESH_MS) last = { atMs: nowMs, checks: pingAll(cells), stale: listStale() }
    return last
  }

  async function listStale(): Promise<string[]> {
    const found: string[] = []
    for (const [name, isStale] of warnings) if (await isStale().catch(() => false)) found.push(name)
    return found
  }

  return {
    async health() {
      const looked = look()
      const [checks, stale] = [[...(await looked.checks)], await looked.stale]
      return {
        status: checks.every(([, works]) => works) ? 'ok' : 'degraded',
        service,
        version,
        uptimeSeconds: Math.floor((clock.monotonicMs() - startedMs) / 1000),
        checks: Object.fromEntries([
          ...checks.map(([name, works]) => [name, works ? ('ok' as const) : ('failed' as const)] as const),
          ...stale.map((name) => [name, 'stale' as const] as const),
        ]),
      }
    },
    async readiness() {
      if (phase !== 'running') return phase
      // If one of several cells is away, the tenants of the others must still be served.
      return [...(await look().checks).values()].some(Boolean) ? 'ok' : 'degraded'
    },
    markStarted: () => {
      // A signal may have come during the start.
      if (phase === 'starting') phase = 'running'
    },
    markStopping: () => {
      phase = 'stopping'
    },
    warn: (name, isStale) => void warnings.set(name, isStale),
  }
}

/** One entry per cell; a single database is reported as `store`. */
async function pingAll(cells: Cells): Promise<Map<string, boolean>> {
  const all = cells.all()
  const answers = all.map(async ({ name, db }): Promise<[string, boolean]> => {
    const works = db.rows<{ ok: boolean }>(PING).then(
      ([answer]) => answer?.ok === true,
      () => false,
    )
    return [all.length === 1 ? 'store' : `store ${name}`, await Promise.race([works, patience()])]
  })
  return new Map(await Promise.all(answers))
}

function patience(): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), PATIENCE_MS).unref()
  })
}
