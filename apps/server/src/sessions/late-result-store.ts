import { type Queryable, sql } from '../platform/db.ts'
import { CLEAR, type SessionKey, type SessionRow } from './store.ts'

/** SQL of results that are made when they are read. */

const MIGRATION = '0029_late_results.sql'
const NUMBER = '0029'
/** What a migration says that works with every release. */
const ANY_RELEASE = '0000'

/**
 * True where such results are allowed. A release that does not know them reads their sessions as open, so it must not start on this database:
 * the row of the migration says so, and the sweeper holds that row (docs/decisions/0054).
 */
export const RELEASE_NEEDED = `name = '${MIGRATION}' and compatible_from = '${NUMBER}'`

const ALLOW = sql(
  'sessions.allow_late_results',
  `update schema_migrations set compatible_from = '${NUMBER}' where name = '${MIGRATION}' and compatible_from is distinct from '${NUMBER}'`,
)
const IS_ALLOWED = sql('sessions.has_late_results', `select 1 from schema_migrations where ${RELEASE_NEEDED}`)
// Waits for those who are ending sessions. A sweeper that comes later waits for this transaction.
const HOLD = sql('sessions.hold_late_results', `select 1 from schema_migrations where ${RELEASE_NEEDED} for update`)
const FORBID = sql(
  'sessions.forbid_late_results',
  `update schema_migrations set compatible_from = '${ANY_RELEASE}' where ${RELEASE_NEEDED}`,
)
const LATE = `result_rule is not null and purge_at is not null and due_at < 'infinity'`
// In the order of an index that holds ended sessions until their retention has passed.
const LOCK_LATE = sql(
  'sessions.lock_late',
  `select ${CLEAR} from sessions s where ${LATE} and (purge_at, session_id) > ($1, $2) and purge_at >= $1
   order by purge_at, session_id limit $3 for update`,
)
const HAS_LATE = sql('sessions.has_late', `select 1 from sessions where ${LATE} limit 1`)
const SETTLE = sql(
  'sessions.settle',
  `update sessions s set result_rule = null from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) as g(tenant_id, created_at, session_id)
   where s.tenant_id = g.tenant_id and s.created_at = g.created_at and s.session_id = g.session_id`,
)

/** The place of a session among those that are to be purged. */
export interface PurgePlace {
  purgeAt: Date
  sessionId: string
}

export const lateResultStore = {
  allow: (db: Queryable): Promise<number> => db.run(ALLOW),
  isAllowed: async (db: Queryable): Promise<boolean> => (await db.rows(IS_ALLOWED)).length > 0,
  hold: (tx: Queryable): Promise<object[]> => tx.rows(HOLD),
  forbid: (tx: Queryable): Promise<number> => tx.run(FORBID),
  /** The next sessions whose results are not stored, held by this transaction. */
  lock: (tx: Queryable, { purgeAt, sessionId }: PurgePlace, limit: number): Promise<SessionRow[]> =>
    tx.rows<SessionRow>(LOCK_LATE, [purgeAt, sessionId, limit]),
  hasAny: async (tx: Queryable): Promise<boolean> => (await tx.rows(HAS_LATE)).length > 0,
  /** Their results are stored from now on. */
  settle: (tx: Queryable, keys: readonly SessionKey[]): Promise<number> =>
    tx.run(SETTLE, [
      keys.map(({ tenantId }) => tenantId),
      keys.map(({ createdAt }) => createdAt),
      keys.map(({ sessionId }) => sessionId),
    ]),
}
