import { setTimeout as sleep } from 'node:timers/promises'
import { watchCells } from './cell-gauges.ts'
import type { Cell, Cells } from './cells.ts'
import type { Clock } from './clock.ts'
import type { HealthMonitor } from './health.ts'
import { leaseStore } from './lease-store.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** What a process sees of a cell beside its own work. */
export interface CellState {
  /** Workers that serve the cell, by its leases. */
  workers: number
  /** Workers that run and leave the cell to others. Where there are no others, their clocks are wrong. */
  idle: number
  /** For how long there has been none; 0 while there is one. */
  withoutWorkerSeconds: number
  /** How far the clock of this process is ahead of the database's. The way there and back does not count. */
  clockAheadSeconds: number
}

interface Deps {
  cells: Cells
  clock: Clock
  log: Log
  metrics: Metrics
  monitor: HealthMonitor
}

const EVERY_MS = 10_000
const PATIENCE_MS = 1_500
/** A worker that is started again comes back sooner. */
const GRACE_SECONDS = 30

export type CellStates = ReturnType<typeof createCellStates>

/** Asks each cell at most every ten seconds. */
export function createCellStates({ clock }: { clock: Clock }) {
  const seen = new Map<string, { atMs: number; state: Promise<CellState> }>()
  const missingSinceMs = new Map<string, number>()

  async function ask({ name, db }: Cell): Promise<CellState> {
    const before = clock.now().getTime()
    const { now, workers, idle, lastLeaseEndsAt } = await leaseStore.state(db)
    const clockAheadSeconds = aheadSeconds({ before, after: clock.now().getTime() }, now)
    if (workers > 0) {
      missingSinceMs.delete(name)
      return { workers, idle, withoutWorkerSeconds: 0, clockAheadSeconds }
    }
    const nowMs = clock.monotonicMs()
    // A worker that left has taken its lease with it; of one that died the lease is still there.
    const expiredMs = lastLeaseEndsAt ? Math.max(0, now.getTime() - lastLeaseEndsAt.getTime()) : 0
    const sinceMs = Math.min(missingSinceMs.get(name) ?? nowMs, nowMs - expiredMs)
    missingSinceMs.set(name, sinceMs)
    return { workers, idle, withoutWorkerSeconds: (nowMs - sinceMs) / 1000, clockAheadSeconds }
  }

  return {
    of(cell: Cell): Promise<CellState> {
      const nowMs = clock.monotonicMs()
      const known = seen.get(cell.name)
      if (known && nowMs - known.atMs < EVERY_MS) return known.state
      const state = ask(cell)
      // What failed is asked again.
      state.catch(() => seen.delete(cell.name))
      seen.set(cell.name, { atMs: nowMs, state })
      return state
    },
  }
}

/** By how much a moment of the database lies outside the time that asking for it took. */
export function aheadSeconds({ before, after }: { before: number; after: number }, now: Date): number {
  const at = now.getTime()
  if (at < before) return (before - at) / 1000
  return at > after ? (after - at) / 1000 : 0
}

export function watchCellStates({ cells, clock, log, metrics }: Omit<Deps, 'monitor'>, states: CellStates): void {
  watchCells(
    { metrics, cells, clock, log },
    {
      everyMs: EVERY_MS,
      measure: states.of,
      gauges: [
        {
          name: 'ostiary_workers',
          help: 'Workers that serve the cell, by its leases: sessions end, webhooks leave and data is deleted only with one',
          read: ({ workers }) => workers,
        },
        {
          name: 'ostiary_db_clock_difference_seconds',
          help: 'How far the clock of this process is ahead of the database’s',
          read: ({ clockAheadSeconds }) => clockAheadSeconds,
        },
      ],
    },
  )
}

/** Makes the health of the API say that nobody serves a cell. Its readiness stays: it stores what the worker does later. */
export function reportMissingWorkers({ cells, monitor }: Pick<Deps, 'cells' | 'monitor'>, states: CellStates): void {
  const all = cells.all()
  for (const cell of all) {
    monitor.report(all.length === 1 ? 'worker' : `worker ${cell.name}`, async () => {
      const state = await Promise.race([states.of(cell), sleep(PATIENCE_MS, undefined, { ref: false })])
      const seconds = Math.floor(state?.withoutWorkerSeconds ?? 0)
      if (seconds <= GRACE_SECONDS) return undefined
      const remedy = state?.idle ? 'the clock of the one that runs is 5 s or more off' : 'start one'
      return `none for ${seconds} s: ${remedy}, webhooks and deletions wait`
    })
    // The time without one counts from the start of the process, not from the first question.
    states.of(cell).catch(() => undefined)
  }
}
