import { setTimeout as sleep } from 'node:timers/promises'
import type { Cell } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { CellDuty } from '../platform/leases.ts'
import type { Log } from '../platform/log.ts'
import { logFailure } from '../platform/reachability.ts'
import type { Lanes } from './lanes.ts'
import { queueStore, type Taken } from './queue-store.ts'
import type { Recorder } from './recorder.ts'

interface LoopDeps {
  cell: Cell
  clock: Clock
  log: Log
  lanes: Lanes
  recorder: Recorder
  duty: CellDuty
  leaseMs: number
}

/** Receivers that one statement visits, and deliveries that it takes. */
const VISIT = 512
const TAKE = 256
/** An attempt that is lost before it is stored would be sent again: with so many unstored ones no more deliveries are taken. */
const BACKLOG_MAX = 1024
const IDLE_MIN_MS = 10
/** By how much a due webhook may be late after a quiet time. */
const IDLE_MAX_MS = 150
/** Pause after a round in which something was taken. Lanes that run out of work wake the loop sooner. */
const BUSY_MS = 25
const AFTER_FAILURE_MS = 1_000
const WHILE_AWAY_MS = 200
/** Longer than a moment in which many arrive at once. */
const TOO_LONG_MS = 2_000
const PROBE_EVERY_MS = 500
const FIRST = '00000000-0000-0000-0000-000000000000'

/** Takes due deliveries from the queue of one cell and adds them to the lanes. */
export function createLoop({ cell, clock, log, lanes, recorder, duty, leaseMs }: LoopDeps) {
  const { db } = cell
  let cursor = FIRST
  let takenThisRound = 0
  /** Receivers that had something due: in this round, and in the last one. */
  const receiversThisRound = new Set<string>()
  let receiversLastRound = 1
  let probedMs = Number.NEGATIVE_INFINITY
  /** Since when more was due at every look than this worker could take. */
  let fullSinceMs: number | undefined
  let isStopping = false
  let running: Promise<void> | undefined
  let waking = new AbortController()

  async function hold(taken: readonly Taken[], probe: boolean, leaseUntil: Date): Promise<void> {
    if (taken.length === 0) return
    const shared = { db, recorder, takenMs: clock.monotonicMs(), leaseUntil, probe }
    const tasks = taken.flatMap(({ claim, payload }) => (payload ? [{ ...shared, claim, payload }] : []))
    const tooMany = lanes.add(tasks)
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
        // The receivers share a claim: with those of one receiver alone the others would have nothing to do until the next claim.
        capacities: lanes.capacities(Math.max(lanes.perEndpoint, Math.ceil(TAKE / receiversLastRound))),
        capacityOfOthers: lanes.perEndpoint,
        fullTenants: lanes.fullTenants(),
      }
      const { taken, visited, last } = await queueStore.claim(db, { ...request, ...allowed })
      // The next page starts after the receiver that filled this one: it is visited again after all others.
      const end = taken.length === TAKE ? lastOf(taken) : last
      const isRoundOver = visited < VISIT && end === last
      cursor = isRoundOver ? FIRST : (end ?? FIRST)
      for (const { claim } of taken) receiversThisRound.add(claim.endpointId)
      if (isRoundOver) {
        receiversLastRound = Math.max(1, receiversThisRound.size)
        receiversThisRound.clear()
      }
      await hold(taken, false, leaseUntil)
      return { taken: taken.length, isRoundOver }
    } finally {
      unreserve()
    }
  }

  /** Returns how long to wait before the next step. */
  async function step(idleMs: number): Promise<number> {
    if (clock.monotonicMs() - probedMs >= PROBE_EVERY_MS) await probe()
    if (lanes.isStocked() || recorder.backlog() > BACKLOG_MAX) {
      noteFull(true)
      return IDLE_MIN_MS
    }
    const { taken, isRoundOver } = await claim()
    noteFull(taken === TAKE)
    takenThisRound += taken
    if (!isRoundOver) return 0
    const wasQuiet = takenThisRound === 0
    takenThisRound = 0
    return wasQuiet ? Math.min(Math.max(idleMs, IDLE_MIN_MS) * 1.5, IDLE_MAX_MS) : BUSY_MS
  }

  function noteFull(isFull: boolean): void {
    const nowMs = clock.monotonicMs()
    fullSinceMs = isFull ? (fullSinceMs ?? nowMs) : undefined
    if (fullSinceMs !== undefined && nowMs - fullSinceMs > TOO_LONG_MS) duty.askForHelp()
  }

  async function run(): Promise<void> {
    let waitMs = IDLE_MIN_MS
    while (!isStopping) {
      try {
        waitMs = db.isUp() && duty.isOn() ? await step(waitMs) : WHILE_AWAY_MS
      } catch (err) {
        logFailure(log, 'warn', { err, cell: cell.name }, 'webhooks could not be taken from the queue')
        waitMs = AFTER_FAILURE_MS
      }
      if (waitMs > 0) await pause(waitMs)
    }
  }

  /** Ends early when woken, and at once when woken since the last pause. */
  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: waking.signal }).catch(() => {})
    waking = new AbortController()
  }

  function wake(): void {
    // Each abort makes an error with its stack, and this is called for every message that ends.
    if (!waking.signal.aborted) waking.abort()
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

const lastOf = (taken: readonly Taken[]) =>
  taken
    .map(({ claim }) => claim.endpointId)
    .sort()
    .at(-1)
