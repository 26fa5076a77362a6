import type { Claim, Payload } from './queue-store.ts'

/** A delivery that this worker holds. */
export interface Task {
  claim: Claim
  payload: Payload
  leaseUntil: Date
  probe: boolean
}

export interface LaneLimits {
  /** Deliveries to one receiver at once. */
  perEndpoint: number
  /** Deliveries at once; those that have waited for an answer for over a second do not count. */
  inFlight: number
  /** The same with those: what a worker has open at most. */
  open: number
  /** With so many under way or waiting here no more are taken. Those that hang do not count. */
  inHand: number
  /** What may be taken ahead for a receiver that answers quickly. */
  ahead: number
}

export const LANE_LIMITS: LaneLimits = { perEndpoint: 8, inFlight: 256, open: 2048, inHand: 512, ahead: 256 }

const SLOW_MS = 1_000
const QUICK_MS = 250
const IDLE_MS = 1_000

interface Lane {
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
 * Keeps receivers apart: each has a lane, of which only so many are under way, and lanes take turns. A receiver that hangs fills its lane,
 * and after a second what it holds up no longer counts against the others.
 */
export function createLanes(limits: LaneLimits, start: (task: Task) => Promise<void>, onRoom: () => void) {
  const lanes = new Map<string, Lane>()
  const ready: string[] = []
  /** In the order of their start, with the time of it. */
  const quick = new Map<Task, number>()
  const slow = new Set<Task>()
  let waiting = 0
  let claiming = 0

  function laneOf(endpointId: string, nowMs: number): Lane {
    let lane = lanes.get(endpointId)
    if (!lane) {
      lane = { inFlight: 0, waiting: [], isReady: false, isQuick: false, hasMore: false, usedMs: nowMs }
      lanes.set(endpointId, lane)
    }
    return lane
  }

  function makeReady(endpointId: string, lane: Lane): void {
    if (lane.isReady || lane.waiting.length === 0 || lane.inFlight >= limits.perEndpoint) return
    lane.isReady = true
    ready.push(endpointId)
  }

  function pump(nowMs: number): void {
    while (quick.size < limits.inFlight && quick.size + slow.size < limits.open) {
      const endpointId = ready.shift()
      if (endpointId === undefined) return
      const lane = laneOf(endpointId, nowMs)
      lane.isReady = false
      const task = lane.waiting.shift()
      if (task) launch(task, lane, nowMs)
      makeReady(endpointId, lane)
    }
  }

  function launch(task: Task, lane: Lane, nowMs: number): void {
    waiting--
    lane.inFlight++
    lane.usedMs = nowMs
    quick.set(task, nowMs)
    void start(task)
  }

  const mostOf = (lane: Lane): number => (lane.isQuick ? limits.ahead : limits.perEndpoint)

  function roomOf(lane: Lane): number {
    return Math.max(0, mostOf(lane) - lane.inFlight - lane.waiting.length)
  }

  /** Asked for when half of it is free: so the receiver need not wait for us, and it is worth a statement. */
  function askForMore(lane: Lane): void {
    if (!lane.hasMore || roomOf(lane) < mostOf(lane) / 2) return
    lane.hasMore = false
    onRoom()
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
    rooms(): Record<string, number> {
      const rooms: Record<string, number> = {}
      for (const [endpointId, lane] of lanes) {
        const room = roomOf(lane)
        rooms[endpointId] = lane.isQuick && room < limits.ahead / 2 ? 0 : room
      }
      return rooms
    },
    add(tasks: readonly Task[], nowMs: number): void {
      for (const task of tasks) {
        const { endpointId } = task.claim
        const lane = laneOf(endpointId, nowMs)
        lane.waiting.push(task)
        lane.hasMore = roomOf(lane) === 0
        waiting++
        makeReady(endpointId, lane)
      }
      pump(nowMs)
    },
    done(task: Task, nowMs: number): void {
      const { endpointId } = task.claim
      const lane = laneOf(endpointId, nowMs)
      const startedMs = quick.get(task)
      lane.isQuick = startedMs !== undefined && nowMs - startedMs < QUICK_MS
      lane.inFlight--
      lane.usedMs = nowMs
      quick.delete(task)
      slow.delete(task)
      makeReady(endpointId, lane)
      pump(nowMs)
      askForMore(lane)
    },
    /** Takes back what waits here and has not been started. */
    takeWaiting(): Task[] {
      const tasks: Task[] = []
      for (const lane of lanes.values()) tasks.push(...lane.waiting.splice(0))
      waiting = 0
      return tasks
    },
    /**
     * From time to time: what hangs stops counting, and lanes that nobody uses go. Returns what waited behind one that hangs: it
     * was taken ahead when the receiver was quick, and another time is better than here.
     */
    sweep(nowMs: number): Task[] {
      const stuck: Task[] = []
      for (const [task, startedMs] of quick) {
        if (startedMs > nowMs - SLOW_MS) break
        quick.delete(task)
        slow.add(task)
        const lane = laneOf(task.claim.endpointId, nowMs)
        lane.isQuick = false
        stuck.push(...lane.waiting.splice(0))
      }
      waiting -= stuck.length
      for (const [endpointId, lane] of lanes) {
        const isIdle = lane.inFlight === 0 && lane.waiting.length === 0 && lane.usedMs < nowMs - IDLE_MS
        if (isIdle) lanes.delete(endpointId)
      }
      pump(nowMs)
      return stuck
    },
    inFlight: (): number => quick.size + slow.size,
    held: (): number => quick.size + slow.size + waiting,
  }
}
export type Lanes = ReturnType<typeof createLanes>
