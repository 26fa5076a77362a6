import type { FailureLimitName } from '@ostiary/contract'
import { columns } from '../columns.ts'
import { type Queryable, sql } from '../db.ts'

/** One subject with the failures of a moment. */
export interface CountedSubject {
  tenantId: string
  subject: Buffer
  /** What the failures cost together. */
  costMs: number
}

/** What a subject owed before and after its failures were counted. */
export interface Debt {
  tenantId: string
  subject: Buffer
  beforeMs: number
  afterMs: number
}

// The generic cell rate algorithm of platform/rate-limit.ts. Nobody owes more than the burst ($3). Ordered, so that two statements with the
// same subjects never deadlock.
const COUNT = sql(
  'failure_limits.count',
  `insert into failure_limits as known (tenant_id, limit_name, subject, paid_back_at, paid_back_before)
   select failed.tenant_id, $1, failed.subject,
     $2::timestamptz + least(failed.cost_ms, $3::float8) * interval '1 millisecond', $2::timestamptz
   from unnest($4::uuid[], $5::bytea[], $6::float8[]) as failed (tenant_id, subject, cost_ms)
   order by failed.tenant_id, failed.subject
   on conflict (tenant_id, limit_name, subject) do update set
     paid_back_before = greatest(known.paid_back_at, $2::timestamptz),
     paid_back_at = least(
       greatest(known.paid_back_at, $2::timestamptz) + (excluded.paid_back_at - excluded.paid_back_before),
       $2::timestamptz + $3::float8 * interval '1 millisecond')
   returning tenant_id as "tenantId", subject,
     (extract(epoch from paid_back_before - $2::timestamptz) * 1000)::float8 as "beforeMs",
     (extract(epoch from paid_back_at - $2::timestamptz) * 1000)::float8 as "afterMs"`,
)
const PURGE = sql(
  'failure_limits.purge',
  `delete from failure_limits where ctid = any(array(
     select ctid from failure_limits where paid_back_at <= $1 limit $2 for update skip locked))`,
)

interface Counting {
  limit: FailureLimitName
  burstMs: number
  now: Date
}

export const failureLimitStore = {
  /** Every subject may occur once only. */
  count: (db: Queryable, { limit, burstMs, now }: Counting, subjects: readonly CountedSubject[]): Promise<Debt[]> =>
    db.rows<Debt>(COUNT, [limit, now, burstMs, ...columns(subjects, 'tenantId', 'subject', 'costMs')]),
  purge: (db: Queryable, now: Date, limit: number): Promise<number> => db.run(PURGE, [now, limit]),
}
