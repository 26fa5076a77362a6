import { AGE_LIMITS, SETTINGS_LIMITS } from '@ostiary/contract'
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

const LONGEST_DAYS = Math.ceil((AGE_LIMITS.lifetimeSecondsMax + SETTINGS_LIMITS.retentionSecondsMax) / 86_400) + 1

/** Drops the partitions in which nothing can be left: of secrets after the longest retention, of tombstones a month later. */
export async function dropSessionPartitions(db: Db, now: Date): Promise<number> {
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS)
  const secrets = await dropPartitionsBefore(db, 'session_secrets', before(LONGEST_DAYS))
  return secrets + (await dropPartitionsBefore(db, 'sessions', before(LONGEST_DAYS + AGE_LIMITS.tombstoneDays)))
}
