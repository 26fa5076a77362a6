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

/** The maximum age of a cached answer. A revoked key stops working everywhere within this time. */
export const KEY_MAX_AGE_MS = 5_000
const REFRESH_AFTER_MS = 2_000
const REFRESH_EVERY_MS = 1_000
const MAX_ENTRIES = 20_000

// Unknown keys have a separate map, so that invented keys cannot evict real ones.
const MAX_UNKNOWN = 2_000

interface Entry<F> {
  bucket: number
  facts: F | undefined
  loadedMs: number
  usedSinceLoad: boolean
}

/** Facts of API keys by the hash of the key, or facts of clients by their id. */
export interface FactsCache<F> {
  /** The cached answer; undefined when the database must be queried (`load`). */
  peek(name: string): { facts: F | undefined } | undefined
  /** The facts, or undefined when there is no such key or client. */
  load(name: string, bucket: number): Promise<F | undefined>
  /** Whether this process has found it before, at any time. Its facts may be too old now; who presents it does not guess. */
  wasFound(name: string): boolean
  start(): void
  stop(): void
}
export type KeyCache = FactsCache<KeyFacts>

interface Deps<F> {
  cells: Cells
  clock: Clock
  log: Log
  /** Queries many entries of one cell at once; those that do not exist are left out. */
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
 * Facts of keys in use, at most five seconds old. A timer refreshes the used entries, all of one cell in one statement, so
 * that the check of a key in use never waits for the database. When the database is away, entries expire and checks fail.
 * Unknown keys are cached too, so that a flood of one wrong key costs nothing.
 */
export function createFactsCache<F>({ cells, clock, log, find }: Deps<F>): FactsCache<F> {
  const known = new BoundedMap<string, Entry<F>>(MAX_ENTRIES)
  const unknown = new BoundedMap<string, Entry<F>>(MAX_UNKNOWN)
  const found = new BoundedMap<string, true>(MAX_ENTRIES)
  const loading = createSingleFlight<F | undefined>()
  let timer: NodeJS.Timeout | undefined
  const refreshing = new Set<Db>()

  function remember(name: string, entry: Entry<F>): void {
    const [place, other] = entry.facts ? [known, unknown] : [unknown, known]
    other.delete(name)
    place.set(name, entry)
    if (entry.facts) found.set(name, true)
    else found.delete(name)
  }

  async function load(name: string, bucket: number): Promise<F | undefined> {
    // Taken before the query is sent, because the result may be as old as that.
    const loadedMs = clock.monotonicMs()
    const facts = (await find(cells.forBucket(bucket), [name])).get(name)
    if (clock.monotonicMs() - loadedMs > KEY_MAX_AGE_MS) {
      throw new AppError('unavailable', 'DEPENDENCY_DOWN', 'The store is too slow, try again')
    }
    remember(name, { bucket, facts, loadedMs, usedSinceLoad: false })
    return facts
  }

  /** Drops old unused entries and returns the used entries that are due, by cell. */
  function sweep(nowMs: number): Map<Db, [string, Entry<F>][]> {
    const due = new Map<Db, [string, Entry<F>][]>()
    for (const entries of [known, unknown]) {
      for (const [name, entry] of entries) {
        const age = nowMs - entry.loadedMs
        if (age > KEY_MAX_AGE_MS && !entry.usedSinceLoad) entries.delete(name)
        else if (age > REFRESH_AFTER_MS && entry.usedSinceLoad && entry.facts) {
          const db = cells.forBucket(entry.bucket).shared
          const batch = due.get(db)
          if (batch) batch.push([name, entry])
          else due.set(db, [[name, entry]])
        }
      }
    }
    return due
  }

  async function refreshCell(db: Db, batch: readonly [string, Entry<F>][], nowMs: number): Promise<void> {
    const facts = await find(
      db,
      batch.map(([name]) => name),
    )
    for (const [name, entry] of batch) {
      // A load in between has a newer result.
      if (known.get(name) !== entry) continue
      remember(name, { ...entry, facts: facts.get(name), loadedMs: nowMs, usedSinceLoad: false })
    }
  }

  /** Refreshes each cell separately: a slow or unavailable cell must not delay the others. */
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
    wasFound: (name) => found.get(name) === true,
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
