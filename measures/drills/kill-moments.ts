/** Lets a kill wait for the moment when a call of some kind is under way. */
export function createMoments<Step extends string>() {
  const waiting = new Map<Step, (isReached: boolean) => void>()

  function settle(step: Step, isReached: boolean): void {
    const resolve = waiting.get(step)
    waiting.delete(step)
    resolve?.(isReached)
  }

  return {
    /** Says that a call of this kind is being sent. */
    reach(step: Step): void {
      if (waiting.size > 0) settle(step, true)
    },
    /** Resolves when the next such call is sent; with false if none is within the time. */
    next(step: Step, withinMs: number): Promise<boolean> {
      return new Promise((resolve) => {
        const timer = setTimeout(() => settle(step, false), withinMs)
        waiting.set(step, (isReached) => {
          clearTimeout(timer)
          resolve(isReached)
        })
      })
    },
  }
}
export type Moments<Step extends string> = ReturnType<typeof createMoments<Step>>
