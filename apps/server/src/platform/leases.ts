import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Gauge } from 'prom-client'
import { type Duty, decideDuty, isServed } from './cell-shares.ts'
import { aheadSeconds } from './cell-state.ts'
import type { Cell, Cells } from './cells.ts'
import type { Clock } from './clock.ts'
import { type Colleague, leaseStore } from './lease-store.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { createLabelledCounter } from './metrics.ts'
import { logFailure } from './reachability.ts'

/** Whether this worker looks for work in a cell. Work itself is locked row by row, however many look. */
export interface CellDuty {
  isOn(): boolean
  /** Says that there has been more to do for seconds than this worker can: workers with less to do come and help. */
  askForHelp(): void
}

export interface Leases {
  of(cell: Cell): CellDuty
  /** A sentence while the clock of this worker is wrong for every cell. */
  findClockFault(): string | undefined
  /** Calls `listener` when this worker begins or ceases to serve a cell. */
  follow(listener: (cell: Cell) => void): void
  /** Takes the first leases. Before, and in processes that never start this, every cell is served. */
  start(): Promise<void>
  /** Gives the leases back and returns when the other workers have seen that, or after `mostMs`. Work goes on meanwhile. */
  leave(mostMs?: number): Promise<void>
}

interface Deps {
  cells: Cells
  clock: Clock
  log: Log
  metrics: Metrics
}

interface Options {
  workerId?: string
  renewEveryMs?: number
  leaseMs?: number
}

interface Held {
  cell: Cell
  duty: Duty
  renewedMs: number
  /** The clocks of this process and of the database differ by so much that this worker leaves the cell to others. */
  isClockWrong: boolean
  helpUntilMs: number
  unserved: number
  hasColleagues: boolean
  /** What the listeners know. */
  announcedOn: boolean
}

const RENEW_EVERY_MS = 1_000
/** A worker that is busy, or waits for a slow database, misses a few renewals without losing its cells. */
const LEASE_MS = 5_000
const HELP_MS = 10_000
const CLOCK_WRONG_SECONDS = 5
/** A clock that was wrong counts as right again below this, so that one near the bound does not change sides every second. */
const CLOCK_RIGHT_SECONDS = 4
const QUICK_MS = 500

/**
 * Workers share cells: each looks for work in its share and leaves the other cells to others. A worker renews its lease in every cell once a
 * second; the clock of the database ends the lease of one that died. While leases cannot be renewed the worker looks everywhere,
 * as if there were none.
 */
export function createLeases({ cells, clock, log, metrics }: Deps, options: Options = {}): Leases {
  const { workerId = randomUUID(), renewEveryMs = RENEW_EVERY_MS, leaseMs = LEASE_MS } = options
  const held = new Map<string, Held>(cells.all().map((cell) => [cell.name, newHeld(cell)]))
  const names = [...held.keys()]
  const listeners: ((cell: Cell) => void)[] = []
  const takeovers = createLabelledCounter(
    'ostiary_worker_takeovers_total',
    'Cells that this worker began to serve: expired (the lease of the worker before ended), shared (workers came or went), help',
    { label: 'reason', values: ['expired', 'shared', 'help'] },
  )
  const stopping = new AbortController()
  let isStarted = false
  let keeping: Promise<void>[] = []

  const isOn = (one: Held) =>
    !isStarted || (!one.isClockWrong && (one.duty !== 'off' || clock.monotonicMs() - one.renewedMs > leaseMs))
  const needsHelp = (one: Held) => clock.monotonicMs() < one.helpUntilMs

  async function renew(one: Held): Promise<void> {
    const { cell } = one
    const lease = () => ({ workerId, duty: one.duty, needsHelp: needsHelp(one), leaseMs })
    const before = clock.now().getTime()
    const { now, colleagues } = await leaseStore.renew(cell.db, lease())
    if (stopping.signal.aborted) return
    const after = clock.now().getTime()
    noteClock(one, { ahead: aheadSeconds({ before, after }, now), tookMs: after - before })
    const others = colleagues.filter(({ isAlive }) => isAlive)
    one.hasColleagues = others.length > 0
    one.unserved = isServed(workerId, others) ? 0 : one.unserved + 1
    const isOverloaded = [...held.values()].some(needsHelp)
    const situation = { workerId, cell: cell.name, cells: names, others, isOverloaded, unserved: one.unserved }
    const isFirst = one.renewedMs === Number.NEGATIVE_INFINITY
    const duty = one.isClockWrong ? 'off' : decideDuty(situation)
    one.renewedMs = clock.monotonicMs()
    if (duty === one.duty) return
    if (one.duty === 'off' && !isFirst) noteTakeover(one, duty, colleagues)
    one.duty = duty
    // The others must not wait a second to learn it.
    await leaseStore.renew(cell.db, lease())
  }

  /** Work is due by the clock of the worker: with a wrong one it would end sessions early, or deliver late. */
  function noteClock(one: Held, { ahead, tookMs }: { ahead: number; tookMs: number }): void {
    const isWrong = Math.abs(ahead) >= (one.isClockWrong ? CLOCK_RIGHT_SECONDS : CLOCK_WRONG_SECONDS)
    // The way there and back is taken off: a slow answer does not show that a clock is right again.
    if (isWrong === one.isClockWrong || (!isWrong && tookMs > QUICK_MS)) return
    one.isClockWrong = isWrong
    const fields = { cell: one.cell.name, count: Math.round(ahead) }
    if (isWrong) log.error(fields, 'the clocks of worker and database differ by seconds: the worker looks for no work')
    else log.info(fields, 'the clocks of worker and database agree again')
  }

  function noteTakeover({ cell }: Held, duty: Duty, colleagues: readonly Colleague[]): void {
    const hasExpired = colleagues.some((one) => !one.isAlive && one.duty !== 'off')
    const reason = duty === 'help' ? 'help' : hasExpired ? 'expired' : 'shared'
    takeovers.count(reason)
    log.info({ cell: cell.name, detail: reason }, 'the worker serves one cell more')
  }

  async function renewSafely(one: Held): Promise<void> {
    if (!one.cell.db.isUp()) return
    try {
      await renew(one)
    } catch (err) {
      logFailure(log, 'warn', { err, cell: one.cell.name }, 'the lease of a cell could not be renewed')
    }
    if (stopping.signal.aborted || one.announcedOn === isOn(one)) return
    one.announcedOn = isOn(one)
    for (const listener of listeners) listener(one.cell)
  }

  async function keep(one: Held): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(renewEveryMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
      if (!stopping.signal.aborted) await renewSafely(one)
    }
  }

  function watch(): void {
    metrics.add(takeovers)
    new Gauge({
      name: 'ostiary_worker_cells',
      help: 'Cells that this worker serves, by why: own (its share), help (asked for), standby (nobody else does); off: left to others',
      labelNames: ['duty'],
      registers: [metrics.registry],
      collect() {
        for (const duty of ['own', 'help', 'standby', 'off'] as const)
          this.set({ duty }, [...held.values()].filter((one) => one.duty === duty).length)
      },
    })
  }

  return {
    of({ name }) {
      const one = held.get(name)
      if (!one) throw new Error(`No cell ${name}`)
      return {
        isOn: () => isOn(one),
        askForHelp: () => {
          one.helpUntilMs = clock.monotonicMs() + HELP_MS
        },
      }
    },
    findClockFault: () =>
      [...held.values()].every(({ isClockWrong }) => isClockWrong)
        ? 'The clock of this worker is 5 s or more apart from the database: it looks for no work'
        : undefined,
    follow: (listener) => void listeners.push(listener),
    async start() {
      if (isStarted) return
      isStarted = true
      watch()
      await Promise.all([...held.values()].map(renewSafely))
      keeping = [...held.values()].map(keep)
    },
    async leave(mostMs = Number.POSITIVE_INFINITY) {
      if (!isStarted || stopping.signal.aborted) return
      stopping.abort()
      // A renewal that is under way would undo the release.
      await Promise.all(keeping)
      const known = [...held.values()].filter(({ cell }) => cell.db.isUp())
      await Promise.all(known.map(({ cell }) => leaseStore.release(cell.db, workerId).catch(() => 0)))
      // Each of them looks once in this time.
      if (known.some(({ hasColleagues }) => hasColleagues)) await sleep(Math.min(renewEveryMs * 1.2, mostMs))
    },
  }
}

function newHeld(cell: Cell): Held {
  const never = Number.NEGATIVE_INFINITY
  return {
    cell,
    duty: 'off',
    renewedMs: never,
    isClockWrong: false,
    helpUntilMs: never,
    unserved: 0,
    hasColleagues: false,
    announcedOn: true,
  }
}
