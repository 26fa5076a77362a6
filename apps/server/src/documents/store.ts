import { type Queryable, sql } from '../platform/db.ts'
import type { TenantData } from '../platform/tenant-data.ts'

// A second session waits here until the first has committed, and then sees its row. A mark that is too old becomes that of this session.
const MARK = sql(
  'documents.mark',
  `insert into document_marks as known (tenant_id, livemode, mark, session_id, seen_at) values ($1, $2, $3, $4, $5)
   on conflict (tenant_id, livemode, mark) do update
     set session_id = case when known.seen_at > $6 then known.session_id else excluded.session_id end,
         seen_at = case when known.seen_at > $6 then known.seen_at else excluded.seen_at end
   returning session_id <> $4 as "isOther"`,
)
const PURGE = sql(
  'documents.purge',
  `delete from document_marks where ctid = any(array(
     select ctid from document_marks where seen_at <= $1 limit $2 for update skip locked))`,
)

export interface Shown {
  mark: Buffer
  sessionId: string
  now: Date
  /** Marks of this moment and earlier do not count. */
  since: Date
}

export const documentStore = {
  /** Whether another session has shown it before. */
  async mark(
    tx: Queryable,
    { tenantId, livemode }: TenantData,
    { mark, sessionId, now, since }: Shown,
  ): Promise<boolean> {
    const rows = await tx.rows<{ isOther: boolean }>(MARK, [tenantId, livemode, mark, sessionId, now, since])
    return rows[0]?.isOther ?? false
  },

  purge: (db: Queryable, until: Date, limit: number): Promise<number> => db.run(PURGE, [until, limit]),
}
