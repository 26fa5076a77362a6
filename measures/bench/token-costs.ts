import { processorMs } from '@ostiary/testkit/measuring/processor-time'
import type { TokenSite } from '@ostiary/testkit/measuring/token-site'
import pg from 'pg'

/** What one session costs. Milliseconds of processor time. */
export interface Costs {
  apiMs: number
  keyHolderMs: number
  /** Of the connections of each service at PostgreSQL. */
  apiDatabaseMs: number
  keyHolderDatabaseMs: number
  /** Of both databases, which are on one cluster here. */
  walBytes: number
}

export interface CostMeter {
  /** What was used since the last call. */
  take(): Promise<Costs>
  close(): Promise<void>
}

export async function createCostMeter({ api, keyHolder, databaseUrl }: TokenSite): Promise<CostMeter> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  const nameOf = (url: string) => new URL(url).pathname.slice(1)
  /** Connections that ended meanwhile are missing; both services keep theirs. */
  const ofDatabase = new Map<number, number>()

  async function databaseMs(url: string): Promise<number> {
    const { rows } = await client.query<{ pid: number }>(
      'select pid from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
      [nameOf(url)],
    )
    let used = 0
    for (const { pid } of rows) {
      const now = processorMs(pid)
      used += now - (ofDatabase.get(pid) ?? 0)
      ofDatabase.set(pid, now)
    }
    return used
  }

  async function walBytes(): Promise<number> {
    const { rows } = await client.query<{ bytes: string }>(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes`,
    )
    return Number(rows[0]?.bytes)
  }

  async function read(): Promise<Costs> {
    return {
      apiMs: processorMs(api().pid),
      keyHolderMs: processorMs(keyHolder.pid()),
      apiDatabaseMs: await databaseMs(databaseUrl),
      keyHolderDatabaseMs: await databaseMs(keyHolder.databaseUrl),
      walBytes: await walBytes(),
    }
  }

  let last = await read()
  return {
    async take() {
      const now = await read()
      const costs = {
        apiMs: now.apiMs - last.apiMs,
        keyHolderMs: now.keyHolderMs - last.keyHolderMs,
        apiDatabaseMs: now.apiDatabaseMs,
        keyHolderDatabaseMs: now.keyHolderDatabaseMs,
        walBytes: now.walBytes - last.walBytes,
      }
      last = now
      return costs
    },
    close: () => client.end(),
  }
}
