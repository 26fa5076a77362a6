/** What a worker of the release before does to the queue beside ours: its statements, with their answers as columns. Only tests import this. */
import type { Harness } from '../../testing/harness.ts'

const CLAIM = `with recursive visited (endpoint_id, tenant_id, first_due, n) as (
     (select endpoint_id, tenant_id, next_attempt_at, 1 from webhook_queue where dead_at is null and endpoint_id > $1
      order by endpoint_id, next_attempt_at limit 1)
     union all select next.endpoint_id, next.tenant_id, next.next_attempt_at, v.n + 1 from visited v cross join lateral (
       select endpoint_id, tenant_id, next_attempt_at from webhook_queue q where q.dead_at is null and q.endpoint_id > v.endpoint_id
       order by q.endpoint_id, q.next_attempt_at limit 1) next where v.n < $2
   ), picked as materialized (
     select due.place from visited v cross join lateral (
       select q.ctid as place from webhook_queue q
       where q.dead_at is null and q.endpoint_id = v.endpoint_id and q.next_attempt_at <= $3
       order by q.next_attempt_at limit coalesce(($4::jsonb ->> v.endpoint_id::text)::int, $5) for update skip locked) due
     where v.first_due <= $3 and v.tenant_id <> all ($8::uuid[])
       and not exists (select from webhook_endpoints e where e.endpoint_id = v.endpoint_id and e.opened_times > 0)
     limit $6
   ), claimed as (
     update webhook_queue q set next_attempt_at = $7 where q.ctid = any (array(select place from picked))
     returning q.tenant_id as "tenantId", q.delivery_id as id, q.ctid as place, q.attempts + 1 as attempt
   ) select * from claimed`
const COMPLETE_IN_PLACE = `with delivered as (
     delete from webhook_queue q using unnest($2::uuid[], $3::uuid[], $4::int[], $5::float8[], $6::int[], $7::smallint[])
       as e (tenant_id, delivery_id, attempt, started_ms, duration_ms, status)
     where q.ctid = any ($1::tid[]) and q.tenant_id = e.tenant_id and q.delivery_id = e.delivery_id and q.attempts = e.attempt - 1
     returning q.tenant_id, q.delivery_id, q.created_at, e.attempt, timestamptz 'epoch' + e.started_ms * interval '1 ms' as started_at,
       e.duration_ms, e.status
   ), logged as (
     insert into webhook_attempts (tenant_id, delivery_id, created_at, attempt, started_at, duration_ms, outcome, status)
     select tenant_id, delivery_id, created_at, attempt, started_at, duration_ms, 'delivered', status from delivered
   ) select count(*)::int as stored from delivered`
const RETURN_TO_QUEUE = `with these as materialized (
     select t.*, q.place from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as t (tenant_id, delivery_id, lease_until)
     cross join lateral (
       select q.ctid as place from webhook_queue q where q.tenant_id = t.tenant_id and q.delivery_id = t.delivery_id limit 1) q
   )
   update webhook_queue q set next_attempt_at = $4 from these t
   where q.ctid = any (array(select place from these)) and q.tenant_id = t.tenant_id and q.delivery_id = t.delivery_id
     and q.next_attempt_at = t.lease_until and q.dead_at is null`

type OldClaim = Record<'tenantId' | 'id' | 'place', string> & { attempt: number }

export function createOldWorker({ database, clock }: Pick<Harness, 'database' | 'clock'>, leaseMs: number) {
  const leaseUntil = () => new Date(clock.now().getTime() + leaseMs)
  return {
    async claim(limit: number): Promise<OldClaim[]> {
      const first = '00000000-0000-0000-0000-000000000000'
      return (await database.query(CLAIM, [first, 512, clock.now(), '{}', limit, limit, leaseUntil(), []])).rows
    },
    /** Stores a success. Returns whether the row lies where it was claimed; otherwise the last release looks for it by its key, as we do. */
    async complete({ tenantId, id, place, attempt }: OldClaim): Promise<boolean> {
      const values = [[place], [tenantId], [id], [attempt], [clock.now().getTime()], [3], [200]]
      return (await database.query(COMPLETE_IN_PLACE, values)).rows[0].stored === 1
    },
    /** At the moment of the claim. */
    giveBack: ({ tenantId, id }: OldClaim) =>
      database.query(RETURN_TO_QUEUE, [[tenantId], [id], [leaseUntil()], clock.now()]),
  }
}
