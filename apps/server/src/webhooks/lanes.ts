import type { Db } from '../platform/db.ts'
import type { Claim, Payload } from './queue-store.ts'

/** A delivery that this worker holds. */
export interface Task {
  /** Where it was taken from, and where what becomes of it is written down. */
  db: Db
  claim: Claim
  payload: Payload
  takenMs: number
  leaseUntil: Date
  probe: boolean
}

export interface LaneLimits {
  /** Deliveries to one receiver at once. */
  perEndpoint: number
  /** Deliveries at once; those that have waited for an answer for over a second do not count. */
  inFlight: number
  /** Those. With so many of them the next ones keep counting. */
  slow: number
  /** With so many under way or waiting here no more are taken. Those that hang do not count. */
  inHand: number
  /** What may be taken ahead for a receiver that answers quickly. */
  ahead: number
  /** One tenant has at most this part of each of the numbers above, however many receivers it has. */
  tenantShare: number
}

export const LANE_LIMITS: LaneLimits = {
  perEndpoint: 8,
  inFlight: 256,
  slow: 1792,
  inHand: 2048,
  ahead: 256,
  tenantShare: 1 / 4,
}

const SLOW_MS = 1_000
const QUICK_MS = 250
const IDLE_MS = 1_000

/** What one tenant has of everything. */
interface TenantShare {
  lanes: number
  quick: number
  slow: number
  waiting: number
  /** Lanes that could start something if the tenant had not so much under way already. */
  blocked: Lane[]
}

interface Lane {
  endpointId: string
  tenantId: string
  share: TenantShare
  inFlight: number
  waiting: Task[]
  isReady: boolean
  /** Its last answer came quickly, so what is taken ahead will not wait for long. */
  isQuick: boolean
  /** It had more than was taken, when it was last asked for. */
  hasMore: boolean
  usedMs: number
}

/**
 * Keeps receivers and tenants apart. Each receiver has a lane, of which only so many are under way, and lanes take turns. A
 * receiver that hangs fills its lane, and after a second what it holds up no longer counts against the others. A tenant with
 * very many such receivers fills its share, and the rest is for the others.
 */
export function createLanes(limits: LaneLimits, start: (task: Task) => Promise<void>, onCapacity: () => void) {
  const lanes = new Map<string, Lane>()
  const tenantShares = new Map<string, TenantShare>()
  const ready: Lane[] = []
  /** In the order of their start, with the time of it. */
  const quick = new Map<Task, number>()
  const slow = new Set<Task>()
  let waiting = 0
  let claiming = 0
  const tenantLimitOf = (limit: number) => Math.max(limits.perEndpoint, Math.floor(limit * limits.tenantShare))
  const tenantLimits = {
    inFlight: tenantLimitOf(limits.inFlight),
    slow: tenantLimitOf(limits.slow),
    inHand: tenantLimitOf(limits.inHand),
  }
  const enough = Math.floor(tenantLimits.inHand / 2)
  const heldBy = (share: TenantShare) => share.quick + share.waiting

  function laneOf({ endpointId, tenantId }: Claim, nowMs: number): Lane {
    let lane = lanes.get(endpointId)
    if (!lane) {
      const share = tenantShareOf(tenantId)
      share.lanes++
      const state = { inFlight: 0, waiting: [], isReady: false, isQuick: false, hasMore: false, usedMs: nowMs }
      lane = { endpointId, tenantId, share, ...state }
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

  /** One place of the tenant is free: one of its lanes may have it. */
  function unblock({ blocked }: TenantShare): void {
    const lane = blocked.shift()
    if (lane) ready.push(lane)
  }

  function pump(nowMs: number): void {
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
      if (task) startNext(task, lane, nowMs)
      else unblock(share)
      makeReady(lane)
    }
  }

  function startNext(task: Task, lane: Lane, nowMs: number): void {
    waiting--
    lane.share.waiting--
    lane.share.quick++
    lane.inFlight++
    lane.usedMs = nowMs
    quick.set(task, nowMs)
    void start(task)
  }

  const mostOf = (lane: Lane): number => (lane.isQuick ? limits.ahead : limits.perEndpoint)

  function capacityOf(lane: Lane): number {
    return Math.max(0, mostOf(lane) - lane.inFlight - lane.waiting.length)
  }

  /** Asked for when half of it is free: so the receiver need not wait for us, and it is worth a statement. */
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
    /** Room of a receiver that nobody deals with. */
    perEndpoint: limits.perEndpoint,
    /** Whether there is work enough for now. */
    isStocked: (): boolean => quick.size + waiting + claiming >= limits.inHand,
    /** Keeps places for what is being taken, while several cells are asked at once. Returns how to free them. */
    reserve(count: number): () => void {
      claiming += count
      return () => {
        claiming -= count
      }
    },
    /** Room of the receivers that this worker deals with. One for whom much was taken ahead has none until half is used up. */
    capacities(): Record<string, number> {
      const capacities: Record<string, number> = {}
      for (const [endpointId, lane] of lanes) {
        const capacity = capacityOf(lane)
        capacities[endpointId] = lane.isQuick && capacity < limits.ahead / 2 ? 0 : capacity
      }
      return capacities
    },
    /** Tenants that have more than half of their share in hand: one turn could fill it. */
    fullTenants: (): string[] =>
      [...tenantShares].filter(([, share]) => heldBy(share) > enough).map(([tenantId]) => tenantId),
    /** Returns those that are more than their tenant's share. */
    add(tasks: readonly Task[], nowMs: number): Task[] {
      const tooMany: Task[] = []
      for (const task of tasks) {
        const lane = laneOf(task.claim, nowMs)
        const { share } = lane
        if (heldBy(share) >= tenantLimits.inHand) {
          tooMany.push(task)
          continue
        }
        lane.waiting.push(task)
        lane.hasMore = capacityOf(lane) === 0
        waiting++
        share.waiting++
        makeReady(lane)
      }
      pump(nowMs)
      return tooMany
    },
    done(task: Task, nowMs: number): void {
      const lane = laneOf(task.claim, nowMs)
      const startedMs = quick.get(task)
      lane.isQuick = startedMs !== undefined && nowMs - startedMs < QUICK_MS
      lane.inFlight--
      lane.usedMs = nowMs
      if (quick.delete(task)) lane.share.quick--
      else if (slow.delete(task)) lane.share.slow--
      unblock(lane.share)
      makeReady(lane)
      pump(nowMs)
      askForMore(lane)
    },
    /** Takes back what waits here and has not been started. */
    takeWaiting(): Task[] {
      return [...lanes.values()].flatMap(dropWaiting)
    },
    /**
     * From time to time: what hangs stops counting, and lanes that nobody uses go. Returns what waited behind one that hangs: it
     * was taken ahead when the receiver was quick, and another time is better than here.
     */
    sweep(nowMs: number): Task[] {
      const stuck: Task[] = []
      for (const [task, startedMs] of quick) {
        if (startedMs > nowMs - SLOW_MS || slow.size >= limits.slow) break
        const lane = laneOf(task.claim, nowMs)
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
      pump(nowMs)
      return stuck
    },
    inFlight: (): number => quick.size + slow.size,
    held: (): number => quick.size + slow.size + waiting,
  }
}
export type Lanes = ReturnType<typeof createLanes>
