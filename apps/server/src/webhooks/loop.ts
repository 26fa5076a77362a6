import { setTimeout as sleep } from 'node:timers/promises'
import type { Cell } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { logFailure } from '../platform/reachability.ts'
import type { Lanes } from './lanes.ts'
import { queueStore, type Taken } from './queue-store.ts'

interface LoopDeps {
  cell: Cell
  clock: Clock
  log: Log
  lanes: Lanes
  leaseMs: number
  /** Attempts that are not stored yet. */
  backlog: () => number
}

/** Receivers that one statement visits, and deliveries that it takes. */
const VISIT = 512
const TAKE = 256
/** An attempt that is lost before it is stored would be sent again: with so many unstored ones no more deliveries are taken. */
const BACKLOG_MAX = 1024
const IDLE_MIN_MS = 10
const IDLE_MAX_MS = 50
/** Pause after a round in which something was taken. Lanes that run out of work wake the loop sooner. */
const BUSY_MS = 25
const AFTER_FAILURE_MS = 1_000
const WHILE_AWAY_MS = 200
const PROBE_EVERY_MS = 500
const FIRST = '00000000-0000-0000-0000-000000000000'

/** Takes due deliveries from the queue of one cell and adds them to the lanes. */
export function createLoop({ cell, clock, log, lanes, leaseMs, backlog }: LoopDeps) {
  const { db } = cell
  let cursor = FIRST
  let takenThisRound = 0
  let probedMs = Number.NEGATIVE_INFINITY
  let isStopping = false
  let running: Promise<void> | undefined
  let wakeUp: (() => void) | undefined
  let wasWoken = false

  async function hold(taken: readonly Taken[], probe: boolean, leaseUntil: Date): Promise<void> {
    if (taken.length === 0) return
    const takenMs = clock.monotonicMs()
    const tasks = taken.flatMap(({ claim, payload }) =>
      payload ? [{ db, claim, payload, takenMs, leaseUntil, probe }] : [],
    )
    const tooMany = lanes.add(tasks, takenMs)
    if (tooMany.length > 0) await queueStore.returnToQueue(db, tooMany, clock.now())
    if (tasks.length < taken.length) {
      const orphans = taken.filter(({ payload }) => !payload).map(({ claim }) => claim)
      log.warn({ count: orphans.length, cell: cell.name }, 'webhooks without a message were taken from the queue')
      await queueStore.forget(db, orphans)
    }
  }

  /** Takes one delivery for each receiver whose breaker may be probed. */
  async function probe(): Promise<number> {
    probedMs = clock.monotonicMs()
    const now = clock.now()
    const leaseUntil = new Date(now.getTime() + leaseMs)
    const taken = await queueStore.probe(db, now, leaseUntil)
    await hold(taken, true, leaseUntil)
    return taken.length
  }

  /** Visits one page of receivers. The round is over when all of them have been visited. */
  async function claim(): Promise<{ taken: number; isRoundOver: boolean }> {
    const unreserve = lanes.reserve(TAKE)
    try {
      const now = clock.now()
      const leaseUntil = new Date(now.getTime() + leaseMs)
      const request = { after: cursor, visit: VISIT, limit: TAKE, now, leaseUntil }
      const allowed = {
        capacities: lanes.capacities(),
        capacityOfOthers: lanes.perEndpoint,
        fullTenants: lanes.fullTenants(),
      }
      const { taken, visited, last } = await queueStore.claim(db, { ...request, ...allowed })
      const isFull = taken.length === TAKE
      const isRoundOver = !isFull && visited < VISIT
      // The next page starts after the receiver that filled this one: it is visited again after all others.
      cursor = isRoundOver ? FIRST : ((isFull ? lastOf(taken) : last) ?? FIRST)
      await hold(taken, false, leaseUntil)
      return { taken: taken.length, isRoundOver }
    } finally {
      unreserve()
    }
  }

  /** Returns how long to wait before the next step. */
  async function step(idleMs: number): Promise<number> {
    if (clock.monotonicMs() - probedMs >= PROBE_EVERY_MS) await probe()
    if (lanes.isStocked() || backlog() > BACKLOG_MAX) return IDLE_MIN_MS
    const { taken, isRoundOver } = await claim()
    takenThisRound += taken
    if (!isRoundOver) return 0
    const wasQuiet = takenThisRound === 0
    takenThisRound = 0
    return wasQuiet ? Math.min(Math.max(idleMs, IDLE_MIN_MS) * 1.5, IDLE_MAX_MS) : BUSY_MS
  }

  async function run(): Promise<void> {
    let waitMs = IDLE_MIN_MS
    while (!isStopping) {
      try {
        waitMs = db.isUp() ? await step(waitMs) : WHILE_AWAY_MS
      } catch (err) {
        logFailure(log, 'warn', { err, cell: cell.name }, 'webhooks could not be taken from the queue')
        waitMs = AFTER_FAILURE_MS
      }
      if (waitMs > 0) await pause(waitMs)
    }
  }

  async function pause(ms: number): Promise<void> {
    if (!wasWoken) {
      const waking = new AbortController()
      wakeUp = () => waking.abort()
      await sleep(ms, undefined, { signal: waking.signal }).catch(() => {})
      wakeUp = undefined
    }
    wasWoken = false
  }

  function wake(): void {
    wasWoken = true
    wakeUp?.()
  }

  return {
    wake,
    start(): void {
      running ??= run()
    },
    async stop(): Promise<void> {
      isStopping = true
      wake()
      await running
    },
    /** One round without the loop: probes, then visits all receivers page by page. Returns how many deliveries were taken. */
    async once(): Promise<number> {
      let total = await probe()
      cursor = FIRST
      for (;;) {
        const { taken, isRoundOver } = await claim()
        total += taken
        if (isRoundOver) return total
        while (lanes.isStocked()) await sleep(2)
      }
    },
  }
}

function lastOf(taken: readonly Taken[]): string | undefined {
  return taken.reduce<string | undefined>(
    (last, { claim: { endpointId } }) => (last !== undefined && last > endpointId ? last : endpointId),
    undefined,
  )
}
