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
  hash: Buffer
  bucket: number
  facts: KeyFacts | undefined
  loadedMs: number
  usedSinceLoad: boolean
}

export interface KeyCache {
  /** The facts of a key, or undefined when it does not exist. Asks the database only for keys it has not seen lately. */
  find(hash: Buffer, bucket: number): Promise<{ facts: KeyFacts | undefined; cached: boolean }>
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

  function remember(id: string, entry: Entry): void {
    entries.delete(id)
    entries.set(id, entry)
    if (entries.size > MAX_ENTRIES)
      for (const oldest of entries.keys()) {
        entries.delete(oldest)
        break
      }
  }

  async function load(id: string, hash: Buffer, bucket: number): Promise<KeyFacts | undefined> {
    // Taken before the question is sent: what is read may be as old as that.
    const loadedMs = clock.monotonicMs()
    const [facts] = await keyStore.findFacts(cells.forBucket(bucket), [hash])
    remember(id, { hash, bucket, facts, loadedMs, usedSinceLoad: false })
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
          batch.map(([, entry]) => entry.hash),
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
    async find(hash, bucket) {
      const id = hash.toString('base64')
      const entry = entries.get(id)
      if (entry && clock.monotonicMs() - entry.loadedMs <= KEY_MAX_AGE_MS) {
        entry.usedSinceLoad = true
        return { facts: entry.facts, cached: true }
      }
      let pending = loading.get(id)
      if (!pending) {
        pending = load(id, hash, bucket).finally(() => loading.delete(id))
        loading.set(id, pending)
      }
      return { facts: await pending, cached: false }
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
