import { setTimeout as sleep } from 'node:timers/promises'
import { Gauge } from 'prom-client'
import type { Cell, Cells } from './cells.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { logFailure } from './reachability.ts'

interface Deps {
  metrics: Metrics
  cells: Cells
  clock: Clock
  log: Log
}

interface CellGauge<T> {
  name: string
  help: string
  /** A label beside the cell. `read` then returns a number for each of its values. */
  label?: string
  read(measured: T): number | Readonly<Record<string, number>>
}

interface CellWatch<T> {
  everyMs: number
  measure(cell: Cell): Promise<T>
  gauges: readonly CellGauge<T>[]
  /** Whether the process measures the cell. */
  isWatched?(cell: Cell): boolean
}

const PATIENCE_MS = 2_000
const AFTER_FAILURE_MS = 10_000

/**
 * Gauges of cells that share one measurement. Scrapes ask for it, at most every `everyMs`. A cell that does not answer in time has no
 * values: the other metrics are needed most at that moment.
 */
export function watchCells<T>({ metrics, cells, clock, log }: Deps, watch: CellWatch<T>): void {
  const { everyMs, measure, gauges, isWatched = () => true } = watch
  let nextMs = Number.NEGATIVE_INFINITY
  let answer: Promise<(readonly [string, T])[]> = Promise.resolve([])

  async function measureCell(cell: Cell): Promise<(readonly [string, T])[]> {
    try {
      return [[cell.name, await measure(cell)]]
    } catch (err) {
      nextMs = Math.min(nextMs, clock.monotonicMs() + AFTER_FAILURE_MS)
      logFailure(log, 'warn', { err, cell: cell.name }, 'a cell could not be measured for the metrics')
      return []
    }
  }

  function latest(): Promise<(readonly [string, T])[]> {
    if (clock.monotonicMs() >= nextMs) {
      nextMs = clock.monotonicMs() + everyMs
      const watched = cells.all().filter((cell) => cell.db.isUp() && isWatched(cell))
      answer = Promise.all(watched.map(measureCell)).then((found) => found.flat())
    }
    return Promise.race([answer, sleep(PATIENCE_MS, [], { ref: false })])
  }

  for (const { name, help, label, read } of gauges) {
    new Gauge({
      name,
      help,
      labelNames: ['cell', ...(label ? [label] : [])],
      registers: [metrics.registry],
      async collect() {
        const found = await latest()
        this.reset()
        for (const [cell, measured] of found) {
          const values = read(measured)
          if (typeof values === 'number') this.set({ cell }, values)
          else if (label)
            for (const [value, number] of Object.entries(values)) this.set({ cell, [label]: value }, number)
        }
      },
    })
  }
}
