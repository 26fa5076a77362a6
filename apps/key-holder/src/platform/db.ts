import { setTimeout as sleep } from 'node:timers/promises'
import { judgeLogin, judgeStore, UnreplicatedError } from '@ostiary/service-kit/outage'
import { createPool, type PoolOptions } from '@ostiary/service-kit/pool'
import {
  isUnavailable,
  isUsableAfter,
  type Queryable,
  queryable,
  runTransaction,
  type Send,
  type Statement,
  withClient,
} from '@ostiary/service-kit/postgres'
import { LOOK, outageOf, type StoreFacts } from '@ostiary/service-kit/store-look'
import type pg from 'pg'
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

export type DbOptions = Pick<PoolOptions, 'url' | 'poolMax' | 'statementTimeoutMs' | 'connectTimeoutMs' | 'reread'>

const NAME = 'ostiary-key-holder'

export function createDb(options: DbOptions, log: Log): Db {
  const { statementTimeoutMs, connectTimeoutMs } = options
  const { pool, unreplicated, urls, renewLogin } = createPool(
    { ...options, applicationName: NAME, log },
    {
      statement_timeout: String(statementTimeoutMs),
      idle_in_transaction_session_timeout: String(statementTimeoutMs * 2),
    },
  )

  async function acquire(): Promise<pg.PoolClient> {
    try {
      return await pool.connect()
    } catch (cause) {
      if (judgeLogin(cause).outage === 'refused' && renewLogin()) return acquire()
      throw new UnavailableError('The database is out of reach', { cause })
    }
  }

  async function onConnection<T>(work: (send: Send) => Promise<T>): Promise<T> {
    const client = await acquire()
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
    withDedicatedClient: (work) =>
      withClient(
        {
          connectionString: urls().url,
          connectionTimeoutMillis: connectTimeoutMs,
          keepAlive: true,
          application_name: NAME,
        },
        work,
      ).catch((error) => {
        // For the next try.
        if (judgeStore(error)?.outage === 'refused') renewLogin()
        return rethrow(error)
      }),
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
