import { AREA_LETTERS, type AttemptOutcome, type DeadReason, type SessionArea } from '@ostiary/contract'
import { type Queryable, sql } from '../platform/db.ts'
import type { Sealed } from '../platform/key-vault.ts'

/** SQL of the queue, for the dispatcher: claim deliveries, store attempts. */

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
  /** A number, not a Date: parsing a time from text is the largest cost of reading a row. */
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

const CLAIMED = `q.tenant_id as "tenantId", q.delivery_id as "deliveryId", q.livemode,
  q.endpoint_id as "endpointId", q.attempts, q.tries, q.restarts, q.fail_next as "failNext",
  q.once_sealed is not null as "hasOnce", q.created_at`
// Looks up the message of each claim by its key, one by one. For a plain join the planner would read whole partitions: a second where
// this takes milliseconds. LIMIT keeps the planner from turning it into a join.
// Sealed bytes come as base64: PostgreSQL's own text form for bytes is longer and takes three times as long to parse.
const WITH_MESSAGES = `select c."tenantId", c."deliveryId", c.livemode, c."endpointId", c.attempts, c.tries, c.restarts, c."failNext",
  c."hasOnce", d.*
  from claimed c left join lateral (
    select d.area, d.event, d.subject_id as "subjectId", d.sequence, d.key_id as "keyId", encode(d.sealed, 'base64') as sealed,
      d.master_key_id as "masterKeyId", extract(epoch from d.purge_at)::float8 * 1000 as "purgeAtMs"
    from webhook_deliveries d
    where d.tenant_id = c."tenantId" and d.delivery_id = c."deliveryId" and d.created_at = c.created_at limit 1
  ) d on true`

/**
 * Visits at most $2 receivers with pending deliveries in the order of their ids, starting after $1, with one index lookup each, however
 * many deliveries a receiver has. From each receiver with due deliveries (by $3) and a closed breaker it takes as many as the receiver's
 * capacity ($4, or $5 without a lane), $6 in all, and sets their due time to the end of the lease ($7). It skips tenants that have their
 * share ($8) and rows that another worker is claiming. So one receiver's backlog does not delay another receiver.
 * Rows are updated by ctid, because the planner could turn any join into a scan of the table.
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
   select found.*, null::int as visited from (${WITH_MESSAGES}) found
   union all
   select null, null, null, (select endpoint_id from visited order by n desc limit 1), null, null, null, null, null,
     null, null, null, null, null, null, null, null, (select count(*)::int from visited)`,
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
   ${WITH_MESSAGES}`,
)

/** Finds queue rows by key and returns their ctid: the planner would turn an update that joins by key into a scan. */
const placesOf = (source: string) => `cross join lateral (
       select q.ctid as place, q.created_at from webhook_queue q
       where q.tenant_id = ${source}.tenant_id and q.delivery_id = ${source}.delivery_id limit 1
     ) q`

const timeOf = (ms: string) => `timestamptz 'epoch' + e.${ms} * interval '1 ms'`

/**
 * Stores ended attempts. If the row changed since this worker claimed it, another worker holds it now (and stores the same attempt
 * itself), or a replay restarted it; a failure is then ignored, but a success counts, because nothing is left to do. An attempt is
 * logged only if its queue row existed, so that nothing of an erased message is written again. Returns the ids whose row was not found.
 */
const completion = (name: string, rowsOf: (which: string) => string) =>
  sql(
    name,
    `with ended as materialized (
     select e.tenant_id, e.delivery_id, q.created_at, q.place, e.attempt, e.restarts, ${timeOf('started_ms')} as started_at, e.duration_ms, e.outcome,
       e.status, ${timeOf('next_ms')} as next_attempt_at, ${timeOf('dead_ms')} as dead_at, e.dead_reason
     from unnest($1::uuid[], $2::uuid[], $3::int[], $4::float8[], $5::int[], $6::text[], $7::smallint[], $8::float8[], $9::float8[],
       $10::text[], $12::int[])
     as e (tenant_id, delivery_id, attempt, started_ms, duration_ms, outcome, status, next_ms, dead_ms, dead_reason, restarts)
     ${placesOf('e')}
   ), delivered as (
     delete from webhook_queue q where ${rowsOf(`outcome = 'delivered'`)} returning q.tenant_id, q.delivery_id
   ), failed as (
     update webhook_queue q set attempts = e.attempt, tries = q.tries + 1, dead_at = e.dead_at, dead_reason = e.dead_reason,
       once_sealed = case when e.dead_at is null then q.once_sealed end,
       once_master_key_id = case when e.dead_at is null then q.once_master_key_id end,
       next_attempt_at = coalesce(e.next_attempt_at, q.next_attempt_at),
       fail_next = case when e.outcome = 'sandbox' then greatest(q.fail_next - 1, 0) else q.fail_next end
     from ended e
     where ${rowsOf(`outcome <> 'delivered'`)}
       and q.tenant_id = e.tenant_id and q.delivery_id = e.delivery_id and q.attempts = e.attempt - 1 and q.dead_at is null
       and q.restarts = e.restarts
     returning q.tenant_id, q.delivery_id
   ), healed as (
     delete from webhook_endpoints where endpoint_id = any ($11::uuid[])
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
const COMPLETE = completion(
  'webhooks.complete',
  (which) => `q.ctid = any (array(select place from ended where ${which}))`,
)
// A concurrent update gives a row a new ctid. Few rows are affected, so these are found by their keys.
const COMPLETE_MOVED = completion(
  'webhooks.complete_moved',
  (which) => `q.tenant_id = any (array(select tenant_id from ended where ${which}))
       and q.delivery_id = any (array(select delivery_id from ended where ${which}))`,
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

export const queueStore = {
  /** Returns the claimed rows, how many receivers were visited, and the last of them. */
  async claim(db: Queryable, request: ClaimRequest): Promise<{ taken: Taken[]; visited: number; last: string | null }> {
    const { after, visit, now, capacities, capacityOfOthers, fullTenants, limit, leaseUntil } = request
    const values = [after, visit, now, JSON.stringify(capacities), capacityOfOthers, limit, leaseUntil, fullTenants]
    const rows = await db.rows<TakenRow & { visited: number | null }>(CLAIM, values)
    const walk = rows.pop()
    return { taken: rows.map(toTaken), visited: walk?.visited ?? 0, last: walk?.endpointId ?? null }
  },
  probe: async (db: Queryable, now: Date, leaseUntil: Date): Promise<Taken[]> =>
    (await db.rows<TakenRow>(PROBE, [now, leaseUntil])).map(toTaken),

  async complete(db: Queryable, ended: readonly Completion[], healthy: readonly string[]): Promise<void> {
    const single = withoutDoubles(ended)
    const left = await db.rows<{ deliveryId: string }>(COMPLETE, [
      ...columnsOf(single),
      asArray(healthy),
      restartsOf(single),
    ])
    if (left.length === 0) return
    const moved = new Set(left.map(({ deliveryId }) => deliveryId))
    const again = single.filter(({ claim }) => moved.has(claim.deliveryId))
    await db.rows(COMPLETE_MOVED, [...columnsOf(again), asArray([]), restartsOf(again)])
  },
  returnToQueue: (db: Queryable, tasks: readonly { claim: Claim; leaseUntil: Date }[], now: Date): Promise<number> =>
    db.run(RETURN_TO_QUEUE, [
      tasks.map(({ claim }) => claim.tenantId),
      tasks.map(({ claim }) => claim.deliveryId),
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
    const ids = [claims.map((one) => one.tenantId), claims.map((one) => one.deliveryId)]
    const places = new Set((await db.rows<{ place: number }>(QUEUED, ids)).map(({ place }) => place))
    return claims.map((_, index) => places.has(index + 1))
  },

  /** Deletes claims whose message is gone: they can never be sent. */
  forget: (db: Queryable, claims: readonly Claim[]): Promise<number> =>
    db.run(FORGET, [claims.map((one) => one.tenantId), claims.map((one) => one.deliveryId)]),

  async state(db: Queryable, now: Date): Promise<{ due: number; oldestDue: Date | null; resting: number }> {
    const [found] = await db.rows<{ due: number; oldestDue: Date | null; resting: number }>(STATE, [now])
    return found ?? { due: 0, oldestDue: null, resting: 0 }
  },
}

/** Two workers, or one worker after its lease, can have sent the same attempt. One statement can store it only once; a success wins. */
function withoutDoubles(ended: readonly Completion[]): readonly Completion[] {
  const single = new Map<string, Completion>()
  for (const one of ended) {
    const { deliveryId } = one.claim
    if (single.get(deliveryId)?.outcome !== 'delivered') single.set(deliveryId, one)
  }
  return single.size === ended.length ? ended : [...single.values()]
}

type TakenRow = Claim & Omit<Payload, 'blob' | 'area'> & { area: 'C' | 'D'; sealed: string | null }

function toTaken(row: TakenRow): Taken {
  const { event, subjectId, sequence, keyId, sealed, masterKeyId, purgeAtMs } = row
  if (sealed === null) return { claim: row, payload: undefined }
  const blob = Buffer.from(sealed, 'base64')
  const area = row.area === AREA_LETTERS.age ? 'age' : 'verification'
  return { claim: row, payload: { area, event, subjectId, sequence, keyId, blob, masterKeyId, purgeAtMs } }
}

/** An array literal of PostgreSQL. Only for our ids, numbers and codes, which never need quotes: checking for them would cost time. */
function asArray(values: readonly (string | number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

const restartsOf = (ended: readonly Completion[]): string => asArray(ended.map(({ claim }) => claim.restarts))

function columnsOf(ended: readonly Completion[]): string[] {
  const column = (read: (one: Completion) => string | number | null) => asArray(ended.map(read))
  return [
    column((one) => one.claim.tenantId),
    column((one) => one.claim.deliveryId),
    column((one) => one.attempt),
    column((one) => one.startedAt.getTime()),
    column((one) => one.durationMs),
    column((one) => one.outcome),
    column((one) => one.status ?? null),
    column((one) => one.nextAttemptAt?.getTime() ?? null),
    column((one) => one.dead?.at.getTime() ?? null),
    column((one) => one.dead?.reason ?? null),
  ]
}
