import { PURGED } from '@ostiary/contract'
import { type Db, type Queryable, sql } from '../platform/db.ts'
import { keyOf, type SessionKey } from './store.ts'

/**
 * What a tombstone keeps: its ids, when it was created and when it was deleted. The other times go too, because an end after `expires_at` says
 * EXPIRED. Nothing is due any more; the index `sessions_not_purged` leaves rows out by that. The tags reveal nothing, but they concern the
 * erased content. `silent_retention_seconds` is in rows of the last release.
 */
const tombstoneOf = (deletedAt: string) =>
  `state = '${PURGED}', metadata_tags = null, silent_retention_seconds = null, expires_at = ${deletedAt}, ended_at = ${deletedAt}, due_at = 'infinity'`
const KEY = 'tenant_id = $1 and created_at = $2 and session_id = $3'
const SAME = (a: string, b: string) =>
  `${a}.tenant_id = ${b}.tenant_id and ${a}.created_at = ${b}.created_at and ${a}.session_id = ${b}.session_id`

// Makes the planner find a batch of rows by their keys; by itself it would read all partitions. Applies to this transaction only.
const BY_KEY = sql(
  'sessions.by_key',
  `select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true)`,
)

// Calls lock the clear row before the sealed one, so this must not wait for a clear row: one that is locked is left to MARK_PURGED.
const PURGE = sql(
  'sessions.purge',
  `with due as (
     select tenant_id, created_at, session_id from session_secrets where purge_at <= $1
     order by purge_at limit $2 for update skip locked
   ), gone as (
     delete from session_secrets v using due d where ${SAME('v', 'd')}
     returning v.tenant_id, v.created_at, v.session_id
   ), held as (
     select s.tenant_id, s.created_at, s.session_id from sessions s join gone g on ${SAME('s', 'g')}
     where s.purge_at is not null for update of s skip locked
   ), marked as (
     update sessions s set ${tombstoneOf('s.purge_at')} from held h where ${SAME('s', 'h')}
   )
   select count(*)::int as count from gone`,
)
const MARK_PURGED = sql(
  'sessions.mark_purged',
  `with due as (
     select tenant_id, created_at, session_id from sessions where purge_at <= $1 and due_at < 'infinity'
     order by purge_at limit $2 for update skip locked
   )
   update sessions s set ${tombstoneOf('s.purge_at')} from due d where ${SAME('s', 'd')}`,
)
const PURGE_DEFAULT_PARTITION = sql(
  'sessions.purge_default_partition',
  `delete from sessions_default where ctid = any(array(
     select ctid from sessions_default where purge_at <= $1 limit $2 for update skip locked))`,
)
const ERASE = sql(
  'sessions.erase',
  `with gone as (delete from session_secrets where ${KEY} returning session_id)
   update sessions set purge_at = $4, ${tombstoneOf('$4')} where ${KEY} and exists (select from gone)`,
)

/** The end of what is stored of a session. */
export const sessionPurgeStore = {
  purge: (db: Db, now: Date, limit: number): Promise<number> =>
    db.transaction(async (tx) => {
      await tx.rows(BY_KEY)
      return (await tx.rows<{ count: number }>(PURGE, [now, limit]))[0]?.count ?? 0
    }),
  /** Makes tombstones of rows whose retention has passed and that still say how the session ended. */
  markPurged: (db: Db, now: Date, limit: number): Promise<number> =>
    db.transaction(async (tx) => {
      await tx.rows(BY_KEY)
      return tx.run(MARK_PURGED, [now, limit])
    }),
  erase: (tx: Queryable, key: SessionKey, now: Date): Promise<number> => tx.run(ERASE, [...keyOf(key), now]),
  /** Whether no session of a day is open and none has anything sealed. Reads two indexes, never the rows. */
  async hasOnlyTombstones(tx: Queryable, partition: string): Promise<boolean> {
    const open = sql('', `select 1 from ${partition} where ended_at is null order by due_at limit 1`)
    const sealed = sql(
      '',
      `select 1 from session_secrets where created_at >= $1::timestamptz and created_at < $1::timestamptz + interval '1 day'
       limit 1`,
    )
    return (await tx.rows(open)).length === 0 && (await tx.rows(sealed, [startOf(partition)])).length === 0
  },
  purgeDefaultPartition: (db: Queryable, purgedUntil: Date, limit: number): Promise<number> =>
    db.run(PURGE_DEFAULT_PARTITION, [purgedUntil, limit]),
}

/** The day of a partition, from the end of its name. */
function startOf(partition: string): Date {
  const [, year, month, day] = /(\d{4})(\d{2})(\d{2})$/.exec(partition) ?? []
  return new Date(`${year}-${month}-${day}T00:00:00Z`)
}
