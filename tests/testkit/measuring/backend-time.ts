import type pg from 'pg'
import { processorMs } from './processor-time.ts'

/** The processes of PostgreSQL that serve connections to a database, but for the one that asks. */
export async function backendsOf(client: pg.Client | pg.Pool, database: string): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = $1 and backend_type = 'client backend' and pid <> pg_backend_pid()`,
    [database],
  )
  return rows.map(({ pid }) => pid)
}

/** The processor time that these processes have used so far, in milliseconds. One that has ended counts nothing. */
export function processorMsOf(pids: readonly number[]): number {
  let total = 0
  for (const pid of pids) {
    try {
      total += processorMs(pid)
    } catch {
      // It has ended.
    }
  }
  return total
}
