import { setTimeout as sleep } from 'node:timers/promises'
import type { Cells } from '../platform/cells.ts'
import type { Leases } from '../platform/leases.ts'
import { type AttemptDeps, createAttempts } from './attempt.ts'
import { createLanes, LANE_LIMITS, type LaneLimits } from './lanes.ts'
import { createLoop } from './loop.ts'
import { createRecorder } from './recorder.ts'

export type DispatcherDeps = AttemptDeps & { cells: Cells; leases: Leases }

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
  const attempts = createAttempts(deps)
  const lanes = createLanes({ ...LANE_LIMITS, ...options.limits }, { clock, run: attempts.run, onCapacity })
  const queues = cells.all().map((cell) => {
    const recorder = createRecorder({ db: cell.db, clock, log })
    return { recorder, loop: createLoop({ cell, clock, log, lanes, recorder, duty: leases.of(cell), leaseMs }) }
  })
  let sweeping: NodeJS.Timeout | undefined
  metrics.inFlight(lanes.inFlight)

  function onCapacity(): void {
    for (const { loop } of queues) loop.wake()
  }

  /** Waits until no attempt is running and no delivery waits in a lane, and stores the attempts. */
  async function finish(deadlineMs = Number.POSITIVE_INFINITY): Promise<void> {
    while (lanes.held() > 0 && clock.monotonicMs() < deadlineMs) await sleep(2)
    await Promise.all(queues.map(({ recorder }) => recorder.drain(deadlineMs)))
  }

  return {
    start(): void {
      sweeping ??= setInterval(() => void attempts.returnToQueue(lanes.sweep()), SWEEP_EVERY_MS).unref()
      for (const { loop } of queues) loop.start()
    },

    /** Takes no more deliveries, returns those that were not started, waits for the running attempts and stores their results. */
    async stop(timeoutMs: number): Promise<void> {
      const deadlineMs = clock.monotonicMs() + timeoutMs
      await Promise.all(queues.map(({ loop }) => loop.stop()))
      await attempts.returnToQueue(lanes.takeWaiting())
      await finish(deadlineMs)
      for (const { recorder } of queues) recorder.giveUp()
      clearInterval(sweeping)
      sweeping = undefined
    },

    /**
     * One pass without the loops: sends what is due (for each receiver at most as many as may run at once), waits for the
     * answers and stores them. Returns how many deliveries were taken. For tests and drills that move the clock themselves.
     */
    async tick(): Promise<number> {
      const taken = await Promise.all(queues.map(({ loop }) => loop.once()))
      await finish()
      return taken.reduce((sum, count) => sum + count, 0)
    },
  }
}
export type Dispatcher = ReturnType<typeof createDispatcher>
