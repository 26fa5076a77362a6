import { SESSION_LIMITS, SETTINGS_LIMITS } from '@ostiary/contract'
import { DAY_MS } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { dropPartitionsBefore, ensurePartitions } from '../platform/partitions.ts'
import { purgeInBatches, purging } from '../platform/purge-in-batches.ts'
import { sessionPurgeStore } from './purge-store.ts'

const PURGE_BATCH = 2_000
const DAYS_AHEAD = 7
/** A session's rows change half a dozen times in a few minutes, and then never again. */
const FILL_FACTOR = 70

/** Deletes the content of sessions whose retention has passed. No call has returned it since that moment. */
export async function purgeSessions(db: Db, now: Date): Promise<number> {
  const purged = await purgeInBatches(PURGE_BATCH, (limit) => sessionPurgeStore.purge(db, now, limit))
  // Every release schedules this job. A worker of the last one that starts again takes `mark-purged-sessions` off the schedule.
  return purged + (await markPurgedSessions(db, now))
}

/**
 * Sessions whose retention has passed and whose rows still say how they ended: their result was never stored, the last release purged them,
 * or a call held the row during the purge. Reads an index without tombstones, so a run with nothing to do costs nothing.
 */
export const markPurgedSessions = purging(sessionPurgeStore.markPurged)

/** Creates the partitions of the coming days. */
export async function prepareSessionPartitions(db: Db, now: Date, log?: Log): Promise<number> {
  const yesterday = new Date(now.getTime() - DAY_MS)
  let made = 0
  for (const table of ['sessions', 'session_secrets']) {
    const days = { from: yesterday, days: DAYS_AHEAD + 1, fillFactor: FILL_FACTOR }
    made += (await ensurePartitions(db, table, days, log)).created
  }
  return made
}

/** The longest time from the creation of a session to the end of its retention. */
const LONGEST_DAYS = Math.ceil((SESSION_LIMITS.lifetimeSecondsMax + SETTINGS_LIMITS.retentionSecondsMax) / 86_400) + 1

/**
 * Drops the partitions of days that are empty: those of secrets when the last one was purged, those of sessions a month after the
 * longest retention, when only tombstones can be left. The check runs under a lock that blocks all sessions, so it must not read
 * every row.
 */
export async function dropSessionPartitions(db: Db, now: Date): Promise<number> {
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS)
  const secrets = await dropPartitionsBefore(db, 'session_secrets', before(1))
  const over = before(LONGEST_DAYS + SESSION_LIMITS.tombstoneDays)
  const tombstones = await dropPartitionsBefore(db, 'sessions', over, sessionPurgeStore.hasOnlyTombstones)
  return secrets + tombstones + (await purgeDefaultPartition(db, before(SESSION_LIMITS.tombstoneDays)))
}

/** Deletes tombstones of days that never got a partition: dropping a day's partition does not reach them. */
function purgeDefaultPartition(db: Db, purgedUntil: Date): Promise<number> {
  return purgeInBatches(PURGE_BATCH, (limit) => sessionPurgeStore.purgeDefaultPartition(db, purgedUntil, limit))
}
