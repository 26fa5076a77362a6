import { type Db, isDataError } from './db.ts'
import { AppError } from './errors.ts'

export interface GatherOptions {
  mostAtOnce: number
  /** Calls of `work` that may be under way; what comes meanwhile gathers for the next. */
  mostUnderWay: number
  /** Whoever has waited for longer than this when a place is free is refused: behind calls that hang nobody waits for ever. */
  mostWaitMs: number
  tooLate(): Error
}

/**
 * Does in few calls what many ask for at the same time: `work` gives one answer for each of its items, in their order. Nobody waits for
 * company: what is asked for alone is done alone at once,
 * and only while calls are under way does anything gather. A call that fails is repeated piece by piece if `isOfOne` says that one
 * of its pieces may be to blame, so that the others do not suffer for it.
 */
export function createGatherer<T, R>(
  work: (items: readonly T[]) => Promise<readonly R[]>,
  isOfOne: (error: unknown) => boolean,
  { mostAtOnce, mostUnderWay, mostWaitMs, tooLate }: GatherOptions,
): (item: T) => Promise<R> {
  interface Asked {
    item: T
    sinceMs: number
    resolve(answer: R): void
    reject(error: unknown): void
  }
  let waiting: Asked[] = []
  let underWay = 0
  let isArranged = false

  function arrange(): void {
    if (isArranged || waiting.length === 0 || underWay >= mostUnderWay) return
    isArranged = true
    // Whatever else arrived in this turn of the event loop comes along.
    setImmediate(() => {
      isArranged = false
      refuseLate()
      const group = waiting.slice(0, mostAtOnce)
      waiting = waiting.slice(mostAtOnce)
      if (group.length === 0) return
      underWay++
      void settle(group).finally(() => {
        underWay--
        arrange()
      })
      arrange()
    })
  }

  function refuseLate(): void {
    const since = performance.now() - mostWaitMs
    const first = waiting.findIndex(({ sinceMs }) => sinceMs >= since)
    const late = waiting.splice(0, first < 0 ? waiting.length : first)
    for (const { reject } of late) reject(tooLate())
  }

  async function settle(group: readonly Asked[]): Promise<void> {
    try {
      const answers = await work(group.map(({ item }) => item))
      if (answers.length !== group.length) throw new Error(`${answers.length} answers for ${group.length} items`)
      for (const [index, answer] of answers.entries()) group[index]?.resolve(answer)
    } catch (error) {
      if (group.length > 1 && isOfOne(error)) for (const asked of group) await settle([asked])
      else for (const { reject } of group) reject(error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, sinceMs: performance.now(), resolve, reject })
      arrange()
    })
}

/** One is under way while the next gathers. */
const MOST_STATEMENTS_UNDER_WAY = 2
const MOST_WAIT_MS = 5_000

/** Gathers statements of one kind, for each cell by itself: up to `mostAtOnce` items in one, two under way at a time. */
export function createStatementGatherer<T, R>(
  work: (db: Db, items: readonly T[]) => Promise<readonly R[]>,
  mostAtOnce: number,
): (db: Db, item: T) => Promise<R> {
  const limits = {
    mostAtOnce,
    mostUnderWay: MOST_STATEMENTS_UNDER_WAY,
    mostWaitMs: MOST_WAIT_MS,
    tooLate: () => new AppError('unavailable', 'DEPENDENCY_DOWN', 'The store is out of reach, try again'),
  }
  const gatherers = new Map<Db, (item: T) => Promise<R>>()
  return (db, item) => {
    const known = gatherers.get(db)
    if (known) return known(item)
    const gatherer = createGatherer<T, R>((items) => work(db, items), isDataError, limits)
    gatherers.set(db, gatherer)
    return gatherer(item)
  }
}
