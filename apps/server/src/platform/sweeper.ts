import { setTimeout as sleep } from 'node:timers/promises'
import type { Cell } from './cells.ts'
import type { Db } from './db.ts'
import type { Log } from './log.ts'
import { isAway, logFailure } from './reachability.ts'

export interface Sweeper {
  start(): void
  /** Waits for the current run. */
  stop(): Promise<void>
}

const IDLE_MS = 200
const WHILE_AWAY_MS = 200
const AFTER_ERROR_MS = 1_000
const AFTER_ERRORS_MAX_MS = 16_000

/**
 * Repeats work until the process stops: at once when the last run found something to do, after a pause when it did
 * not. For work that cannot wait for a schedule of minutes. The database is the queue, so a failed run loses nothing.
 */
export function createSweeper(deps: { cell: Cell; run(db: Db): Promise<number>; log: Log }): Sweeper {
  const { cell, run, log } = deps
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  async function loop(): Promise<void> {
    let afterErrorMs = AFTER_ERROR_MS
    while (!stopping.signal.aborted) {
      let pauseMs = WHILE_AWAY_MS
      try {
        if (cell.db.isUp()) {
          pauseMs = (await run(cell.db)) > 0 ? 0 : IDLE_MS
          afterErrorMs = AFTER_ERROR_MS
        }
      } catch (err) {
        logFailure(log, 'warn', { err, cell: cell.name }, 'a sweep failed and is tried again')
        // With the database away it waits above, and no longer than that.
        pauseMs = isAway(err) ? AFTER_ERROR_MS : afterErrorMs
        if (!isAway(err)) afterErrorMs = Math.min(afterErrorMs * 2, AFTER_ERRORS_MAX_MS)
      }
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  return {
    start() {
      running ??= loop()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
