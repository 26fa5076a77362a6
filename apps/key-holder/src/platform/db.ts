import {
  isUnavailable,
  isUsableAfter,
  PATIENCE_MS,
  type Queryable,
  queryable,
  runTransaction,
  type Send,
  type Statement,
  withClient,
} from '@ostiary/service-kit/postgres'
import pg from 'pg'
import type { Log } from './log.ts'

export type { Queryable }
export const sql = (name: string, text: string): Statement => ({ name, text })

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

  async function onConnection<T>(work: (send: Send) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch(rethrow)
    let isBroken = false
    try {
      return await work(({ name, text }, values) =>
        client.query({ name, text, values: [...values] }).catch((error) => {
          isBroken ||= !isUsableAfter(error)
          return rethrow(error)
        }),
      )
    } finally {
      client.release(isBroken)
    }
  }

  return {
    ...queryable((statement, values) => onConnection((send) => send(statement, values))),
    transaction: (work) => onConnection((send) => runTransaction(send, (inside) => work(queryable(inside)))),
    withDedicatedClient: (work) => withClient(connection, work).catch(rethrow),
    close: () => pool.end(),
  }
}

const PING = sql('db.ping', 'select not pg_is_in_recovery() as ok')

/** False when the database is away, or is a standby: that answers queries but cannot count anything. */
export async function isWritable(db: Queryable): Promise<boolean> {
  const [answer] = await db.rows<{ ok: boolean }>(PING).catch(() => [])
  return answer?.ok ?? false
}

function rethrow(error: unknown): never {
  if (isUnavailable(error)) throw new UnavailableError('The database is out of reach', { cause: error })
  throw error
}
