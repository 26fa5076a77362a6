import { AREA_LETTERS } from '@ostiary/contract'
import { type Queryable, sql } from '../platform/db.ts'
import type { SessionState } from './states.ts'
import { CLEAR, LISTED_SECRETS, type SessionOwner, type StoredSession } from './store.ts'

/** A place in a list, newest first: what comes after it was created before it. */
export interface ListPlace {
  createdAt: Date
  sessionId: string
}

export interface ListFilter {
  before: ListPlace
  limit: number
  /** The rows end where the requests of those before the next one have so many bytes. */
  maxBytes: number
  tags: readonly string[]
  /** Only sessions in this state; null for all. */
  state: SessionState | null
  /** Sessions that were purged until then are left out. */
  purgedAfter: Date
  /** Only sessions that were purged until then; null for all others too. */
  purgedUntil: Date | null
  /** Only sessions that were created in this time: the partitions that are read. */
  within: { from: Date; to: Date }
}

// The primary key is the index of the list. A state is a filter and not an index: it changes half a dozen times in a session's life,
// and an index on it would make every change slower.
const LISTED = `s.tenant_id = $1 and s.livemode = $2 and s.area = $3 and (s.created_at, s.session_id) < ($4, $5)
  and (s.purge_at is null or s.purge_at > $7) and s.created_at >= $8 and s.created_at <= $9
  and ($10::text is null or s.state = $10) and ($11::timestamptz is null or s.purge_at <= $11)`
const WITH_SECRETS = `left join session_secrets v on v.tenant_id = s.tenant_id and v.created_at = s.created_at
  and v.session_id = s.session_id and v.created_at >= $8 and v.created_at <= $9`
const NEWEST = 'order by s.created_at desc, s.session_id desc'
/**
 * Limits the page first, so that the sealed part is read for its sessions only. The sizes are known without the values. `available` counts
 * what the page could have held, so that the caller knows whether its bytes ended it.
 */
const pageOf = (from: string) => `select * from (
    select ${CLEAR}, ${LISTED_SECRETS}, count(*) over () as available, sum(octet_length(v.request)) over (
      ${NEWEST} rows between unbounded preceding and 1 preceding) as before
    from (select * from ${from} ${NEWEST} limit $6) s ${WITH_SECRETS}
  ) s where coalesce(before, 0) < $12 order by "createdAt" desc, "sessionId" desc`
const LIST = sql('sessions.list', pageOf(`sessions s where ${LISTED}`))
// Finds tags first, by their index: otherwise the planner reads all sessions of the tenant and checks the tags of each.
const LIST_TAGGED = sql(
  'sessions.list_tagged',
  `with tagged as materialized (select * from sessions s where s.metadata_tags @> $13::bigint[] and ${LISTED})
   ${pageOf('tagged s')}`,
)
type Listed = StoredSession & { available: string }

export const sessionListStore = {
  /** Rows, and whether there are more of them within `limit` than their bytes let in. */
  async list(
    db: Queryable,
    owner: SessionOwner,
    { before, limit, maxBytes, tags, state, purgedAfter, purgedUntil, within }: ListFilter,
  ): Promise<{ rows: StoredSession[]; isCut: boolean }> {
    const { tenantId, livemode, area } = owner
    const place = [before.createdAt, before.sessionId, limit]
    const bounds = [purgedAfter, within.from, within.to, state, purgedUntil]
    const values = [tenantId, livemode, AREA_LETTERS[area], ...place, ...bounds, maxBytes]
    const rows = await (tags.length === 0
      ? db.rows<Listed>(LIST, values)
      : db.rows<Listed>(LIST_TAGGED, [...values, tags]))
    return { rows, isCut: Number(rows[0]?.available ?? 0) > rows.length }
  },
}
