import { Gauge } from 'prom-client'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Sessions } from './service.ts'

interface Deps {
  cells: Cells
  clock: Clock
  log: Log
  sessions: Sessions
}

/** How far the sweeper is behind: asked when the metrics are read, and cheap, because only what is due is counted. */
export function watchSessions(metrics: Metrics, { cells, clock, log, sessions }: Deps): void {
  const labelNames = ['cell']
  const overdue = new Gauge({
    name: 'ostiary_sessions_overdue',
    help: 'Sessions whose time is over and that are not ended yet; counts to 10,000',
    labelNames,
    registers: [metrics.registry],
  })
  new Gauge({
    name: 'ostiary_sessions_overdue_seconds',
    help: 'For how long the first of them has been due',
    labelNames,
    registers: [metrics.registry],
    async collect() {
      for (const { name, db } of cells.all()) {
        try {
          const { open, overdueSeconds } = await sessions.backlog(db, clock.now())
          overdue.set({ cell: name }, open)
          this.set({ cell: name }, overdueSeconds)
        } catch (err) {
          log.warn({ err, cell: name }, 'sessions could not be counted')
        }
      }
    },
  })
}
