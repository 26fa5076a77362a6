import type { AttemptOutcome, DeadReason } from '@ostiary/contract'
import { type Db, sql } from '../platform/db.ts'
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
/** A row that another transaction changes at the same time has moved when that ends: the next try finds it. */
const TRIES = 3

export async function complete(db: Db, ended: readonly Completion[], healthy: readonly string[]): Promise<void> {
  let left = withoutDoubles(ended)
  for (let tries = 0; tries < TRIES && left.length > 0; tries++) {
    const notFound = await rowsByPlace<{ deliveryId: string }>(db, COMPLETE, [...columnsOf(left), healthy])
    const ids = new Set(notFound.map(({ deliveryId }) => deliveryId))
    left = left.filter(({ claim }) => ids.has(claim.deliveryId))
  }
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

function columnsOf(ended: readonly Completion[]): unknown[] {
  return [
    ended.map(({ claim }) => claim.tenantId),
    ended.map(({ claim }) => claim.deliveryId),
    ended.map(({ attempt }) => attempt),
    ended.map(({ claim }) => claim.restarts),
    ended.map(({ startedAt }) => startedAt.toISOString()),
    ended.map(({ durationMs }) => durationMs),
    ended.map(({ outcome }) => outcome),
    ended.map(({ status }) => status),
    ended.map(({ nextAttemptAt }) => nextAttemptAt?.toISOString()),
    ended.map(({ dead }) => dead?.at.toISOString()),
    ended.map(({ dead }) => dead?.reason),
  ]
}
