import { AREA_LETTERS, type AttemptOutcome, type DeadReason, type SessionArea } from '@ostiary/contract'
import { columns } from '../platform/columns.ts'
import { type Db, type Queryable, sql } from '../platform/db.ts'
import { timeOfId } from '../platform/ids.ts'
import type { Sealed } from '../platform/key-vault.ts'
import { rowsByPlace } from '../platform/plan-mode.ts'

/** SQL of the queue, for the dispatcher: take deliveries with their messages, return them, store their attempts. */

/** A queue row that this worker holds until its lease ends. */
export interface Claim {
  tenantId: string
  deliveryId: string
  livemode: boolean
  endpointId: string
  attempts: number
  tries: number
  /** How often the delivery was started again by a replay. */
  restarts: number
  failNext: number
  /** There is a one-time body; `onceOf` reads it. It is not part of the claim, because pictures of all held claims would need much memory. */
  hasOnce: boolean
}

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

/** One attempt, and what follows from it. */
export interface Completion {
  claim: Claim
  attempt: number
  startedAt: Date
  durationMs: number
  outcome: AttemptOutcome
  status: number | undefined
  nextAttemptAt: Date | undefined
  dead: { at: Date; reason: DeadReason } | undefined
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
 * Each row says how many receivers were visited, and the last of them.
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

/** Finds queue rows by key and returns their ctid: the planner would turn an update that joins by key into a scan. */
const placesOf = (source: string) => `cross join lateral (
       select q.ctid as place, q.created_at from webhook_queue q
       where q.tenant_id = ${source}.tenant_id and q.delivery_id = ${source}.delivery_id limit 1
     ) q`

/**
 * Stores ended attempts. If the row changed since this worker claimed it, another worker holds it now (and stores the same attempt
 * itself), or a replay restarted it; a failure is then ignored, but a success counts, because nothing is left to do. An attempt is
 * logged only if its queue row existed, so that nothing of an erased message is written again. Returns the ids whose row was not found.
 */
const COMPLETE = sql(
  'webhooks.complete',
  `with ended as materialized (
     select e.*, q.created_at, q.place
     from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::timestamptz[], $6::int[], $7::text[], $8::smallint[], $9::timestamptz[],
       $10::timestamptz[], $11::text[])
     as e (tenant_id, delivery_id, attempt, restarts, started_at, duration_ms, outcome, status, next_attempt_at, dead_at, dead_reason)
     ${placesOf('e')}
   ), delivered as (
     delete from webhook_queue q where q.ctid = any (array(select place from ended where outcome = 'delivered')) returning q.tenant_id, q.delivery_id
   ), failed as (
     update webhook_queue q set attempts = e.attempt, tries = q.tries + 1, dead_at = e.dead_at, dead_reason = e.dead_reason,
       once_sealed = case when e.dead_at is null then q.once_sealed end,
       once_master_key_id = case when e.dead_at is null then q.once_master_key_id end,
       next_attempt_at = coalesce(e.next_attempt_at, q.next_attempt_at),
       fail_next = case when e.outcome = 'sandbox' then greatest(q.fail_next - 1, 0) else q.fail_next end
     from ended e
     where q.ctid = any (array(select place from ended where outcome <> 'delivered'))
       and q.tenant_id = e.tenant_id and q.delivery_id = e.delivery_id and q.attempts = e.attempt - 1 and q.dead_at is null
       and q.restarts = e.restarts
     returning q.tenant_id, q.delivery_id
   ), healed as (
     delete from webhook_endpoints where endpoint_id = any ($12::uuid[])
   ), settled as materialized (
     select * from delivered union all select * from failed
   ), logged as (
     insert into webhook_attempts (tenant_id, delivery_id, created_at, attempt, started_at, duration_ms, outcome, status, next_attempt_at)
     select e.tenant_id, e.delivery_id, e.created_at, e.attempt, e.started_at, e.duration_ms, e.outcome, e.status, e.next_attempt_at
     from ended e join settled s using (tenant_id, delivery_id)
     on conflict (tenant_id, delivery_id, attempt, created_at) do update set started_at = excluded.started_at,
       duration_ms = excluded.duration_ms, outcome = excluded.outcome, status = excluded.status, next_attempt_at = null
     where excluded.outcome = 'delivered'
   )
   select e.delivery_id as "deliveryId" from ended e
   where not exists (select from settled s where s.tenant_id = e.tenant_id and s.delivery_id = e.delivery_id)`,
)

// Only while this worker holds the lease. A row that another transaction changes at the same time has another lease, or no lease.
const RETURN_TO_QUEUE = sql(
  'webhooks.return_to_queue',
  `with these as materialized (
     select t.*, q.place from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as t (tenant_id, delivery_id, lease_until)
     ${placesOf('t')}
   )
   update webhook_queue q set next_attempt_at = $4 from these t
   where q.ctid = any (array(select place from these)) and q.tenant_id = t.tenant_id and q.delivery_id = t.delivery_id
     and q.next_attempt_at = t.lease_until and q.dead_at is null`,
)
const MARK_DEAD = sql(
  'webhooks.mark_dead',
  `update webhook_queue set dead_at = $3, dead_reason = $4, once_sealed = null, once_master_key_id = null
   where tenant_id = $1 and delivery_id = $2 and attempts = $5 and dead_at is null`,
)

const ONCE = sql(
  'webhooks.once',
  `select once_sealed as blob, once_master_key_id as "masterKeyId" from webhook_queue
   where tenant_id = $1 and delivery_id = $2 and once_sealed is not null`,
)

const QUEUED = sql(
  'webhooks.queued',
  `select t.place::int from unnest($1::uuid[], $2::uuid[]) with ordinality as t (tenant_id, delivery_id, place)
   where exists (select from webhook_queue q where q.tenant_id = t.tenant_id and q.delivery_id = t.delivery_id)`,
)

// Checks again in a statement of its own that the message is gone: it could have been moving from one partition to another.
const FORGET = sql(
  'webhooks.forget',
  `delete from webhook_queue q where q.tenant_id = any ($1::uuid[]) and q.delivery_id = any ($2::uuid[]) and not exists (
     select from webhook_deliveries d
     where d.tenant_id = q.tenant_id and d.delivery_id = q.delivery_id and d.created_at = q.created_at)`,
)

/** Counting stops here, to limit its cost; the metric then shows this number. */
const COUNT_MAX = 100_000
const STATE = sql(
  'webhooks.state',
  `with recursive visited (endpoint_id, first_due, n) as (
     (select endpoint_id, next_attempt_at, 1 from webhook_queue where dead_at is null order by endpoint_id, next_attempt_at limit 1)
     union all
     select next.endpoint_id, next.next_attempt_at, v.n + 1 from visited v cross join lateral (
       select endpoint_id, next_attempt_at from webhook_queue q where q.dead_at is null and q.endpoint_id > v.endpoint_id
       order by q.endpoint_id, q.next_attempt_at limit 1
     ) next where v.n < 20000
   )
   select
     (select count(*)::int from (
       select from webhook_queue where dead_at is null and next_attempt_at <= $1 limit ${COUNT_MAX}) as due) as due,
     (select min(first_due) from visited v where first_due <= $1
       and not exists (select from webhook_endpoints e where e.endpoint_id = v.endpoint_id and e.opened_times > 0)) as "oldestDue",
     (select count(*)::int from webhook_endpoints where opened_times > 0) as resting`,
)

interface ClaimRequest {
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

interface Walk {
  visited: number
  last: string | null
}
/** Without a claimed row there is one that says only how far the walk went. */
type ClaimRow = Walk & (Claim | { tenantId: null })

interface MessageRow extends Omit<Payload, 'area'> {
  deliveryId: string
  area: string
}

/** A row that another transaction changes at the same time has moved when that ends: the next try finds it. */
const COMPLETE_TRIES = 3

export const queueStore = {
  /** Returns the claimed rows, how many receivers were visited, and the last of them. */
  async claim(db: Db, request: ClaimRequest): Promise<Walk & { taken: Taken[] }> {
    const { after, visit, now, capacities, capacityOfOthers, fullTenants, limit, leaseUntil } = request
    const values = [after, visit, now, JSON.stringify(capacities), capacityOfOthers, limit, leaseUntil, fullTenants]
    const rows = await rowsByPlace<ClaimRow>(db, CLAIM, values)
    const claims = rows.flatMap(({ visited: _visited, last: _last, ...claim }) =>
      claim.tenantId === null ? [] : [claim],
    )
    return { taken: await withMessages(db, claims), visited: rows[0]?.visited ?? 0, last: rows[0]?.last ?? null }
  },

  async probe(db: Db, now: Date, leaseUntil: Date): Promise<Taken[]> {
    return withMessages(db, await rowsByPlace<Claim>(db, PROBE, [now, leaseUntil]))
  },

  async complete(db: Db, ended: readonly Completion[], healthy: readonly string[]): Promise<void> {
    let left = withoutDoubles(ended)
    for (let tries = 0; tries < COMPLETE_TRIES && left.length > 0; tries++) {
      const notFound = await rowsByPlace<{ deliveryId: string }>(db, COMPLETE, [...columnsOf(left), healthy])
      const ids = new Set(notFound.map(({ deliveryId }) => deliveryId))
      left = left.filter(({ claim }) => ids.has(claim.deliveryId))
    }
  },

  returnToQueue: (db: Queryable, tasks: readonly { claim: Claim; leaseUntil: Date }[], now: Date): Promise<number> =>
    db.run(RETURN_TO_QUEUE, [
      ...keysOf(tasks.map(({ claim }) => claim)),
      tasks.map(({ leaseUntil }) => leaseUntil.toISOString()),
      now,
    ]),

  markDead: (db: Queryable, claim: Claim, reason: DeadReason, now: Date): Promise<number> =>
    db.run(MARK_DEAD, [claim.tenantId, claim.deliveryId, now, reason, claim.attempts]),

  /** Undefined when the delivery was delivered, marked dead or erased since the claim. */
  onceOf: async (db: Queryable, { tenantId, deliveryId }: Claim): Promise<Sealed | undefined> =>
    (await db.rows<Sealed>(ONCE, [tenantId, deliveryId]))[0],

  /** For each claim, whether it is still in the queue: not delivered by another worker, not erased, not purged. */
  async areQueued(db: Queryable, claims: readonly Claim[]): Promise<boolean[]> {
    const places = new Set((await db.rows<{ place: number }>(QUEUED, keysOf(claims))).map(({ place }) => place))
    return claims.map((_, index) => places.has(index + 1))
  },

  /** Deletes claims whose message is gone: they can never be sent. */
  forget: (db: Queryable, claims: readonly Claim[]): Promise<number> => db.run(FORGET, keysOf(claims)),

  async state(db: Queryable, now: Date): Promise<QueueState> {
    const [found] = await db.rows<QueueState>(STATE, [now])
    return found ?? { due: 0, oldestDue: null, resting: 0 }
  },
}

interface QueueState {
  due: number
  oldestDue: Date | null
  resting: number
}

const keysOf = (claims: readonly Claim[]) => columns(claims, 'tenantId', 'deliveryId')

async function withMessages(db: Queryable, claims: readonly Claim[]): Promise<Taken[]> {
  if (claims.length === 0) return []
  const times = claims.map(({ deliveryId }) => timeOfId(deliveryId).toISOString())
  const sorted = times.toSorted()
  const values = [...keysOf(claims), times, sorted[0], sorted.at(-1)]
  const payloads = new Map<string, Payload>()
  for (const { deliveryId, area, ...message } of await db.rows<MessageRow>(MESSAGES, values))
    payloads.set(deliveryId, { ...message, area: area === AREA_LETTERS.age ? 'age' : 'verification' })
  return claims.map((claim) => ({ claim, payload: payloads.get(claim.deliveryId) }))
}

/** Two workers, or one worker after its lease, can have sent the same attempt. One statement can store it only once; a success wins. */
function withoutDoubles(ended: readonly Completion[]): readonly Completion[] {
  const single = new Map<string, Completion>()
  for (const one of ended) {
    const { deliveryId } = one.claim
    if (single.get(deliveryId)?.outcome !== 'delivered') single.set(deliveryId, one)
  }
  return [...single.values()]
}

const columnsOf = (ended: readonly Completion[]): unknown[] => [
  ...keysOf(ended.map(({ claim }) => claim)),
  ...columns(ended, 'attempt'),
  ended.map(({ claim }) => claim.restarts),
  ended.map(({ startedAt }) => startedAt.toISOString()),
  ...columns(ended, 'durationMs', 'outcome', 'status'),
  ended.map(({ nextAttemptAt }) => nextAttemptAt?.toISOString()),
  ended.map(({ dead }) => dead?.at.toISOString()),
  ended.map(({ dead }) => dead?.reason),
]
