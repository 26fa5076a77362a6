import { BoundedMap } from '../platform/bounded-map.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import { logFailure } from '../platform/reachability.ts'
import { createSingleFlight } from '../platform/single-flight.ts'
import type { KeyFacts } from './key.ts'
import { keyStore } from './store.ts'

/** No answer from the cache is older than this: a revoked key stops working everywhere within it. */
export const KEY_MAX_AGE_MS = 5_000
const REFRESH_AFTER_MS = 2_000
const REFRESH_EVERY_MS = 1_000
const MAX_ENTRIES = 20_000

// Keys that do not exist are remembered in a map of their own, so that made-up keys cannot push out real ones.
const MAX_UNKNOWN = 2_000

interface Entry<F> {
  bucket: number
  facts: F | undefined
  loadedMs: number
  usedSinceLoad: boolean
}

/** What is known of API keys, by the hash of the key; of clients, by their id. */
export interface FactsCache<F> {
  /** What is known without asking anyone; undefined when the database must be asked (`load`). */
  peek(name: string): { facts: F | undefined } | undefined
  /** The facts, or undefined when there is no such key or client. */
  load(name: string, bucket: number): Promise<F | undefined>
  start(): void
  stop(): void
}
export type KeyCache = FactsCache<KeyFacts>

interface Deps<F> {
  cells: Cells
  clock: Clock
  log: Log
  /** Asks one cell for many at once; those that do not exist are left out. */
  find(db: Db, names: readonly string[]): Promise<ReadonlyMap<string, F>>
}

export function createKeyCache(cells: Cells, clock: Clock, log: Log): KeyCache {
  return createFactsCache<KeyFacts>({
    cells,
    clock,
    log,
    async find(db, hashes) {
      const found = await keyStore.findFacts(
        db,
        hashes.map((hash) => Buffer.from(hash, 'base64')),
      )
      return new Map(found.map((facts) => [facts.lookupHash.toString('base64'), facts]))
    },
  })
}

/**
 * Facts of keys in use, at most five seconds old. A timer refreshes those that were used, all of one cell in one
 * statement, so that a hot check never waits for the database. When the database is away entries run out and checks
 * fail: no verdict without evidence. Unknown keys are remembered too, so that a flood of one wrong key costs nothing.
 */
export function createFactsCache<F>({ cells, clock, log, find }: Deps<F>): FactsCache<F> {
  const known = new BoundedMap<string, Entry<F>>(MAX_ENTRIES)
  const unknown = new BoundedMap<string, Entry<F>>(MAX_UNKNOWN)
  const loading = createSingleFlight<F | undefined>()
  let timer: NodeJS.Timeout | undefined
  const refreshing = new Set<Db>()

  function remember(name: string, entry: Entry<F>): void {
    const [place, other] = entry.facts ? [known, unknown] : [unknown, known]
    other.delete(name)
    place.set(name, entry)
  }

  async function load(name: string, bucket: number): Promise<F | undefined> {
    // Taken before the question is sent: what is read may be as old as that.
    const loadedMs = clock.monotonicMs()
    const facts = (await find(cells.forBucket(bucket), [name])).get(name)
    if (clock.monotonicMs() - loadedMs > KEY_MAX_AGE_MS) {
      throw new AppError('unavailable', 'DEPENDENCY_DOWN', 'The store is too slow, try again')
    }
    remember(name, { bucket, facts, loadedMs, usedSinceLoad: false })
    return facts
  }

  /** Forgets what is old and unused; returns what is used and due, by cell. */
  function sweep(nowMs: number): Map<Db, [string, Entry<F>][]> {
    const due = new Map<Db, [string, Entry<F>][]>()
    for (const entries of [known, unknown]) {
      for (const [name, entry] of entries) {
        const age = nowMs - entry.loadedMs
        if (age > KEY_MAX_AGE_MS && !entry.usedSinceLoad) entries.delete(name)
        else if (age > REFRESH_AFTER_MS && entry.usedSinceLoad && entry.facts) {
          const db = cells.forBucket(entry.bucket)
          const batch = due.get(db)
          if (batch) batch.push([name, entry])
          else due.set(db, [[name, entry]])
        }
      }
    }
    return due
  }

  async function refreshCell(db: Db, batch: readonly [string, Entry<F>][], nowMs: number): Promise<void> {
    const found = await find(
      db,
      batch.map(([name]) => name),
    )
    for (const [name, entry] of batch) {
      // A load that came in between knows better.
      if (known.get(name) !== entry) continue
      remember(name, { ...entry, facts: found.get(name), loadedMs: nowMs, usedSinceLoad: false })
    }
  }

  /** Each cell by itself: one that is slow or away must not hold up the others. */
  function refresh(): void {
    const nowMs = clock.monotonicMs()
    for (const [db, batch] of sweep(nowMs)) {
      if (refreshing.has(db)) continue
      refreshing.add(db)
      refreshCell(db, batch, nowMs)
        .catch((err) => logFailure(log, 'warn', { err }, 'API keys or clients could not be refreshed'))
        .finally(() => refreshing.delete(db))
    }
  }

  return {
    peek(name) {
      const entry = known.get(name) ?? unknown.get(name)
      if (!entry || clock.monotonicMs() - entry.loadedMs > KEY_MAX_AGE_MS) return undefined
      entry.usedSinceLoad = true
      return entry
    },
    load: (name, bucket) => loading.run(name, () => load(name, bucket)),
    start() {
      timer ??= setInterval(refresh, REFRESH_EVERY_MS).unref()
    },
    stop() {
      clearInterval(timer)
      timer = undefined
    },
  }
}
