export interface IdleWorkOptions {
  /** Work begins when nothing was asked for this long. */
  idleMs: number
  /** Does one piece. Resolves to false when there is nothing to do for now. Never rejects. */
  work(): Promise<boolean>
}

/**
 * Does work in pieces while nothing else is asked. Between two looks of guidance less than `idleMs` passes, so guidance and challenge are
 * never interrupted. A question that comes during a piece waits for that piece only.
 */
export function createIdleWork({ idleMs, work }: IdleWorkOptions) {
  let asked = 0
  let working = false
  let timer: ReturnType<typeof setTimeout> | undefined

  function plan(): void {
    clearTimeout(timer)
    if (asked > 0 || working) return
    timer = setTimeout(async () => {
      working = true
      const isMore = await work()
      working = false
      if (isMore) plan()
    }, idleMs)
  }

  return {
    /** A question has come. */
    asked(): void {
      asked++
      clearTimeout(timer)
    },
    /** It is answered. */
    answered(): void {
      asked--
      plan()
    },
    /** There is something to do. */
    more: plan,
  }
}
