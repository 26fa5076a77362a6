import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { KeyFacts } from './key.ts'
import { keyStore } from './store.ts'

/** No answer from the cache is older than this: a revoked key stops working everywhere within it. */
export const KEY_MAX_AGE_MS = 5_000
const REFRESH_AFTER_MS = 2_000
const REFRESH_EVERY_MS = 1_000
const MAX_ENTRIES = 20_000

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
  size(): number
}

/**
 * Facts of keys in use, at most five seconds old. A timer refreshes those that were used, all of one cell in one
 * statement, so that a hot check never waits for the database. When the database is away entries run out and checks
 * fail: no verdict without evidence. Unknown keys are remembered too, so that a flood of one wrong key costs nothing.
 */
export function createKeyCache(cells: Cells, clock: Clock, log: Log): KeyCache {
  const entries = new Map<string, Entry>()
  const loading = new Map<string, Promise<KeyFacts | undefined>>()
  let timer: NodeJS.Timeout | undefined

  function remember(hash: string, entry: Entry): void {
    entries.delete(hash)
    entries.set(hash, entry)
    if (entries.size > MAX_ENTRIES)
      for (const oldest of entries.keys()) {
        entries.delete(oldest)
        break
      }
  }

  async function load(hash: string, bucket: number): Promise<KeyFacts | undefined> {
    // Taken before the question is sent: what is read may be as old as that.
    const loadedMs = clock.monotonicMs()
    const [facts] = await keyStore.findFacts(cells.forBucket(bucket), [bytesOf(hash)])
    remember(hash, { bucket, facts, loadedMs, usedSinceLoad: false })
    return facts
  }

  async function refresh(): Promise<void> {
    const nowMs = clock.monotonicMs()
    const due = new Map<ReturnType<Cells['forBucket']>, [string, Entry][]>()
    for (const [id, entry] of entries) {
      const age = nowMs - entry.loadedMs
      if (age > KEY_MAX_AGE_MS && !entry.usedSinceLoad) entries.delete(id)
      else if (age > REFRESH_AFTER_MS && entry.usedSinceLoad) {
        const db = cells.forBucket(entry.bucket)
        due.set(db, [...(due.get(db) ?? []), [id, entry]])
      }
    }
    await Promise.all(
      [...due].map(async ([db, batch]) => {
        const found = await keyStore.findFacts(
          db,
          batch.map(([hash]) => bytesOf(hash)),
        )
        const byHash = new Map(found.map((facts) => [facts.lookupHash.toString('base64'), facts]))
        for (const [id, entry] of batch) {
          if (entries.has(id))
            entries.set(id, { ...entry, facts: byHash.get(id), loadedMs: nowMs, usedSinceLoad: false })
        }
      }),
    )
  }

  return {
    peek(hash) {
      const entry = entries.get(hash)
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
      timer ??= setInterval(() => {
        refresh().catch((err) => log.warn({ err }, 'API keys could not be refreshed'))
      }, REFRESH_EVERY_MS).unref()
    },
    stop() {
      clearInterval(timer)
      timer = undefined
    },
    size: () => entries.size,
  }
}

function bytesOf(hash: string): Buffer {
  return Buffer.from(hash, 'base64')
}
