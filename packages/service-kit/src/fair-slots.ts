/** Slots that all owners share, such as tenants. Each owner gets at most a part of them. Owners that wait get freed slots in turn. */
export interface FairSlots {
  /** Takes a slot and returns the function that frees it, or undefined if this owner gets none now. */
  take(owner: string): (() => void) | undefined
  /** Waits until this owner gets a slot, and runs `work` with it. */
  withSlot<T>(owner: string, work: () => Promise<T>): Promise<T>
  /** Waits so long for a slot of this owner. Returns the function that frees it, or undefined if there was none. */
  takeWithin(owner: string, waitMs: number): Promise<(() => void) | undefined>
  /** Waits so long for a slot of this owner, and runs `work` with it; throws the refusal if there was none. */
  withSlotWithin<T>(owner: string, limits: { waitMs: number; refusal: () => Error }, work: () => Promise<T>): Promise<T>
  /** Callers that wait. */
  waiting(): number
}

export interface FairSlotLimits {
  total: number
  /** The most that one owner gets: a quarter of all unless given. */
  perOwner?: number
  /** Callers of one owner that may wait. Who comes then gets no slot. */
  mostWaiting?: number
}

export function createFairSlots({
  total,
  perOwner = Math.max(1, Math.floor(total / 4)),
  mostWaiting = Number.POSITIVE_INFINITY,
}: FairSlotLimits): FairSlots {
  const taken = new Map<string, number>()
  /** Owners that wait, in the order of their turns. */
  const waiting = new Map<string, Set<() => void>>()
  let [open, waits] = [0, 0]

  const hasRoom = (owner: string) => (taken.get(owner) ?? 0) < perOwner

  function take(owner: string): (() => void) | undefined {
    if (open >= total || !hasRoom(owner)) return undefined
    open++
    taken.set(owner, (taken.get(owner) ?? 0) + 1)
    let isFree = false
    return () => {
      if (isFree) return
      isFree = true
      open--
      const left = (taken.get(owner) ?? 1) - 1
      if (left > 0) taken.set(owner, left)
      else taken.delete(owner)
      wakeNext()
    }
  }

  /** Wakes one caller of the first owner that has room, and puts that owner at the end. */
  function wakeNext(): void {
    for (const [owner, callers] of waiting) {
      if (!hasRoom(owner)) continue
      const [next] = callers
      if (!next) continue
      leave(owner, next)
      // The owner goes to the end.
      waiting.delete(owner)
      if (callers.size > 0) waiting.set(owner, callers)
      next()
      return
    }
  }

  function join(owner: string, turn: () => void): void {
    waits++
    waiting.set(owner, (waiting.get(owner) ?? new Set()).add(turn))
  }

  function leave(owner: string, turn: () => void): void {
    const callers = waiting.get(owner)
    if (callers?.delete(turn)) waits--
    if (callers?.size === 0) waiting.delete(owner)
  }

  /** Calls `resolve` with a slot. Returns the function that gives up waiting. */
  function wait(owner: string, resolve: (free: () => void) => void): () => void {
    // It takes its slot when it is woken, not a moment later, so that no new caller can take it in between.
    const turn = () => {
      const free = take(owner)
      if (free) resolve(free)
      else join(owner, turn)
    }
    join(owner, turn)
    return () => leave(owner, turn)
  }

  async function takeWithin(owner: string, waitMs: number): Promise<(() => void) | undefined> {
    const free = take(owner)
    if (free || (waiting.get(owner)?.size ?? 0) >= mostWaiting) return free
    const { promise, resolve } = Promise.withResolvers<(() => void) | undefined>()
    const giveUp = wait(owner, resolve)
    const timer = setTimeout(() => {
      giveUp()
      resolve(undefined)
    }, waitMs)
    return promise.finally(() => clearTimeout(timer))
  }

  async function runWith<T>(free: () => void, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      free()
    }
  }

  return {
    take,
    takeWithin,
    withSlot: async (owner, work) =>
      runWith(take(owner) ?? (await new Promise<() => void>((resolve) => void wait(owner, resolve))), work),
    async withSlotWithin(owner, { waitMs, refusal }, work) {
      const free = await takeWithin(owner, waitMs)
      if (!free) throw refusal()
      return runWith(free, work)
    },
    waiting: () => waits,
  }
}
