import pg from 'pg'
import { AppError } from './errors.ts'
import type { Log } from './log.ts'

/** A prepared statement: its name is unique in the code base, so that each connection plans it once. */
export interface Statement {
  name: string
  text: string
}

export function sql(name: string, text: string): Statement {
  return { name, text }
}

type Values = readonly unknown[]

/** Runs statements: the pool itself, or one transaction on it. Stores take this and do not care which. */
export interface Queryable {
  rows<R extends pg.QueryResultRow>(statement: Statement, values?: Values): Promise<R[]>
  /** Number of rows that the statement changed. */
  run(statement: Statement, values?: Values): Promise<number>
}

export interface Db extends Queryable {
  /** READ COMMITTED. Commits when `work` returns, rolls back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** For scripts of several statements: migrations. */
  withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>
  stats(): { total: number; idle: number; waiting: number }
  close(): Promise<void>
}

export interface DbOptions {
  url: string
  poolMax: number
  statementTimeoutMs: number
  connectTimeoutMs: number
  applicationName: string
  log: Log
}

export function createDb(options: DbOptions): Db {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolMax,
    connectionTimeoutMillis: options.connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    application_name: options.applicationName,
    statement_timeout: options.statementTimeoutMs,
    idle_in_transaction_session_timeout: options.statementTimeoutMs * 2,
    // The server cancels first; this catches a connection that hangs without an answer.
    query_timeout: options.statementTimeoutMs + 2_000,
  })
  // A connection can break while it is idle, or while a transaction holds it between two statements. Without a
  // listener either would end the process; the pool replaces idle ones, and the next statement reports the other.
  pool.on('error', (err) => options.log.warn({ err }, 'idle database connection lost'))
  pool.on('connect', (client) => client.on('error', () => {}))

  return {
    ...queryable((config) => pool.query(config)),

    async transaction(work) {
      const client = await connect(pool)
      let broken = false
      try {
        await client.query('begin')
        const result = await work(queryable((config) => client.query(config)))
        await client.query('commit')
        return result
      } catch (error) {
        // A failed rollback means the connection is gone; PostgreSQL has then rolled back by itself.
        await client.query('rollback').catch(() => {
          broken = true
        })
        throw translate(error)
      } finally {
        client.release(broken)
      }
    },

    async withClient(work) {
      const client = await connect(pool)
      try {
        return await work(client)
      } finally {
        client.release()
      }
    },

    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  }
}

function queryable(query: (config: pg.QueryConfig) => Promise<pg.QueryResult>): Queryable {
  async function execute(statement: Statement, values: Values): Promise<pg.QueryResult> {
    try {
      return await query({ name: statement.name, text: statement.text, values: values as unknown[] })
    } catch (error) {
      throw translate(error)
    }
  }
  return {
    async rows<R extends pg.QueryResultRow>(statement: Statement, values: Values = []) {
      return (await execute(statement, values)).rows as R[]
    },
    async run(statement, values = []) {
      return (await execute(statement, values)).rowCount ?? 0
    },
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw translate(error)
  }
}

// SQLSTATE classes and codes that mean "the database is not there now": 08 connection, 53 resources, 57 intervention,
// 25006 a standby that has not been promoted.
const UNAVAILABLE_STATES = /^(08|53|57)|^25006$/
const UNAVAILABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
])
const UNAVAILABLE_TEXTS =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|pool after calling end|not queryable/

function translate(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error
  const code = (error as { code?: unknown }).code
  const unavailable =
    (typeof code === 'string' && (UNAVAILABLE_STATES.test(code) || UNAVAILABLE_CODES.has(code))) ||
    UNAVAILABLE_TEXTS.test(error.message)
  if (!unavailable) return error
  return new AppError('unavailable', 'DEPENDENCY_DOWN', 'The store is out of reach, try again', { cause: error })
}
