import {
  isUnavailable,
  isUsableAfter,
  PATIENCE_MS,
  type Queryable,
  queryable,
  runTransaction,
  type Send,
  SILENCE,
  type Statement,
  type Values,
  withClient,
} from '@ostiary/service-kit/postgres'
import pg from 'pg'
import { type ConnectionFacts, inspect, refusePooler } from './connection-facts.ts'
import { createConnectionGuard, SECOND_CONNECTION } from './connection-guard.ts'
import { AppError } from './errors.ts'
import { createKeyedMutex, type WithLock } from './keyed-mutex.ts'
import type { Log } from './log.ts'
import { createReachability } from './reachability.ts'

// Times are written without the time zone of the process.
pg.defaults.parseInputDatesAsUTC = true

export type { Queryable, Statement }

export function sql(name: string, text: string): Statement {
  const statement = { name, text }
  if (name !== '') made.set(name, statement)
  return statement
}
const made = new Map<string, Statement>()

/** The statements of the files that are loaded, for `npm run sql`. */
export const namedStatements = (): readonly Statement[] => [...made.values()]

export interface Db extends Queryable {
  /** READ COMMITTED. Commits when `work` returns, rolls back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** Runs a statement once for each list of values, in one transaction. The outcomes have the order of the lists. */
  repeat<R extends object>(statement: Statement, lists: readonly Values[]): Promise<{ rows: R[]; count: number }[]>
  /**
   * Runs work of callers who would wait for the same row one at a time. They wait without a connection: of many equal requests at
   * once, one occupies a connection of the pool.
   */
  oneAtATime: WithLock
  /** For SQL that is not ours (pg-boss): unnamed, and possibly several statements with a transaction of their own. */
  script(text: string, values?: Values): Promise<pg.QueryResult>
  /** Runs `work` on a connection of its own, outside the pool and without a statement limit: migrations wait for locks and build indexes. */
  withDedicatedClient<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  stats(): { total: number; idle: number; waiting: number }
  /** The URL that statements use. Behind a pooler, connections take their settings from the role, not from the client. */
  readonly url: string
  readonly isPooled: boolean
  /** The limits and plan settings that every connection must have. */
  readonly settings: Readonly<Record<string, string>>
  /** What one connection of the pool is like. */
  inspectConnection(): Promise<ConnectionFacts>
  /** False from the moment when no connection could be made until the next answer. Background work waits meanwhile. */
  isUp(): boolean
  close(): Promise<void>
}

export interface DbOptions {
  url: string
  /** PostgreSQL itself, when `url` leads to a pooler. Work with session state goes there. */
  directUrl?: string | undefined
  poolMax: number
  statementTimeoutMs: number
  connectTimeoutMs: number
  applicationName: string
  /** For the log. */
  cell?: string
  /** Settings of PostgreSQL that every connection starts with. */
  sessionSettings?: Readonly<Record<string, string>>
  /** Fails a statement on the pool while its caller holds a transaction (connection-guard.ts). For tests. */
  refuseSecondConnection?: boolean
  log: Log
}

export function createDb(options: DbOptions): Db {
  const isPooled = options.directUrl !== undefined
  const settings = {
    statement_timeout: String(options.statementTimeoutMs),
    idle_in_transaction_session_timeout: String(options.statementTimeoutMs * 2),
    ...options.sessionSettings,
  }
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolMax,
    connectionTimeoutMillis: options.connectTimeoutMs,
    // Idle connections are kept: closing them would cost a timer for every statement. After two days a connection is replaced, and with it the
    // statements of days gone by that it has prepared.
    idleTimeoutMillis: 0,
    maxLifetimeSeconds: 2 * 86_400,
    keepAlive: true,
    // Statements that are given without waiting for each other share a round trip.
    pipeline: true,
    // The server cancels statements that take too long. A server that has vanished cancels nothing, and its connection would hang for
    // hours: pg destroys it.
    query_timeout: options.statementTimeoutMs + PATIENCE_MS,
    application_name: options.applicationName,
    // PgBouncer refuses such parameters, or drops them without a word: behind it the role has these settings.
    ...(!isPooled && { options: asOptions(settings) }),
  })
  // A connection can break while it is idle, or while a transaction holds it between two statements. Without a
  // listener either would end the process; the pool replaces idle ones, and the next statement reports the other.
  pool.on('error', (err) => options.log.debug({ err }, 'idle database connection lost'))
  pool.on('connect', (client) => client.on('error', () => {}))

  const reachability = createReachability(options.log, options.cell ?? 'main', () =>
    onConnection((client) => sendOn(client)(PROBE, [])),
  )
  const guard = options.refuseSecondConnection ? createConnectionGuard() : undefined
  /** Connections that are not used again. */
  const broken = new WeakSet<pg.PoolClient>()

  async function acquire(): Promise<pg.PoolClient> {
    if (guard?.isHeld()) throw new Error(SECOND_CONNECTION)
    try {
      return await pool.connect()
    } catch (error) {
      if (isUnavailable(error) && !pool.ending) reachability.noteFailure(error)
      throw translate(error)
    }
  }

  async function onConnection<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await acquire()
    try {
      return await work(client)
    } finally {
      client.release(broken.has(client))
    }
  }

  async function send(client: pg.PoolClient, query: pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      const result = await client.query(query)
      reachability.noteAnswer()
      return result
    } catch (error) {
      if (error instanceof Error && error.message === SILENCE)
        options.log.warn('a database connection did not answer and was cut')
      if (!isUsableAfter(error)) broken.add(client)
      throw translate(error instanceof Error ? Object.assign(error, { statement: query.name }) : error)
    }
  }
  const sendOn =
    (client: pg.PoolClient): Send =>
    ({ name, text }, values) =>
      send(client, { name, text, values: [...values] })

  return {
    ...queryable((statement, values) => onConnection((client) => sendOn(client)(statement, values))),

    transaction: (work) =>
      onConnection((client) =>
        runTransaction(sendOn(client), async (sendInside) => {
          const run = () => work(queryable(sendInside))
          return guard ? guard.hold(run) : run()
        }),
      ),

    async repeat<R extends object>(statement: Statement, lists: readonly Values[]) {
      const runAll = (send: Send) => Promise.all(lists.map((values) => send(statement, values)))
      const results = await onConnection((client) =>
        lists.length === 1 ? runAll(sendOn(client)) : runTransaction(sendOn(client), runAll),
      )
      return results.map(({ rows, rowCount }) => ({ rows: rows as R[], count: rowCount ?? 0 }))
    },

    oneAtATime: createKeyedMutex({ most: MOST_WAITING_FOR_ONE_ROW, refusal: tooManyForOneRow }),

    script: (text, values = []) =>
      onConnection(async (client) => {
        try {
          return await send(client, { text, values: [...values] })
        } catch (error) {
          // A script that fails in its middle leaves its transaction open.
          broken.add(client)
          throw error
        }
      }),

    async withDedicatedClient(work) {
      const config = {
        connectionString: options.directUrl ?? options.url,
        connectionTimeoutMillis: options.connectTimeoutMs,
        keepAlive: true,
        application_name: options.applicationName,
      }
      try {
        return await withClient(config, async (client) => {
          await refusePooler(client)
          // The role may have the limits of the pool.
          if (isPooled) await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
          return work(client)
        })
      } catch (error) {
        throw translate(error)
      }
    },

    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    url: options.url,
    isPooled,
    settings,
    inspectConnection: () => onConnection((client) => inspect(client, Object.keys(settings))),
    isUp: reachability.isUp,
    async close() {
      reachability.stop()
      await pool.end()
    },
  }
}

function asOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

const MOST_WAITING_FOR_ONE_ROW = 100
const tooManyForOneRow = () =>
  new AppError('rate_limited', 'RATE_LIMITED', 'Too many equal requests at once', { retryAfterSeconds: 1 })

const PROBE = sql('', 'select 1')

/** Whether the stored data caused the error, not the database: class 22 is an invalid value, 23 a violated constraint. */
export function isDataError(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' && /^2[23]...$/.test(code)
}

function translate(error: unknown): unknown {
  if (error instanceof AppError || !isUnavailable(error)) return error
  return new AppError('unavailable', 'DEPENDENCY_DOWN', 'The store is out of reach, try again', { cause: error })
}
