import { Gauge } from 'prom-client'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { logFailure } from '../platform/reachability.ts'
import type { Sessions } from './service.ts'

interface Deps {
  cells: Cells
  clock: Clock
  log: Log
  sessions: Sessions
}

/** How far the sweeper is behind. Counted whenever the metrics are read, which is cheap, because only due sessions are counted. */
export function watchSessions(metrics: Metrics, { cells, clock, log, sessions }: Deps): void {
  const labelNames = ['cell']
  const gauge = (name: string, help: string, read: (found: { open: number; overdueSeconds: number }) => number) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [metrics.registry],
      async collect() {
        for (const { name: cell, db } of cells.all()) {
          try {
            this.set({ cell }, read(await sessions.backlog(db, clock.now())))
          } catch (err) {
            logFailure(log, 'warn', { err, cell }, 'sessions could not be counted')
          }
        }
      },
    })
  gauge(
    'ostiary_sessions_overdue',
    'Sessions whose time is over and that are not ended yet; counts to 10,000',
    ({ open }) => open,
  )
  gauge(
    'ostiary_sessions_overdue_seconds',
    'For how long the first of them has been due',
    ({ overdueSeconds }) => overdueSeconds,
  )
}
