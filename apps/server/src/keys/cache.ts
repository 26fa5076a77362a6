import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import type { KeyFacts } from './key.ts'
import { keyStore } from './store.ts'

/** No answer from the cache is older than this: a revoked key stops working everywhere within it. */
export const KEY_MAX_AGE_MS = 5_000
const REFRESH_AFTER_MS = 2_000
const REFRESH_EVERY_MS = 1_000
const MAX_ENTRIES = 20_000

// Keys that do not exist are remembered in a map of their own, so that made-up keys cannot push out real ones.
const MAX_UNKNOWN = 2_000

interface Entry {
  bucket: number
  facts: KeyFacts | undefined
  loadedMs: number
  usedSinceLoad: boolean
}

export interface KeyCache {
  /** What is known of a key without asking anyone; undefined when the database must be asked (`load`). */
  peek(hash: string): { facts: KeyFacts | undefined } | undefined
  /** The facts of a key, or undefined when it does not exist. */
  load(hash: string, bucket: number): Promise<KeyFacts | undefined>
  start(): void
  stop(): void
}

/**
 * Facts of keys in use, at most five seconds old. A timer refreshes those that were used, all of one cell in one
 * statement, so that a hot check never waits for the database. When the database is away entries run out and checks
 * fail: no verdict without evidence. Unknown keys are remembered too, so that a flood of one wrong key costs nothing.
 */
export function createKeyCache(cells: Cells, clock: Clock, log: Log): KeyCache {
  const known = new Map<string, Entry>()
  const unknown = new Map<string, Entry>()
  const loading = new Map<string, Promise<KeyFacts | undefined>>()
  let timer: NodeJS.Timeout | undefined
  const refreshing = new Set<Db>()

  function remember(hash: string, entry: Entry): void {
    known.delete(hash)
    unknown.delete(hash)
    if (entry.facts) putLast(known, hash, entry, MAX_ENTRIES)
    else putLast(unknown, hash, entry, MAX_UNKNOWN)
  }

  async function load(hash: string, bucket: number): Promise<KeyFacts | undefined> {
    // Taken before the question is sent: what is read may be as old as that.
    const loadedMs = clock.monotonicMs()
    const [facts] = await keyStore.findFacts(cells.forBucket(bucket), [bytesOf(hash)])
    if (clock.monotonicMs() - loadedMs > KEY_MAX_AGE_MS) {
      throw new AppError('unavailable', 'DEPENDENCY_DOWN', 'The store is too slow, try again')
    }
    remember(hash, { bucket, facts, loadedMs, usedSinceLoad: false })
    return facts
  }

  /** Forgets what is old and unused; returns what is used and due, by cell. */
  function sweep(nowMs: number): Map<Db, [string, Entry][]> {
    const due = new Map<Db, [string, Entry][]>()
    for (const entries of [known, unknown]) {
      for (const [hash, entry] of entries) {
        const age = nowMs - entry.loadedMs
        if (age > KEY_MAX_AGE_MS && !entry.usedSinceLoad) entries.delete(hash)
        else if (age > REFRESH_AFTER_MS && entry.usedSinceLoad && entry.facts) {
          const db = cells.forBucket(entry.bucket)
          const batch = due.get(db)
          if (batch) batch.push([hash, entry])
          else due.set(db, [[hash, entry]])
        }
      }
    }
    return due
  }

  async function refreshCell(db: Db, batch: readonly [string, Entry][], nowMs: number): Promise<void> {
    const found = await keyStore.findFacts(
      db,
      batch.map(([hash]) => bytesOf(hash)),
    )
    const byHash = new Map(found.map((facts) => [facts.lookupHash.toString('base64'), facts]))
    for (const [hash, entry] of batch) {
      // A load that came in between knows better.
      if (known.get(hash) !== entry) continue
      remember(hash, { ...entry, facts: byHash.get(hash), loadedMs: nowMs, usedSinceLoad: false })
    }
  }

  /** Each cell by itself: one that is slow or away must not hold up the others. */
  function refresh(): void {
    const nowMs = clock.monotonicMs()
    for (const [db, batch] of sweep(nowMs)) {
      if (refreshing.has(db)) continue
      refreshing.add(db)
      refreshCell(db, batch, nowMs)
        .catch((err) => log.warn({ err }, 'API keys could not be refreshed'))
        .finally(() => refreshing.delete(db))
    }
  }

  return {
    peek(hash) {
      const entry = known.get(hash) ?? unknown.get(hash)
      if (!entry || clock.monotonicMs() - entry.loadedMs > KEY_MAX_AGE_MS) return undefined
      entry.usedSinceLoad = true
      return entry
    },
    load(hash, bucket) {
      let pending = loading.get(hash)
      if (!pending) {
        pending = load(hash, bucket).finally(() => loading.delete(hash))
        loading.set(hash, pending)
      }
      return pending
    },
    start() {
      timer ??= setInterval(refresh, REFRESH_EVERY_MS).unref()
    },
    stop() {
      clearInterval(timer)
      timer = undefined
    },
  }
}

function putLast(entries: Map<string, Entry>, hash: string, entry: Entry, limit: number): void {
  entries.set(hash, entry)
  if (entries.size <= limit) return
  const [oldest] = entries.keys()
  if (oldest !== undefined) entries.delete(oldest)
}

function bytesOf(hash: string): Buffer {
  return Buffer.from(hash, 'base64')
}
