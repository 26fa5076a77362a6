import { AREA_LETTERS, type SessionArea } from '@ostiary/contract'
import { type Db, type Queryable, sql } from '../platform/db.ts'
import { timeOfId } from '../platform/ids.ts'
import { rowsByPlace } from '../platform/plan-mode.ts'
import type { Claim } from './claim.ts'

/** SQL that takes deliveries from the queue, with their messages. */

/** The message of a claim. */
export interface Payload {
  area: SessionArea
  event: string
  subjectId: string
  sequence: number
  keyId: string
  blob: Buffer
  masterKeyId: string
  purgeAtMs: number
}

/** A claim with its message; undefined when the message was removed. */
export interface Taken {
  claim: Claim
  payload: Payload | undefined
}

// Rows are locked and changed by their place (ctid) within one statement: the planner could turn a join by key into a scan of the whole table. It
// takes a queue that was empty when PostgreSQL last counted its rows for one of a few rows, whatever arrived since.
const CLAIMED = `q.tenant_id as "tenantId", q.delivery_id as "deliveryId", q.livemode, q.endpoint_id as "endpointId", q.attempts, q.tries,
  q.restarts, q.fail_next as "failNext", q.once_sealed is not null as "hasOnce"`

/**
 * Visits at most $2 receivers with pending deliveries in the order of their ids, starting after $1, with one index lookup each, however
 * many deliveries a receiver has. From each receiver with due deliveries (by $3) and a closed breaker it takes as many as the receiver's
 * capacity ($4, or $5 without a lane), $6 in all, and sets their due time to the end of the lease ($7). It skips tenants that have their
 * share ($8) and rows that another worker is claiming. So one receiver's backlog does not delay another receiver.
 * Each row says how many receivers were visited, and the last of them. Without a claimed row there is one with nothing else.
 */
const CLAIM = sql(
  'webhooks.claim',
  `with recursive visited (endpoint_id, tenant_id, first_due, n) as (
     (select endpoint_id, tenant_id, next_attempt_at, 1 from webhook_queue where dead_at is null and endpoint_id > $1
      order by endpoint_id, next_attempt_at limit 1)
     union all
     select next.endpoint_id, next.tenant_id, next.next_attempt_at, v.n + 1 from visited v cross join lateral (
       select endpoint_id, tenant_id, next_attempt_at from webhook_queue q where q.dead_at is null and q.endpoint_id > v.endpoint_id
       order by q.endpoint_id, q.next_attempt_at limit 1
     ) next where v.n < $2
   ), picked as materialized (
     select due.place from visited v cross join lateral (
       select q.ctid as place from webhook_queue q
       where q.dead_at is null and q.endpoint_id = v.endpoint_id and q.next_attempt_at <= $3
       order by q.next_attempt_at limit coalesce(($4::jsonb ->> v.endpoint_id::text)::int, $5) for update skip locked
     ) due
     where v.first_due <= $3 and v.tenant_id <> all ($8::uuid[])
       and not exists (select from webhook_endpoints e where e.endpoint_id = v.endpoint_id and e.opened_times > 0)
     limit $6
   ), claimed as (
     update webhook_queue q set next_attempt_at = $7 where q.ctid = any (array(select place from picked)) returning ${CLAIMED}
   )
   select w.visited, w.last, c.*
   from (select count(*)::int as visited, (select endpoint_id from visited order by n desc limit 1) as last from visited) w
   left join claimed c on true`,
)

/**
 * Claims one delivery for each receiver whose breaker may be probed. The breaker stays open until the end of the lease ($2), so that no
 * other worker probes the receiver too, and it is probed again if this worker dies.
 */
const PROBE = sql(
  'webhooks.probe',
  `with rested as materialized (
     select e.endpoint_id from webhook_endpoints e
     where e.opened_times > 0 and e.open_until <= $1 and exists (
       select from webhook_queue q where q.dead_at is null and q.endpoint_id = e.endpoint_id and q.next_attempt_at <= $1)
     order by e.open_until limit 32 for update of e skip locked
   ), probed as (
     update webhook_endpoints e set open_until = $2, updated_at = $1
     where e.endpoint_id = any (array(select endpoint_id from rested))
   ), picked as materialized (
     select due.place from rested r cross join lateral (
       select q.ctid as place from webhook_queue q
       where q.dead_at is null and q.endpoint_id = r.endpoint_id and q.next_attempt_at <= $1
       order by q.next_attempt_at limit 1 for update skip locked
     ) due
   ), claimed as (
     update webhook_queue q set next_attempt_at = $2 where q.ctid = any (array(select place from picked)) returning ${CLAIMED}
   )
   select * from claimed`,
)

// One look into the primary key for each claim: LIMIT keeps the planner from a join, which would read whole partitions. ORDER BY, and a range in the
// place of an equal time, make it use the primary key: while a new day is empty, the index of a tenant's sessions looks as good, and the plan stays
// for as long as the connection or until PostgreSQL counts the rows. $4 and $5 leave out the partitions of other days.
const MESSAGES = sql(
  'webhooks.messages',
  `select d.* from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as t (tenant_id, delivery_id, created_at) cross join lateral (
     select d.delivery_id as "deliveryId", d.area, d.event, d.subject_id as "subjectId", d.sequence, d.key_id as "keyId", d.sealed as blob,
       d.master_key_id as "masterKeyId", (date_part('epoch', d.purge_at) * 1000)::float8 as "purgeAtMs"
     from webhook_deliveries d
     where d.tenant_id = t.tenant_id and d.delivery_id = t.delivery_id and d.created_at between t.created_at and t.created_at
       and d.created_at between $4 and $5
     order by d.created_at limit 1
   ) d`,
)

export interface ClaimRequest {
  after: string
  visit: number
  now: Date
  /** Capacity of the receivers that have a lane in this worker. */
  capacities: Readonly<Record<string, number>>
  capacityOfOthers: number
  /** Tenants that have their share and get no more now. */
  fullTenants: readonly string[]
  limit: number
  leaseUntil: Date
}

/** Returns the claimed rows, how many receivers were visited, and the last of them. */
export async function claim(
  db: Db,
  request: ClaimRequest,
): Promise<{ taken: Taken[]; visited: number; last: string | null }> {
  const { after, visit, now, capacities, capacityOfOthers, fullTenants, limit, leaseUntil } = request
  const values = [after, visit, now, JSON.stringify(capacities), capacityOfOthers, limit, leaseUntil, fullTenants]
  const rows = await rowsByPlace<ClaimRow | NoClaimRow>(db, CLAIM, values)
  const claims = rows.flatMap(({ visited: _visited, last: _last, ...claim }) =>
    claim.tenantId === null ? [] : [claim],
  )
  return { taken: await withMessages(db, claims), visited: rows[0]?.visited ?? 0, last: rows[0]?.last ?? null }
}

export async function probe(db: Db, now: Date, leaseUntil: Date): Promise<Taken[]> {
  return withMessages(db, await rowsByPlace<Claim>(db, PROBE, [now, leaseUntil]))
}

interface Walk {
  visited: number
  last: string | null
}
type ClaimRow = Walk & Claim
type NoClaimRow = Walk & { tenantId: null }

interface MessageRow extends Omit<Payload, 'area'> {
  deliveryId: string
  area: string
}

async function withMessages(db: Queryable, claims: readonly Claim[]): Promise<Taken[]> {
  if (claims.length === 0) return []
  const ids = claims.map(({ deliveryId }) => deliveryId)
  const times = ids.map((id) => timeOfId(id).toISOString())
  const [first, last] = [times.reduce((a, b) => (a < b ? a : b)), times.reduce((a, b) => (a > b ? a : b))]
  const values = [claims.map(({ tenantId }) => tenantId), ids, times, first, last]
  const payloads = new Map<string, Payload>()
  for (const { deliveryId, area, ...message } of await db.rows<MessageRow>(MESSAGES, values))
    payloads.set(deliveryId, { ...message, area: area === AREA_LETTERS.age ? 'age' : 'verification' })
  return claims.map((claim) => ({ claim, payload: payloads.get(claim.deliveryId) }))
}
