/** Slots that all owners share, such as tenants. Each owner gets at most a part of them. Owners that wait get freed slots in turn. */
export interface FairSlots {
  /** Takes a slot and returns the function that frees it, or undefined if this owner gets none now. */
  take(owner: string): (() => void) | undefined
  /** Waits until this owner gets a slot, and runs `work` with it. */
  withSlot<T>(owner: string, work: () => Promise<T>): Promise<T>
}

export interface FairSlotLimits {
  total: number
  /** One owner gets at most this part of the slots, and at least one. */
  ownerShare?: number
}

const A_QUARTER = 1 / 4

export function createFairSlots({ total, ownerShare = A_QUARTER }: FairSlotLimits): FairSlots {
  const perOwner = Math.max(1, Math.floor(total * ownerShare))
  const taken = new Map<string, number>()
  /** Owners that wait, in the order of their turns. */
  const waiting = new Map<string, (() => void)[]>()
  let open = 0

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
      waiting.delete(owner)
      const next = callers.shift()
      if (callers.length > 0) waiting.set(owner, callers)
      next?.()
      return
    }
  }

  return {
    take,
    async withSlot(owner, work) {
      const free = take(owner) ?? (await new Promise<() => void>((resolve) => wait(owner, resolve)))
      try {
        return await work()
      } finally {
        free()
      }
    },
  }

  function wait(owner: string, resolve: (free: () => void) => void): void {
    const callers = waiting.get(owner) ?? []
    waiting.set(owner, callers)
    // It takes its slot when it is woken, not a moment later, so that no new caller can take it in between.
    callers.push(() => {
      const free = take(owner)
      if (free) resolve(free)
      else wait(owner, resolve)
    })
  }
}
