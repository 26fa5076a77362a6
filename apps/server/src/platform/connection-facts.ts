import type pg from 'pg'

export interface ConnectionFacts {
  role: string
  database: string
  /** The process of PostgreSQL that answers, and the one that answered when the connection was made. They differ behind a pooler. */
  pid: number
  reportedPid: number | undefined
  /** The values of those in `Db.settings`. */
  settings: Readonly<Record<string, string>>
}

export async function inspect(client: pg.ClientBase, names: readonly string[]): Promise<ConnectionFacts> {
  // A setting of an extension that is not loaded yet is not in pg_settings, which shows numbers without a unit.
  const { rows } = await client.query<Omit<ConnectionFacts, 'reportedPid'>>(
    `select current_user as role, current_database() as database, pg_backend_pid() as pid,
       (select json_object_agg(w.name, coalesce((select p.setting from pg_settings p where p.name = w.name), current_setting(w.name, true), ''))
        from unnest($1::text[]) as w (name)) as settings`,
    [names],
  )
  if (!rows[0]) throw new Error('The database answered nothing')
  return { ...rows[0], reportedPid: reportedPidOf(client) }
}

function reportedPidOf(client: pg.ClientBase): number | undefined {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : undefined
}

/** Session locks and settings would stay behind on connections that a pooler gives to others. */
export async function refusePooler(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  if (rows[0]?.pid === reportedPidOf(client)) return
  throw new Error(
    'A connection pooler stands before the database where PostgreSQL itself is needed: set DATABASE_DIRECT_URL (with CELLS_FILE: directUrl) to PostgreSQL, see docs/ops/pgbouncer.md',
  )
}
