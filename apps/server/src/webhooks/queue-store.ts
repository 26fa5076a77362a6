import type { AttemptOutcome, DeadReason } from '@ostiary/contract'
import { type Queryable, sql } from '../platform/db.ts'
import type { Trouble } from './breaker.ts'
import { timeOfId } from './message.ts'

/** SQL of what is under way: taking, sending, writing down. The dispatcher's. */

/** A row that this worker holds until its lease ends. */
export interface Claim {
  tenantId: string
  deliveryId: string
  livemode: boolean
  endpointId: string
  attempts: number
  tries: number
  failNext: number
}

/** The message of a claim. */
export interface Payload {
  deliveryId: string
  event: string
  subjectId: string
  sequence: number
  keyId: string
  blob: Buffer
  masterKeyId: string
  /** A number, not a Date: reading a time from text is what reading a row costs most. */
  purgeAtMs: number
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

export interface EndpointTrouble extends Trouble {
  endpointId: string
}

const CLAIMED = `q.tenant_id as "tenantId", q.delivery_id as "deliveryId", q.livemode,
  q.endpoint_id as "endpointId", q.attempts, q.tries, q.fail_next as "failNext"`

/**
 * Visits receivers with pending deliveries in the order of their ids, beginning after $1, at most $2 of them: one look into the index each,
 * however many deliveries it has. From each that has due ones (by $3) and does not rest it takes as many as there is room for ($4, or $5),
 * $6 in all, and moves them to the end of the lease ($7). So no receiver's backlog stands before another's. Rows that
 * another worker is taking at this moment are passed over. They are updated by their place in the table: any join could be planned as a scan of it.
 */
const CLAIM = sql(
  'webhooks.claim',
  `with recursive visited (endpoint_id, first_due, n) as (
     (select endpoint_id, next_attempt_at, 1 from webhook_queue where dead_at is null and endpoint_id > $1
      order by endpoint_id, next_attempt_at limit 1)
     union all
     select next.endpoint_id, next.next_attempt_at, v.n + 1 from visited v cross join lateral (
       select endpoint_id, next_attempt_at from webhook_queue q where q.dead_at is null and q.endpoint_id > v.endpoint_id
       order by q.endpoint_id, q.next_attempt_at limit 1
     ) next where v.n < $2
   ), picked as materialized (
     select due.place from visited v cross join lateral (
       select q.ctid as place from webhook_queue q
       where q.dead_at is null and q.endpoint_id = v.endpoint_id and q.next_attempt_at <= $3
       order by q.next_attempt_at limit coalesce(($4::jsonb ->> v.endpoint_id::text)::int, $5) for update skip locked
     ) due
     where v.first_due <= $3
       and not exists (select from webhook_endpoints e where e.endpoint_id = v.endpoint_id and e.opened_times > 0)
     limit $6
   ), claimed as (
     update webhook_queue q set next_attempt_at = $7 where q.ctid = any (array(select place from picked)) returning ${CLAIMED}
   )
   select *, null::int as visited from claimed
   union all
   select null, null, null, (select endpoint_id from visited order by n desc limit 1), null, null, null,
     (select count(*)::int from visited)`,
)

/**
 * One delivery of each receiver whose rest is over. The receiver rests on until the end of the lease ($2), so that no other worker
 * probes it too, and one whose prober dies is probed again.
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
   )
   update webhook_queue q set next_attempt_at = $2 where q.ctid = any (array(select place from picked)) returning ${CLAIMED}`,
)

// The message of each claim is looked up by its key, one after the other. A plain join would be planned for the length of the
// array, and then read whole partitions: a second where this takes milliseconds. LIMIT keeps the planner from making one of it.
const PAYLOADS = sql(
  'webhooks.payloads',
  `select d.* from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as these (tenant_id, delivery_id, created_at)
   cross join lateral (
     select d.delivery_id as "deliveryId", d.event, d.subject_id as "subjectId", d.sequence, d.key_id as "keyId", d.sealed as blob,
       d.master_key_id as "masterKeyId", extract(epoch from d.purge_at)::float8 * 1000 as "purgeAtMs"
     from webhook_deliveries d
     where d.tenant_id = these.tenant_id and d.delivery_id = these.delivery_id and d.created_at = these.created_at limit 1
   ) d`,
)

/** For the same reason, rows of the queue are changed by their place in it. */
const placesOf = (source: string) => `cross join lateral (
       select q.ctid as place from webhook_queue q
       where q.tenant_id = ${source}.tenant_id and q.delivery_id = ${source}.delivery_id limit 1
     ) q`

// A row that is not as this worker took it belongs to another by now, which writes down the same attempt itself. A success
// counts all the same: nothing is left to do.
const COMPLETE = sql(
  'webhooks.complete',
  `with ended as materialized (
     select e.*, q.place from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::int[], $5::timestamptz[], $6::int[], $7::text[],
       $8::smallint[], $9::timestamptz[], $10::timestamptz[], $11::text[])
     as e (tenant_id, delivery_id, created_at, attempt, started_at, duration_ms, outcome, status, next_attempt_at, dead_at, dead_reason)
     ${placesOf('e')}
   ), delivered as (
     delete from webhook_queue q where q.ctid = any (array(select place from ended where outcome = 'delivered'))
     returning q.tenant_id, q.delivery_id
   ), failed as (
     update webhook_queue q set attempts = e.attempt, tries = q.tries + 1, dead_at = e.dead_at, dead_reason = e.dead_reason,
       next_attempt_at = coalesce(e.next_attempt_at, q.next_attempt_at),
       fail_next = case when e.outcome = 'sandbox' then greatest(q.fail_next - 1, 0) else q.fail_next end
     from ended e
     where q.ctid = any (array(select place from ended where outcome <> 'delivered'))
       and q.tenant_id = e.tenant_id and q.delivery_id = e.delivery_id and q.attempts = e.attempt - 1 and q.dead_at is null
     returning q.tenant_id, q.delivery_id
   ), healed as (
     delete from webhook_endpoints where endpoint_id = any ($12::uuid[])
   )
   insert into webhook_attempts (tenant_id, delivery_id, created_at, attempt, started_at, duration_ms, outcome, status, next_attempt_at)
   select e.tenant_id, e.delivery_id, e.created_at, e.attempt, e.started_at, e.duration_ms, e.outcome, e.status, e.next_attempt_at
   from ended e join (select * from delivered union all select * from failed) s using (tenant_id, delivery_id)
   on conflict do nothing`,
)

// Only while the lease is ours.
const GIVE_BACK = sql(
  'webhooks.give_back',
  `with these as materialized (
     select t.*, q.place from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as t (tenant_id, delivery_id, lease_until)
     ${placesOf('t')}
   )
   update webhook_queue q set next_attempt_at = $4 from these t
   where q.ctid = any (array(select place from these)) and q.tenant_id = t.tenant_id and q.delivery_id = t.delivery_id
     and q.next_attempt_at = t.lease_until and q.dead_at is null`,
)
const BURY = sql(
  'webhooks.bury',
  `update webhook_queue set dead_at = $3, dead_reason = $4
   where tenant_id = $1 and delivery_id = $2 and attempts = $5 and dead_at is null`,
)

const NOTE_TROUBLE = sql(
  'webhooks.note_trouble',
  `insert into webhook_endpoints (endpoint_id, tenant_id, livemode, failures, opened_times, open_until, updated_at)
   select *, 0, 0, $4::timestamptz, $4::timestamptz from unnest($1::uuid[], $2::uuid[], $3::boolean[]) on conflict do nothing`,
)
const LOCK_TROUBLE = sql(
  'webhooks.lock_trouble',
  `select endpoint_id as "endpointId", failures, opened_times as "openedTimes", open_until as "openUntil"
   from webhook_endpoints where endpoint_id = any ($1) order by endpoint_id for update`,
)
const SAVE_TROUBLE = sql(
  'webhooks.save_trouble',
  `update webhook_endpoints e set failures = t.failures, opened_times = t.opened_times, open_until = t.open_until, updated_at = $5
   from unnest($1::uuid[], $2::int[], $3::int[], $4::timestamptz[]) as t (endpoint_id, failures, opened_times, open_until)
   where e.endpoint_id = t.endpoint_id`,
)
const HEAL = sql('webhooks.heal', 'delete from webhook_endpoints where endpoint_id = any ($1)')
const FORGET_TROUBLE = sql('webhooks.forget_trouble', 'delete from webhook_endpoints where updated_at < $1')

/** Counting stops somewhere: beyond, it only says "very many". */
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

type Row<T> = T & { [column: string]: unknown }

export interface ClaimRequest {
  after: string
  visit: number
  now: Date
  /** Room of receivers that this worker is busy with. */
  rooms: Readonly<Record<string, number>>
  roomOfOthers: number
  limit: number
  leaseUntil: Date
}

export const queueStore = {
  /** Claimed rows; how many receivers were visited, and the last of them. */
  async claim(
    db: Queryable,
    request: ClaimRequest,
  ): Promise<{ claims: Claim[]; visited: number; last: string | null }> {
    const { after, visit, now, rooms, roomOfOthers, limit, leaseUntil } = request
    const values = [after, visit, now, JSON.stringify(rooms), roomOfOthers, limit, leaseUntil]
    const rows = await db.rows<Row<Claim & { visited: number | null }>>(CLAIM, values)
    const walk = rows.pop()
    return { claims: rows, visited: walk?.visited ?? 0, last: walk?.endpointId ?? null }
  },
  probe: (db: Queryable, now: Date, leaseUntil: Date): Promise<Claim[]> =>
    db.rows<Row<Claim>>(PROBE, [now, leaseUntil]),
  payloads: (db: Queryable, claims: readonly Claim[]): Promise<Payload[]> =>
    db.rows<Row<Payload>>(PAYLOADS, [
      claims.map((one) => one.tenantId),
      claims.map((one) => one.deliveryId),
      claims.map((one) => timeOfId(one.deliveryId).toISOString()),
    ]),

  async complete(db: Queryable, ended: readonly Completion[], healed: readonly string[]): Promise<void> {
    const column = <T>(read: (one: Completion) => T): T[] => ended.map(read)
    await db.run(COMPLETE, [
      column((one) => one.claim.tenantId),
      column((one) => one.claim.deliveryId),
      column((one) => timeOfId(one.claim.deliveryId).toISOString()),
      column((one) => one.attempt),
      column((one) => one.startedAt.toISOString()),
      column((one) => one.durationMs),
      column((one) => one.outcome),
      column((one) => one.status ?? null),
      column((one) => one.nextAttemptAt?.toISOString() ?? null),
      column((one) => one.dead?.at.toISOString() ?? null),
      column((one) => one.dead?.reason ?? null),
      healed,
    ])
  },
  giveBack: (db: Queryable, tasks: readonly { claim: Claim; leaseUntil: Date }[], now: Date): Promise<number> =>
    db.run(GIVE_BACK, [
      tasks.map(({ claim }) => claim.tenantId),
      tasks.map(({ claim }) => claim.deliveryId),
      tasks.map(({ leaseUntil }) => leaseUntil.toISOString()),
      now,
    ]),
  bury: (db: Queryable, claim: Claim, reason: DeadReason, now: Date): Promise<number> =>
    db.run(BURY, [claim.tenantId, claim.deliveryId, now, reason, claim.attempts]),

  /** Receivers whose state is about to change, locked. Those that had none begin with no failures. */
  async lockTrouble(db: Queryable, endpoints: ReadonlyMap<string, Claim>, now: Date): Promise<EndpointTrouble[]> {
    // In one order everywhere: two workers that lock the same receivers do not wait for each other in a circle.
    const sorted = [...endpoints].sort(([a], [b]) => (a < b ? -1 : 1))
    const ids = sorted.map(([id]) => id)
    const tenants = sorted.map(([, { tenantId }]) => tenantId)
    const modes = sorted.map(([, { livemode }]) => livemode)
    await db.run(NOTE_TROUBLE, [ids, tenants, modes, now])
    return db.rows<Row<EndpointTrouble>>(LOCK_TROUBLE, [ids])
  },
  async saveTrouble(db: Queryable, troubles: readonly EndpointTrouble[], now: Date): Promise<void> {
    if (troubles.length === 0) return
    await db.run(SAVE_TROUBLE, [
      troubles.map((one) => one.endpointId),
      troubles.map((one) => one.failures),
      troubles.map((one) => one.openedTimes),
      troubles.map((one) => one.openUntil.toISOString()),
      now,
    ])
  },
  async heal(db: Queryable, endpointIds: readonly string[]): Promise<void> {
    if (endpointIds.length > 0) await db.run(HEAL, [endpointIds])
  },
  /** Receivers that nobody has tried for long. */
  forgetTrouble: (db: Queryable, before: Date): Promise<number> => db.run(FORGET_TROUBLE, [before]),

  async state(db: Queryable, now: Date): Promise<{ due: number; oldestDue: Date | null; resting: number }> {
    const [found] = await db.rows<{ due: number; oldestDue: Date | null; resting: number }>(STATE, [now])
    return found ?? { due: 0, oldestDue: null, resting: 0 }
  },
}
