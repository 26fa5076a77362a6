import type { DeadReason } from '@ostiary/contract'
import { type Queryable, sql } from '../platform/db.ts'
import type { Sealed } from '../platform/key-vault.ts'
import type { Claim } from './claim.ts'
import { claim, probe } from './claim-store.ts'
import { complete, placesOf } from './completion-store.ts'

export type { Claim } from './claim.ts'
export type { Payload, Taken } from './claim-store.ts'
export type { Completion } from './completion-store.ts'

/** SQL of the queue, for the dispatcher. claim-store.ts takes deliveries from it, completion-store.ts stores their attempts. */

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

export const queueStore = {
  claim,
  probe,
  complete,
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
