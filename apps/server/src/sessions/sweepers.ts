import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Leases } from '../platform/leases.ts'
import type { Log } from '../platform/log.ts'
import { createSweeper, RUNS_AT_ONCE } from '../platform/sweeper.ts'
import { createDueWatch } from './due-watch.ts'

/** Batches that one worker ends at once in each cell. */
export const SWEEPERS = RUNS_AT_ONCE

export interface AreaSweepers {
  start(): void
  /** Waits for the batches that are under way. */
  stop(): Promise<void>
}

/**
 * Ends the sessions whose time is over, on every cell. Each area adds how it ends its own; `expireDue` returns how many sessions it
 * handled. The areas share the look whether something is due.
 */
export function createSweepers({
  cells,
  clock,
  log,
  leases,
}: {
  cells: Cells
  clock: Clock
  log: Log
  leases: Leases
}) {
  const watched = cells.all().map((cell) => {
    const duty = leases.of(cell)
    return { cell, duty, watch: createDueWatch({ cell, clock, log, duty }) }
  })
  return (expireDue: (db: Db) => Promise<number>): AreaSweepers => {
    const own = watched.map(({ cell, duty, watch }) => ({
      watch,
      sweeper: createSweeper({ cell, duty, log, run: expireDue }),
    }))
    return {
      start() {
        for (const { watch, sweeper } of own) watch.add(sweeper)
      },
      async stop() {
        await Promise.all(own.flatMap(({ watch, sweeper }) => [watch.remove(sweeper), sweeper.stop()]))
      },
    }
  }
}
