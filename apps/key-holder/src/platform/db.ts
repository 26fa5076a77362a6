import pg from 'pg'
import type { Log } from './log.ts'

/** A prepared statement. Its name is unique in this app, so that each connection plans it once. */
export interface Statement {
  name: string
  text: string
}

export const sql = (name: string, text: string): Statement => ({ name, text })

type Values = readonly unknown[]

/** Runs statements: the pool itself, or one transaction on it. Stores accept both. */
export interface Queryable {
  rows<R extends object>(statement: Statement, values?: Values): Promise<R[]>
  /** Number of rows that the statement changed. */
  run(statement: Statement, values?: Values): Promise<number>
}

export interface Db extends Queryable {
  /** READ COMMITTED. Commits when `work` returns, rolls back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** On a connection of its own without a statement limit, for migrations. */
  withDedicatedClient<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** The database cannot be reached, or it gave up a statement. Answered with 503. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
}

export interface DbOptions {
  url: string
  poolMax: number
  statementTimeoutMs: number
  connectTimeoutMs: number
}

/** How much later than the server's own limit a silent connection is given up. */
const PATIENCE_MS = 2_000

export function createDb({ url, poolMax, statementTimeoutMs, connectTimeoutMs }: DbOptions, log: Log): Db {
  const connection = {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'ostiary-key-holder',
  }
  const pool = new pg.Pool({
    ...connection,
    max: poolMax,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
    query_timeout: statementTimeoutMs + PATIENCE_MS,
  })
  // Without these, a connection that breaks would end the process. The next statement reports it.
  pool.on('error', (err) => log.debug({ err }, 'idle database connection lost'))
  pool.on('connect', (client) => client.on('error', () => {}))

  return {
    ...queryable((query) => pool.query(query)),

    async transaction(work) {
      const client = await pool.connect().catch(rethrow)
      let isBroken = false
      try {
        await client.query('begin')
        const result = await work(queryable((query) => client.query(query)))
        await client.query('commit')
        return result
      } catch (error) {
        // A failed rollback means that the connection is gone; PostgreSQL has then rolled back by itself.
        await client.query('rollback').catch(() => {
          isBroken = true
        })
        return rethrow(error)
      } finally {
        client.release(isBroken)
      }
    },

    async withDedicatedClient(work) {
      const client = new pg.Client(connection)
      client.on('error', () => {})
      try {
        await client.connect()
        return await work(client)
      } catch (error) {
        return rethrow(error)
      } finally {
        await client.end().catch(() => {})
      }
    },

    close: () => pool.end(),
  }
}

function queryable(send: (query: pg.QueryConfig) => Promise<pg.QueryResult>): Queryable {
  const execute = (statement: Statement, values: Values) => send({ ...statement, values: [...values] }).catch(rethrow)
  return {
    rows: async <R extends object>(statement: Statement, values: Values = []) =>
      (await execute(statement, values)).rows as R[],
    run: async (statement, values = []) => (await execute(statement, values)).rowCount ?? 0,
  }
}

const PING = sql('db.ping', 'select not pg_is_in_recovery() as ok')

/** False when the database is away, or is a standby: that answers queries but cannot count anything. */
export async function isWritable(db: Queryable): Promise<boolean> {
  const [answer] = await db.rows<{ ok: boolean }>(PING).catch(() => [])
  return answer?.ok ?? false
}

// SQLSTATE classes that mean "the database is away": 08 connection, 53 resources, 57 intervention; 25006 is a standby.
const UNAVAILABLE_CODES =
  /^(08...|53...|57...|25006|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN)$/
const UNAVAILABLE_TEXTS =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|not queryable/

function rethrow(error: unknown): never {
  const { code = '', message = '' } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  if (UNAVAILABLE_CODES.test(code) || UNAVAILABLE_TEXTS.test(message))
    throw new UnavailableError('The database is out of reach', { cause: error })
  throw error
}
