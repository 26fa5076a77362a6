import { AGE_LIMITS } from '@ostiary/contract'
import type { Db } from '../platform/db.ts'
import { dropPartitionsBefore, ensurePartitions } from '../platform/partitions.ts'
import { sessionStore } from './store.ts'

const PURGE_BATCH = 2_000
const DAYS_AHEAD = 7
const DAY_MS = 86_400_000

/** Deletes what sessions hold when their retention has passed; from that moment on it was not given out any more. */
export async function purgeSessions(db: Db, now: Date): Promise<number> {
  let total = 0
  for (;;) {
    const purged = await sessionStore.purge(db, now, PURGE_BATCH)
    total += purged
    if (purged < PURGE_BATCH) return total
  }
}

/** Makes the partitions of the coming days. */
export async function prepareSessionPartitions(db: Db, now: Date): Promise<number> {
  const yesterday = new Date(now.getTime() - DAY_MS)
  let made = 0
  for (const table of ['sessions', 'session_secrets']) {
    made += (await ensurePartitions(db, table, yesterday, DAYS_AHEAD + 1)).created
  }
  return made
}

/**
 * Drops the days of which nothing is left: of secrets when the last was purged, of sessions when the last of their tombstones
 * is a month old.
 */
export async function dropSessionPartitions(db: Db, now: Date): Promise<number> {
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS)
  const forgotten = before(AGE_LIMITS.tombstoneDays)
  const secrets = await dropPartitionsBefore(db, 'session_secrets', before(1))
  const tombstones = await dropPartitionsBefore(db, 'sessions', before(AGE_LIMITS.tombstoneDays + 1), (tx, partition) =>
    sessionStore.isForgotten(tx, partition, forgotten),
  )
  return secrets + tombstones
}
