import { setTimeout as sleep } from 'node:timers/promises'
import { isUnreplicated, UnreplicatedError } from '@ostiary/service-kit/outage'
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
import { LOOK, outageOf, type StoreFacts } from '@ostiary/service-kit/store-look'
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
  const unreplicated = new WeakSet<pg.ClientBase>()
  pool.on('connect', (client) => {
    client.on('error', () => {})
    client.on('notice', (notice) => {
      if (isUnreplicated(notice)) unreplicated.add(client)
    })
  })

  async function onConnection<T>(work: (send: Send) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((error) => {
      throw new UnavailableError('The database is out of reach', { cause: error })
    })
    let isBroken = false
    const send: Send = async ({ name, text }, values) => {
      try {
        const result = await client.query({ name, text, values: [...values] })
        if (unreplicated.has(client)) throw new UnreplicatedError()
        return result
      } catch (error) {
        isBroken ||= !isUsableAfter(error)
        return rethrow(error)
      }
    }
    try {
      return await work(send)
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

const LOOK_PATIENCE_MS = 1_500

/** False when the database is away, is read-only, or commits nothing for lack of a replica: it may answer queries, but cannot count anything. */
export async function isWritable(db: Queryable): Promise<boolean> {
  const asked = db.rows<StoreFacts>(LOOK).then(
    ([facts]) => facts !== undefined && outageOf(facts) === undefined,
    () => false,
  )
  return Promise.race([asked, sleep(LOOK_PATIENCE_MS, false, { ref: false })])
}

function rethrow(error: unknown): never {
  if (isUnavailable(error)) throw new UnavailableError('The database is out of reach', { cause: error })
  throw error
}
