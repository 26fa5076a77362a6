import { watchCells } from '../platform/cell-gauges.ts'
import type { Platform } from '../platform/platform.ts'
import type { Sessions } from './service.ts'

/** Only due sessions are counted, so this may run often. */
const EVERY_MS = 10_000

/** How far the sweeper is behind, in the cells that this worker serves. */
export function watchSessions(platform: Platform, sessions: Sessions): void {
  const { clock, leases } = platform
  watchCells(platform, {
    everyMs: EVERY_MS,
    isWatched: (cell) => leases.of(cell).isOn(),
    measure: ({ db }) => sessions.backlog(db, clock.now()),
    gauges: [
      {
        name: 'ostiary_sessions_overdue',
        help: 'Sessions whose time is over and that are not ended yet; counts to 10,000',
        read: ({ open }) => open,
      },
      {
        name: 'ostiary_sessions_overdue_seconds',
        help: 'For how long the first of them has been due',
        read: ({ overdueSeconds }) => overdueSeconds,
      },
    ],
  })
}
