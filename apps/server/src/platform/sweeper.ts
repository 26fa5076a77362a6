import type { Cell } from './cells.ts'
import type { Db } from './db.ts'
import type { CellDuty } from './leases.ts'
import type { Log } from './log.ts'
import { isAway, logFailure } from './reachability.ts'

export interface Sweeper {
  /** Starts to do what is due, unless that is under way, or failed a moment ago. */
  sweep(): void
  isBusy(): boolean
  /** Starts nothing more and waits for what is under way. */
  stop(): Promise<void>
}

interface Deps {
  cell: Cell
  duty: CellDuty
  log: Log
  /** Does a part of what is due, in a transaction of its own, and returns how many items that were. */
  run(db: Db): Promise<number>
}

/** Runs at once when there is much to do: while one waits for the database, another computes. */
export const RUNS_AT_ONCE = 3
/** With fewer items in a run, a second one beside it would find none. */
const MANY = 100
const AFTER_ERROR_MS = 1_000
const AFTER_ERRORS_MAX_MS = 16_000
const TOO_LONG_MS = 2_000

/**
 * Does work that cannot wait for a schedule of minutes, until no more is due. Somebody else knows when there may be some. The database is
 * the queue, so a failed run loses nothing.
 */
export function createSweeper({ cell, duty, log, run }: Deps): Sweeper {
  let running: Promise<void> | undefined
  let isStopping = false
  let pauseMs = AFTER_ERROR_MS
  let restUntilMs = Number.NEGATIVE_INFINITY

  async function repeat(sinceMs: number): Promise<void> {
    while (!isStopping && (await run(cell.db)) > 0) {
      if (performance.now() - sinceMs > TOO_LONG_MS) duty.askForHelp()
    }
  }

  async function work(): Promise<void> {
    const sinceMs = performance.now()
    try {
      const count = await run(cell.db)
      const runs = count >= MANY ? RUNS_AT_ONCE : Math.min(count, 1)
      await allOf(Array.from({ length: runs }, () => repeat(sinceMs)))
      pauseMs = AFTER_ERROR_MS
    } catch (err) {
      logFailure(log, 'warn', { err, cell: cell.name }, 'a sweep failed and is tried again')
      restUntilMs = performance.now() + (isAway(err) ? AFTER_ERROR_MS : pauseMs)
      if (!isAway(err)) pauseMs = Math.min(pauseMs * 2, AFTER_ERRORS_MAX_MS)
    }
  }

  const isBusy = () => running !== undefined || performance.now() < restUntilMs
  return {
    isBusy,
    sweep() {
      if (isStopping || isBusy()) return
      running = work().finally(() => {
        running = undefined
      })
    },
    async stop() {
      isStopping = true
      await running
    },
  }
}

/** Waits for all of them, and then throws what the first one that failed threw. */
async function allOf(runs: readonly Promise<void>[]): Promise<void> {
  const [failed] = (await Promise.allSettled(runs)).filter((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
