import { setTimeout as sleep } from 'node:timers/promises'
import type { Cells } from '../platform/cells.ts'
import type { Db } from '../platform/db.ts'
import type { Leases } from '../platform/leases.ts'
import { logFailure } from '../platform/reachability.ts'
import { type AttemptDeps, type Attempts, createAttempts } from './attempt.ts'
import { createLanes, LANE_LIMITS, type LaneLimits, type Task } from './lanes.ts'
import { createLoop } from './loop.ts'

export type DispatcherDeps = Omit<AttemptDeps, 'db'> & { cells: Cells; leases: Leases }

export interface DispatcherOptions {
  limits?: Partial<LaneLimits>
  /** Longer than an attempt and the storing of its result together: after the lease another worker sends the delivery. */
  leaseMs?: number
}

const LEASE_MS = 30_000
const SWEEP_EVERY_MS = 250

/**
 * Takes due deliveries from the queue of every cell, sends them and stores the results. Any number of workers do this at
 * once. A worker takes a row by setting its due time to the end of a lease, so the rows of a worker that dies become due again by
 * themselves. A delivery can therefore arrive twice, with the same id. It is never lost.
 */
export function createDispatcher(deps: DispatcherDeps, options: DispatcherOptions = {}) {
  const { cells, clock, log, metrics, leases } = deps
  const { leaseMs = LEASE_MS } = options
  const attemptsByCell = new Map<Db, Attempts>(cells.all().map(({ db }) => [db, createAttempts({ ...deps, db })]))
  const lanes = createLanes({ ...LANE_LIMITS, ...options.limits }, runAttempt, () => {
    for (const loop of loops) loop.wake()
  })
  const loops = cells.all().map((cell) => {
    const backlog = () => attemptsByCell.get(cell.db)?.backlog() ?? 0
    return createLoop({ cell, clock, log, lanes, duty: leases.of(cell), leaseMs, backlog })
  })
  let sweeping: NodeJS.Timeout | undefined
  metrics.inFlight(() => lanes.inFlight())

  async function runAttempt(task: Task): Promise<void> {
    try {
      await attemptsByCell.get(task.db)?.runAttempt(task)
    } catch (err) {
      logFailure(log, 'error', { err, tenantId: task.claim.tenantId }, 'a webhook could not be prepared')
    }
    lanes.done(task, clock.monotonicMs())
  }

  /** Never throws: a delivery that cannot be returned becomes due when its lease ends. */
  async function returnToQueue(tasks: readonly Task[]): Promise<void> {
    const byCell = Map.groupBy(tasks, ({ db }) => db)
    await Promise.all([...byCell].map(([db, some]) => attemptsByCell.get(db)?.returnToQueue(some)))
  }

  /** Waits until no attempt is running and no delivery waits in a lane. */
  async function idle(deadlineMs = Number.POSITIVE_INFINITY): Promise<void> {
    while (lanes.held() > 0 && clock.monotonicMs() < deadlineMs) await sleep(2)
  }

  async function drain(deadlineMs?: number): Promise<void> {
    await Promise.all([...attemptsByCell.values()].map((attempts) => attempts.drain(deadlineMs)))
  }

  return {
    start(): void {
      sweeping ??= setInterval(() => void returnToQueue(lanes.sweep(clock.monotonicMs())), SWEEP_EVERY_MS).unref()
      for (const loop of loops) loop.start()
    },

    /** Takes no more deliveries, returns those that were not started, waits for the running attempts and stores their results. */
    async stop(timeoutMs: number): Promise<void> {
      const deadlineMs = clock.monotonicMs() + timeoutMs
      await Promise.all(loops.map((loop) => loop.stop()))
      await returnToQueue(lanes.takeWaiting())
      await idle(deadlineMs)
      await drain(deadlineMs)
      for (const attempts of attemptsByCell.values()) attempts.giveUp()
      clearInterval(sweeping)
      sweeping = undefined
    },

    /**
     * One pass without the loops: sends what is due (for each receiver at most as many as may run at once), waits for the
     * answers and stores them. Returns how many deliveries were taken. For tests and drills that move the clock themselves.
     */
    async tick(): Promise<number> {
      const taken = await Promise.all(loops.map((loop) => loop.once()))
      await idle()
      await drain()
      return taken.reduce((sum, count) => sum + count, 0)
    },
  }
}
export type Dispatcher = ReturnType<typeof createDispatcher>
