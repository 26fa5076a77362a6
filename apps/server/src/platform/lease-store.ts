import type { Duty } from './cell-shares.ts'
import { type Queryable, sql } from './db.ts'

/** What the rows of a cell say about another worker. */
export interface Colleague {
  workerId: string
  duty: Duty
  needsHelp: boolean
  /** False when its lease is over by the clock of the database: it died, or it cannot reach the cell. */
  isAlive: boolean
}

interface LeaseState {
  now: Date
  workers: number
  /** Alive, and looking for no work here. */
  idle: number
  lastLeaseEndsAt: Date | null
}

// One statement and one commit, which waits for no disk because the table is unlogged. It does not see its own row.
const RENEW = sql(
  'leases.renew',
  `with mine as (
     insert into worker_leases (worker_id, duty, needs_help, expires_at)
     values ($1, $2, $3, now() + $4 * interval '1 millisecond')
     on conflict (worker_id) do update set duty = excluded.duty, needs_help = excluded.needs_help, expires_at = excluded.expires_at
   ), forgotten as (
     delete from worker_leases where worker_id in (
       select worker_id from worker_leases where expires_at < now() - interval '1 minute' and worker_id <> $1 for update skip locked)
   )
   select now() as now, worker_id as "workerId", duty, needs_help as "needsHelp", expires_at > now() as "isAlive"
   from (select) as once left join worker_leases on worker_id <> $1 and expires_at >= now() - interval '1 minute'`,
)
const STATE = sql(
  'leases.state',
  `select clock_timestamp() as now, count(*) filter (where duty <> 'off' and expires_at > clock_timestamp())::int as workers,
     count(*) filter (where duty = 'off' and expires_at > clock_timestamp())::int as idle, max(expires_at) as "lastLeaseEndsAt" from worker_leases`,
)
const RELEASE = sql('leases.release', 'delete from worker_leases where worker_id = $1')

export const leaseStore = {
  /** Renews a worker's own lease. Returns the time of the database, and the other workers of the last minute. */
  async renew(
    db: Queryable,
    { workerId, duty, needsHelp, leaseMs }: { workerId: string; duty: Duty; needsHelp: boolean; leaseMs: number },
  ): Promise<{ now: Date; colleagues: Colleague[] }> {
    const rows = await db.rows<Colleague & { now: Date }>(RENEW, [workerId, duty, needsHelp, leaseMs])
    if (!rows[0]) throw new Error('The database tells no time')
    // Without colleagues there is one row all the same.
    return { now: rows[0].now, colleagues: rows.filter((row) => row.workerId !== null) }
  },
  /** What the leases say to a process that has none. */
  async state(db: Queryable): Promise<LeaseState> {
    const [row] = await db.rows<LeaseState>(STATE)
    if (!row) throw new Error('An aggregate returns one row')
    return row
  },
  release: (db: Queryable, workerId: string): Promise<number> => db.run(RELEASE, [workerId]),
}
