import { Gauge } from 'prom-client'
import type { Leases } from '../platform/leases.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Platform } from '../platform/platform.ts'
import { logFailure } from '../platform/reachability.ts'
import type { Sessions } from './service.ts'

interface Deps extends Pick<Platform, 'cells' | 'clock' | 'log'> {
  leases: Leases
  sessions: Sessions
}

/**
 * How far the sweeper is behind, in the cells that this worker serves. Counted whenever the metrics are read, which is cheap, because only due
 * sessions are counted.
 */
export function watchSessions(metrics: Metrics, { cells, clock, log, leases, sessions }: Deps): void {
  const labelNames = ['cell']
  const gauge = (name: string, help: string, read: (found: { open: number; overdueSeconds: number }) => number) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [metrics.registry],
      async collect() {
        this.reset()
        for (const { name: cell, db } of cells.all().filter((one) => leases.of(one).isOn())) {
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
