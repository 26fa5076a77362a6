import type { AttemptOutcome, DeadReason } from '@ostiary/contract'
import { type Db, type Queryable, sql } from '../platform/db.ts'
import { rowsByPlace } from '../platform/plan-mode.ts'
import type { Claim } from './claim.ts'

/** SQL that stores attempts. */

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

/** Finds queue rows by key and returns their ctid: the planner would turn an update that joins by key into a scan. */
export const placesOf = (source: string) => `cross join lateral (
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

/**
 * Stores first successes, the usual case: rows that lie where they were claimed and have not been changed since. No index is asked for
 * them, and their attempt cannot be in the log yet. Returns how many were stored; the others are left to the statements above.
 */
const COMPLETE_IN_PLACE = sql(
  'webhooks.complete_in_place',
  `with delivered as (
     delete from webhook_queue q using unnest($2::uuid[], $3::uuid[], $4::int[], $5::float8[], $6::int[], $7::smallint[])
       as e (tenant_id, delivery_id, attempt, started_ms, duration_ms, status)
     where q.ctid = any ($1::tid[]) and q.tenant_id = e.tenant_id and q.delivery_id = e.delivery_id and q.attempts = e.attempt - 1
     returning q.tenant_id, q.delivery_id, q.created_at, e.attempt, ${timeOf('started_ms')} as started_at, e.duration_ms, e.status
   ), healed as (
     delete from webhook_endpoints where endpoint_id = any ($8::uuid[])
   ), logged as (
     insert into webhook_attempts (tenant_id, delivery_id, created_at, attempt, started_at, duration_ms, outcome, status)
     select tenant_id, delivery_id, created_at, attempt, started_at, duration_ms, 'delivered', status from delivered
   )
   select count(*)::int as stored from delivered`,
)

export async function complete(db: Db, ended: readonly Completion[], healthy: readonly string[]): Promise<void> {
  const single = withoutDoubles(ended)
  const inPlace = single.every(isUsual) ? single : single.filter(isUsual)
  const isStored = inPlace.length > 0 && (await completeInPlace(db, inPlace, healthy))
  if (isStored && inPlace.length === single.length) return
  const others = isStored ? single.filter((one) => !isUsual(one)) : single
  if (others.length > 0) await completeByKey(db, others, healthy)
}

const isUsual = ({ outcome, claim }: Completion) => outcome === 'delivered' && claim.place !== undefined

/** Whether all were stored. If not, some of them may have been: they are no longer in the queue, so that storing them again does nothing. */
async function completeInPlace(db: Db, ended: readonly Completion[], healthy: readonly string[]): Promise<boolean> {
  const columns = inPlaceColumns(ended)
  try {
    const [found] = await rowsByPlace<{ stored: number }>(db, COMPLETE_IN_PLACE, [...columns, asArray(healthy)])
    return found?.stored === ended.length
  } catch (error) {
    // A replay that began while the attempt was being stored can have given its number again.
    if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return false
    throw error
  }
}
const UNIQUE_VIOLATION = '23505'

/** Array literals of place, tenant, delivery, attempt, start, duration and status, made in one pass: this is the usual way of thousands a second. */
function inPlaceColumns(ended: readonly Completion[]): string[] {
  let places = ''
  let tenants = ''
  let deliveries = ''
  let attempts = ''
  let starts = ''
  let durations = ''
  let statuses = ''
  let comma = ''
  for (const { claim, attempt, startedAt, durationMs, status } of ended) {
    places += `${comma}"${claim.place}"`
    tenants += comma + claim.tenantId
    deliveries += comma + claim.deliveryId
    attempts += comma + attempt
    starts += comma + startedAt.getTime()
    durations += comma + durationMs
    statuses += comma + (status ?? 'NULL')
    comma = ','
  }
  return [places, tenants, deliveries, attempts, starts, durations, statuses].map((values) => `{${values}}`)
}

async function completeByKey(db: Queryable, ended: readonly Completion[], healthy: readonly string[]): Promise<void> {
  const left = await db.rows<{ deliveryId: string }>(COMPLETE, [
    ...columnsOf(ended),
    asArray(healthy),
    restartsOf(ended),
  ])
  if (left.length === 0) return
  const moved = new Set(left.map(({ deliveryId }) => deliveryId))
  const again = ended.filter(({ claim }) => moved.has(claim.deliveryId))
  await db.rows(COMPLETE_MOVED, [...columnsOf(again), asArray([]), restartsOf(again)])
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
