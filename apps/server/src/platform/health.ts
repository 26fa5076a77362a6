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
}

const PING = sql('health.ping', 'select 1 as ok')
const FRESH_MS = 1_000
const PATIENCE_MS = 1_500

/** Asks the database at most once a second, however often it is asked itself: the route needs no key. */
export function createHealthMonitor(service: string, version: string, cells: Cells, clock: Clock): HealthMonitor {
  const startedMs = clock.monotonicMs()
  let phase: 'starting' | 'running' | 'stopping' = 'starting'
  let last: { atMs: number; storeWorks: Promise<boolean> } | undefined

  function storeWorks(): Promise<boolean> {
    const nowMs = clock.monotonicMs()
    if (!last || nowMs - last.atMs > FRESH_MS) last = { atMs: nowMs, storeWorks: pingAll(cells) }
    return last.storeWorks
  }

  return {
    async health() {
      const works = await storeWorks()
      return {
        status: works ? 'ok' : 'degraded',
        service,
        version,
        uptimeSeconds: Math.floor((clock.monotonicMs() - startedMs) / 1000),
        checks: { store: works ? 'ok' : 'failed' },
      }
    },
    async readiness() {
      if (phase !== 'running') return phase
      return (await storeWorks()) ? 'ok' : 'degraded'
    },
    markStarted: () => {
      phase = 'running'
    },
    markStopping: () => {
      phase = 'stopping'
    },
  }
}

async function pingAll(cells: Cells): Promise<boolean> {
  const answers = await Promise.all(
    cells.all().map(({ db }) =>
      Promise.race([
        db.rows(PING).then(
          () => true,
          () => false,
        ),
        patience(),
      ]),
    ),
  )
  return answers.every(Boolean)
}

function patience(): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), PATIENCE_MS).unref()
  })
}
