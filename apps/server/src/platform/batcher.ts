import { type Db, isDataError } from './db.ts'
import { AppError } from './errors.ts'

export interface BatchOptions {
  mostAtOnce: number
  /** Calls of `work` that may be under way at once. Items that arrive meanwhile wait for the next call. */
  mostUnderWay: number
  /** An item that has waited longer than this is refused when the next call starts, so that no item waits for ever behind a call that hangs. */
  mostWaitMs: number
  tooLate(): Error
}

/**
 * Combines items that are submitted at the same time into few calls of `work`, which returns one answer per item, in their order. A
 * single item is passed on at once: items wait only while the permitted number of calls is under way. When a call fails and `isOfOne`
 * says that a single item may be the cause, each item is tried alone, so that the others succeed.
 */
export function createBatcher<T, R>(
  work: (items: readonly T[]) => Promise<readonly R[]>,
  isOfOne: (error: unknown) => boolean,
  { mostAtOnce, mostUnderWay, mostWaitMs, tooLate }: BatchOptions,
): (item: T) => Promise<R> {
  interface Waiting {
    item: T
    sinceMs: number
    resolve(answer: R): void
    reject(error: unknown): void
  }
  let waiting: Waiting[] = []
  let underWay = 0
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || underWay >= mostUnderWay) return
    isScheduled = true
    // Items that arrive in the same turn of the event loop join this call.
    setImmediate(() => {
      isScheduled = false
      refuseLate()
      const group = waiting.slice(0, mostAtOnce)
      waiting = waiting.slice(mostAtOnce)
      if (group.length === 0) return
      underWay++
      void settle(group).finally(() => {
        underWay--
        schedule()
      })
      schedule()
    })
  }

  function refuseLate(): void {
    const since = performance.now() - mostWaitMs
    const first = waiting.findIndex(({ sinceMs }) => sinceMs >= since)
    const late = waiting.splice(0, first < 0 ? waiting.length : first)
    for (const { reject } of late) reject(tooLate())
  }

  async function settle(group: readonly Waiting[]): Promise<void> {
    try {
      const answers = await work(group.map(({ item }) => item))
      if (answers.length !== group.length) throw new Error(`${answers.length} answers for ${group.length} items`)
      for (const [index, answer] of answers.entries()) group[index]?.resolve(answer)
    } catch (error) {
      if (group.length > 1 && isOfOne(error)) for (const one of group) await settle([one])
      else for (const { reject } of group) reject(error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, sinceMs: performance.now(), resolve, reject })
      schedule()
    })
}

/** One statement runs while the items of the next are collected. */
const MOST_STATEMENTS_UNDER_WAY = 2
const MOST_WAIT_MS = 5_000

/** Combines statements of one kind, separately for each cell: up to `mostAtOnce` items per statement, two statements at a time. */
export function createStatementBatcher<T, R>(
  work: (db: Db, items: readonly T[]) => Promise<readonly R[]>,
  mostAtOnce: number,
): (db: Db, item: T) => Promise<R> {
  const limits = {
    mostAtOnce,
    mostUnderWay: MOST_STATEMENTS_UNDER_WAY,
    mostWaitMs: MOST_WAIT_MS,
    tooLate: () => new AppError('unavailable', 'DEPENDENCY_DOWN', 'The store is out of reach, try again'),
  }
  const batchers = new Map<Db, (item: T) => Promise<R>>()
  return ({ shared }, item) => {
    const known = batchers.get(shared)
    if (known) return known(item)
    const batcher = createBatcher<T, R>((items) => work(shared, items), isDataError, limits)
    batchers.set(shared, batcher)
    return batcher(item)
  }
}
