import { judgeStore } from '@ostiary/service-kit/outage'
import pg from 'pg'
import type { Db } from './db.ts'
import { AppError } from './errors.ts'

/** A fault of the connection to the database, and how to correct it. */
export interface ConnectionProblem {
  /** `warning`: everything works, at a higher cost or with the limits of the process alone. */
  state: 'failed' | 'warning'
  finding: string
  remedy: string
}

export const POOLER_DOCS = 'see docs/ops/pgbouncer.md'
const ROUNDS = 5
/** Longer than a request waits: these checks run once, when a process starts, or in `ostiary doctor`. */
const CONNECT_MS = 15_000
const QUERY_MS = 15_000
/** SQLSTATE codes: the name is already used on that connection, or the statement does not exist there. */
const LOST_STATEMENT = new Set(['42P05', '26000'])

/**
 * Checks that the limits and plan settings are in force on the connections that statements use, and that a pooler, if there is
 * one, supports prepared statements. Without this check a service behind a pooler would start, and then fail or run without limits.
 */
export async function findConnectionProblem(db: Db): Promise<ConnectionProblem | undefined> {
  try {
    return await checkConnection(db)
  } catch (error) {
    if (isRefusedParameter(error)) return HIDDEN_POOLER
    if (error instanceof AppError || !judgeStore(error)) throw error
    throw new AppError('unavailable', 'DEPENDENCY_DOWN', 'The database or its pooler is out of reach', { cause: error })
  }
}

/** PgBouncer's answer to a client that asks for settings. */
function isRefusedParameter(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && /unsupported startup parameter/.test(cause.message)
}

async function checkConnection(db: Db): Promise<ConnectionProblem | undefined> {
  // Through the pool, which reads a refused login again.
  const { pid, reportedPid, role, database, settings } = await db.inspectConnection()
  if (db.isPooled && !(await keepsPreparedStatements(db.url))) {
    const version = await poolerVersion(db.url)
    return {
      state: 'failed',
      finding: `the pooler${version && ` (${version})`} mixes up prepared statements of its clients`,
      remedy: `Use PgBouncer 1.21 or newer with max_prepared_statements = 500, or pool_mode = session; ${POOLER_DOCS}`,
    }
  }
  if (!db.isPooled && pid !== reportedPid) return HIDDEN_POOLER
  const wrong = Object.entries(db.settings).filter(([name, value]) => settings[name] !== value)
  if (wrong.length === 0) return undefined
  const statements = wrong.map(
    ([name, value]) => `alter role "${role}" in database "${database}" set ${name} = '${value}'`,
  )
  const differences = wrong.map(([name, value]) => `${name} is ${settings[name] || 'not set'} instead of ${value}`)
  return {
    state: 'warning',
    finding: `${differences.join(', ')}; processes work without, and cut statements that take too long by themselves`,
    remedy: `Run: ostiary migrate (if its role may not store settings, another role runs: ${statements.join('; ')}), then RECONNECT in the console of PgBouncer; ${POOLER_DOCS}`,
  }
}

export const HIDDEN_POOLER: ConnectionProblem = {
  state: 'failed',
  finding: 'a connection pooler stands between this process and PostgreSQL',
  remedy: `Set DATABASE_DIRECT_URL (with CELLS_FILE: directUrl) to PostgreSQL itself; ${POOLER_DOCS}`,
}

/**
 * Two clients use the same statement name, the second inside a transaction. A pooler in transaction mode gives them different
 * connections, and one of them finds the name used or unknown unless the pooler tracks names.
 */
async function keepsPreparedStatements(url: string): Promise<boolean> {
  const clients: pg.Client[] = []
  const connect = async () => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
    })
    clients.push(client)
    client.on('error', () => {})
    await client.connect()
    return client
  }
  try {
    const [first, second] = [await connect(), await connect()]
    for (let round = 0; round < ROUNDS; round++) {
      const statement = { name: `ostiary.probe_${round}`, text: 'select 1' }
      await first.query(statement)
      await second.query('begin')
      await second.query(statement)
      await first.query(statement)
      await second.query('commit')
    }
    return true
  } catch (error) {
    if (LOST_STATEMENT.has(String((error as { code?: unknown }).code))) return false
    throw error
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

/** The version that PgBouncer shows in its console; empty for a role that may not open the console. */
async function poolerVersion(url: string): Promise<string> {
  const console = Object.assign(new URL(url), { pathname: '/pgbouncer' }).href
  const client = new pg.Client({
    connectionString: console,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return String((await client.query<{ version?: string }>('show version')).rows[0]?.version ?? '')
  } catch {
    return ''
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Stores the settings for every new connection of this role to this database, because a pooler does not pass on the settings that a
 * client sends when it connects. Leaves alone what new connections have already, from the role, the database or the server. Returns the names that this role may
 * not store; a start of the service then says what is missing.
 */
export async function storeSettings(
  client: pg.ClientBase,
  settings: Readonly<Record<string, string>>,
): Promise<string[]> {
  const { rows } = await client.query<{ name: string; value: string }>(
    'select name, reset_val as value from pg_settings where name = any ($1)',
    [Object.keys(settings)],
  )
  const inForce = new Map(rows.map(({ name, value }) => [name, value]))
  const refused: string[] = []
  for (const [name, value] of Object.entries(settings)) {
    if (inForce.get(name) === value) continue
    const built = await client.query<{ statement: string }>(
      `select format('alter role %I in database %I set %s = %L', current_user, current_database(), $1::text, $2::text) as statement`,
      [name, value],
    )
    await client.query(built.rows[0]?.statement ?? '').catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) throw error
      refused.push(name)
    })
  }
  return refused
}
const INSUFFICIENT_PRIVILEGE = '42501'
