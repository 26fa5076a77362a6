import { setTimeout as sleep } from 'node:timers/promises'
import type { Cell } from '../platform/cells.ts'
import { type Clock, DAY_MS } from '../platform/clock.ts'
import type { CellDuty } from '../platform/leases.ts'
import type { Log } from '../platform/log.ts'
import { logFailure } from '../platform/reachability.ts'
import type { Sweeper } from '../platform/sweeper.ts'
import { dueStore, type OpenDays } from './due-store.ts'

interface Deps {
  cell: Cell
  clock: Clock
  log: Log
  duty: CellDuty
}

/** By how much a session that is due may be ended late. */
const LOOK_EVERY_MS = 200
/** Sessions of other days stay open when no worker ran for days, or when they cannot be opened. */
const LOOK_EVERYWHERE_MS = 60_000
const AFTER_FAILURE_MS = 1_000

/**
 * Looks five times a second, with one small statement for all areas, whether a session of the cell is due, and starts the sweepers when
 * one is. Only a worker that serves the cell looks.
 */
export function createDueWatch({ cell: { name, db }, clock, log, duty }: Deps) {
  const sweepers = new Set<Sweeper>()
  let stopping = new AbortController()
  let running: Promise<void> | undefined
  let days: OpenDays | undefined
  let lookedEverywhereMs = Number.NEGATIVE_INFINITY

  async function isDue(): Promise<boolean> {
    const now = clock.now()
    if (clock.monotonicMs() - lookedEverywhereMs >= LOOK_EVERYWHERE_MS) {
      // A partition may have been made late, with rows of the default partition.
      days = undefined
      const found = await dueStore.isDueAnywhere(db, now)
      lookedEverywhereMs = clock.monotonicMs()
      if (found) return true
    }
    if (days?.until !== Math.floor(now.getTime() / DAY_MS)) days = await dueStore.openDays(db, now)
    return dueStore.isDue(db, days, now)
  }

  /** Returns how long to wait before the next look. */
  async function look(): Promise<number> {
    const idle = [...sweepers].filter((sweeper) => !sweeper.isBusy())
    if (idle.length === 0 || !db.isUp() || !duty.isOn()) return LOOK_EVERY_MS
    try {
      if (await isDue()) for (const sweeper of idle) sweeper.sweep()
      return LOOK_EVERY_MS
    } catch (err) {
      days = undefined
      logFailure(log, 'warn', { err, cell: name }, 'the worker could not ask which sessions are due')
      return AFTER_FAILURE_MS
    }
  }

  async function run({ signal }: AbortController): Promise<void> {
    while (!signal.aborted) {
      const waitMs = await look()
      await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    }
  }

  return {
    add(sweeper: Sweeper): void {
      sweepers.add(sweeper)
      if (running) return
      stopping = new AbortController()
      running = run(stopping)
    },
    /** Ends with the last sweeper. */
    async remove(sweeper: Sweeper): Promise<void> {
      sweepers.delete(sweeper)
      if (sweepers.size > 0) return
      stopping.abort()
      await running
      running = undefined
    },
  }
}
