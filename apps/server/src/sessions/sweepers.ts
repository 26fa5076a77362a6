import type { Cells } from '../platform/cells.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { createSweeper, type Sweeper } from '../platform/sweeper.ts'

/** Sweepers that one worker runs for each cell: while one waits for the database, another computes. */
export const SWEEPERS = 3

/** End the sessions of one area whose time is over, on every cell. `expireDue` returns how many sessions it handled. */
export function createSweepers(
  { cells, log }: { cells: Cells; log: Log },
  expireDue: (db: Db) => Promise<number>,
): Sweeper {
  const sweepers = cells
    .all()
    .flatMap((cell) => Array.from({ length: SWEEPERS }, () => createSweeper({ cell, run: expireDue, log })))
  return {
    start() {
      for (const sweeper of sweepers) sweeper.start()
    },
    async stop() {
      await Promise.all(sweepers.map((sweeper) => sweeper.stop()))
    },
  }
}
