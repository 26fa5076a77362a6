import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Claim, Payload } from './queue-store.ts'
import type { Recorder } from './recorder.ts'

/** A delivery that this worker has taken from the queue. */
export interface Task {
  /** The database it was taken from, and what stores its attempts there. */
  db: Db
  recorder: Pick<Recorder, 'add'>
  claim: Claim
  payload: Payload
  takenMs: number
  leaseUntil: Date
  probe: boolean
}

export interface LaneLimits {
  /** Attempts to one receiver at once. */
  perEndpoint: number
  /** Attempts at once. Slow ones, which have waited for an answer for over a second, do not count. */
  inFlight: number
  /** Slow attempts at once. Further ones count as if they were not slow. */
  slow: number
  /** With so many deliveries running or waiting in lanes, no more are taken. Slow ones do not count. */
  claimed: number
  /** Deliveries that one receiver may have running and waiting if it answers quickly. */
  ahead: number
  /** One tenant gets at most this part of `inFlight`, `slow` and `claimed`, however many receivers it has. */
  tenantShare: number
}

export const LANE_LIMITS: LaneLimits = {
  perEndpoint: 8,
  inFlight: 256,
  slow: 1792,
  claimed: 2048,
  ahead: 256,
  tenantShare: 1 / 4,
}

const SLOW_MS = 1_000
const QUICK_MS = 250
const IDLE_MS = 1_000

interface Work {
  clock: Clock
  /** Makes one attempt. Never rejects. */
  run(task: Task): Promise<void>
  /** A lane can take more deliveries. */
  onCapacity(): void
}

/** How much of the limits one tenant uses. */
interface TenantShare {
  lanes: number
  quick: number
  slow: number
  waiting: number
  /** Lanes that could start an attempt if the tenant were not at its limit. */
  blocked: Lane[]
}

interface Lane {
  endpointId: string
  tenantId: string
  share: TenantShare
  inFlight: number
  waiting: Task[]
  isReady: boolean
  /** The last answer came quickly, so deliveries that are taken in advance will not wait for long. */
  isQuick: boolean
  /** How many more the running claim may bring. */
  asked: number
  /** The last claim brought all that it could, so the queue may have more for this receiver. */
  hasMore: boolean
  usedMs: number
}

/**
 * Keeps a slow receiver or tenant from delaying the others. Each receiver has a lane with a limit on its running attempts, and
 * lanes take turns. A receiver that hangs fills only its own lane; after a second its attempts no longer count against `inFlight`. A
 * tenant with very many such receivers fills only its own share.
 */
export function createLanes(limits: LaneLimits, { clock, run, onCapacity }: Work) {
  const lanes = new Map<string, Lane>()
  const tenantShares = new Map<string, TenantShare>()
  const ready: Lane[] = []
  /** Running attempts that are not slow yet, in the order of their start, with its time. */
  const quick = new Map<Task, number>()
  const slow = new Set<Task>()
  let waiting = 0
  let claiming = 0
  const tenantLimitOf = (limit: number) => Math.max(limits.perEndpoint, Math.floor(limit * limits.tenantShare))
  const tenantLimits = {
    inFlight: tenantLimitOf(limits.inFlight),
    slow: tenantLimitOf(limits.slow),
    claimed: tenantLimitOf(limits.claimed),
  }
  const enough = Math.floor(tenantLimits.claimed / 2)
  const heldBy = (share: TenantShare) => share.quick + share.waiting

  function laneOf({ endpointId, tenantId }: Claim): Lane {
    let lane = lanes.get(endpointId)
    if (!lane) {
      const share = tenantShareOf(tenantId)
      share.lanes++
      const state = { inFlight: 0, waiting: [], isReady: false, isQuick: false, hasMore: false }
      lane = { endpointId, tenantId, share, asked: limits.perEndpoint, usedMs: clock.monotonicMs(), ...state }
      lanes.set(endpointId, lane)
    }
    return lane
  }

  function tenantShareOf(tenantId: string): TenantShare {
    let share = tenantShares.get(tenantId)
    if (!share) {
      share = { lanes: 0, quick: 0, slow: 0, waiting: 0, blocked: [] }
      tenantShares.set(tenantId, share)
    }
    return share
  }

  function makeReady(lane: Lane): void {
    if (lane.isReady || lane.waiting.length === 0 || lane.inFlight >= limits.perEndpoint) return
    lane.isReady = true
    ready.push(lane)
  }

  /** The tenant is below its limit again: one of its blocked lanes may start an attempt. */
  function unblock({ blocked }: TenantShare): void {
    const lane = blocked.shift()
    if (lane) ready.push(lane)
  }

  function pump(): void {
    while (quick.size < limits.inFlight) {
      const lane = ready.shift()
      if (!lane) return
      const { share } = lane
      if (share.quick >= tenantLimits.inFlight) {
        share.blocked.push(lane)
        continue
      }
      lane.isReady = false
      const task = lane.waiting.shift()
      if (task) void attempt(task, lane)
      else unblock(share)
      makeReady(lane)
    }
  }

  async function attempt(task: Task, lane: Lane): Promise<void> {
    const { share } = lane
    waiting--
    share.waiting--
    share.quick++
    lane.inFlight++
    lane.usedMs = clock.monotonicMs()
    quick.set(task, lane.usedMs)
    await run(task)
    const nowMs = clock.monotonicMs()
    const startedMs = quick.get(task)
    lane.isQuick = startedMs !== undefined && nowMs - startedMs < QUICK_MS
    lane.inFlight--
    lane.usedMs = nowMs
    if (quick.delete(task)) share.quick--
    else if (slow.delete(task)) share.slow--
    unblock(share)
    makeReady(lane)
    pump()
    askForMore(lane)
  }

  const mostOf = (lane: Lane): number => (lane.isQuick ? limits.ahead : limits.perEndpoint)

  function capacityOf(lane: Lane): number {
    return Math.max(0, mostOf(lane) - lane.inFlight - lane.waiting.length)
  }

  /** Asks for more when half of the lane is free: early enough that the receiver does not wait, late enough to be worth a statement. */
  function askForMore(lane: Lane): void {
    const { share } = lane
    const isTenantsTurn = heldBy(share) === enough
    const isLanesTurn = lane.hasMore && heldBy(share) <= enough && capacityOf(lane) >= mostOf(lane) / 2
    if (!isTenantsTurn && !isLanesTurn) return
    lane.hasMore = false
    onCapacity()
  }

  function dropWaiting(lane: Lane): Task[] {
    const tasks = lane.waiting.splice(0)
    waiting -= tasks.length
    lane.share.waiting -= tasks.length
    return tasks
  }

  return {
    /** Capacity of a receiver that has no lane. */
    perEndpoint: limits.perEndpoint,
    /** Whether this worker has taken as much as it may. */
    isStocked: (): boolean => quick.size + waiting + claiming >= limits.claimed,
    /** Counts deliveries that a running claim may bring, because several cells are asked at once. Returns a function that undoes it. */
    reserve(count: number): () => void {
      claiming += count
      return () => {
        claiming -= count
      }
    },
    /**
     * How many more deliveries each receiver with a lane can take now, at most `most`, so that those of one receiver do not fill a whole claim
     * while others wait. A quick one reports 0 until half of its lane is free.
     */
    capacities(most: number): Record<string, number> {
      const capacities: Record<string, number> = {}
      for (const [endpointId, lane] of lanes) {
        const capacity = capacityOf(lane)
        lane.asked = lane.isQuick && capacity < limits.ahead / 2 ? 0 : Math.min(capacity, most)
        capacities[endpointId] = lane.asked
      }
      return capacities
    },
    /** Tenants that have more than half of their share in hand: one claim could fill the rest. */
    fullTenants: (): string[] =>
      [...tenantShares].filter(([, share]) => heldBy(share) > enough).map(([tenantId]) => tenantId),
    /** Returns the tasks that exceed their tenant's share. */
    add(tasks: readonly Task[]): Task[] {
      const tooMany: Task[] = []
      for (const task of tasks) {
        const lane = laneOf(task.claim)
        const { share } = lane
        if (heldBy(share) >= tenantLimits.claimed) {
          tooMany.push(task)
          continue
        }
        lane.waiting.push(task)
        lane.asked--
        lane.hasMore = lane.asked <= 0 || capacityOf(lane) === 0
        waiting++
        share.waiting++
        makeReady(lane)
      }
      pump()
      return tooMany
    },
    /** Removes and returns the tasks that have not been started. */
    takeWaiting(): Task[] {
      return [...lanes.values()].flatMap(dropWaiting)
    },
    /**
     * Runs every 250 ms: attempts over a second become slow, and idle lanes are deleted. Returns the tasks that waited behind slow
     * attempts, so that the caller returns them to the queue: they were taken in advance while the receiver was quick.
     */
    sweep(): Task[] {
      const nowMs = clock.monotonicMs()
      const stuck: Task[] = []
      for (const [task, startedMs] of quick) {
        if (startedMs > nowMs - SLOW_MS || slow.size >= limits.slow) break
        const lane = laneOf(task.claim)
        const { share } = lane
        if (share.slow >= tenantLimits.slow) continue
        quick.delete(task)
        slow.add(task)
        share.quick--
        share.slow++
        lane.isQuick = false
        stuck.push(...dropWaiting(lane))
        unblock(share)
      }
      for (const [endpointId, lane] of lanes) {
        const isIdle = lane.inFlight === 0 && lane.waiting.length === 0 && lane.usedMs < nowMs - IDLE_MS
        if (!isIdle) continue
        lanes.delete(endpointId)
        lane.share.lanes--
        if (lane.share.lanes === 0) tenantShares.delete(lane.tenantId)
      }
      pump()
      return stuck
    },
    inFlight: (): number => quick.size + slow.size,
    held: (): number => quick.size + slow.size + waiting,
  }
}
export type Lanes = ReturnType<typeof createLanes>
