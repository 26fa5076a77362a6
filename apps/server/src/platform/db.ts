import pg from 'pg'
import { AppError } from './errors.ts'
import { createKeyedMutex, type WithLock } from './keyed-mutex.ts'
import type { Log } from './log.ts'
import { createReachability } from './reachability.ts'

/** A prepared statement: its name is unique in the code base, so that each connection plans it once. */
export interface Statement {
  name: string
  text: string
}

export function sql(name: string, text: string): Statement {
  return { name, text }
}

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

export interface ConnectionFacts {
  role: string
  database: string
  /** The process of PostgreSQL that answers, and the one that answered when the connection was made. They differ behind a pooler. */
  pid: number
  reportedPid: number | undefined
  /** The values of those in `Db.settings`. */
  settings: Readonly<Record<string, string>>
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
    // Idle connections are kept: closing them would cost a timer for every statement.
    idleTimeoutMillis: 0,
    keepAlive: true,
    application_name: options.applicationName,
    // PgBouncer refuses such parameters, or drops them without a word: behind it the role has these settings.
    ...(!isPooled && { options: asOptions(settings) }),
  })
  // A connection can break while it is idle, or while a transaction holds it between two statements. Without a
  // listener either would end the process; the pool replaces idle ones, and the next statement reports the other.
  pool.on('error', (err) => options.log.debug({ err }, 'idle database connection lost'))
  pool.on('connect', (client) => client.on('error', () => {}))

  const reachability = createReachability(options.log, options.cell ?? 'main', () => poolQueries.run(PROBE))
  const acquire = (use: (client: pg.PoolClient) => void, fail: (error: Error) => void) => {
    pool.connect((error, client) => {
      if (client) return use(client)
      if (isUnavailable(error) && !pool.ending) reachability.noteFailure(error)
      fail(error ?? new Error('no connection'))
    })
  }
  const watchdog = createWatchdog(options.statementTimeoutMs + PATIENCE_MS, options.log, reachability.noteAnswer)
  const control = (client: pg.PoolClient, statement: Statement) =>
    execute(
      (...sending) => watchdog.send(client, ...sending),
      statement,
      [],
      (result) => result.command,
    )

  const poolQueries = queryable((statement, values, callback) => {
    acquire((client) => {
      watchdog.send(client, statement, values, (failure, result) => {
        client.release(isUnavailable(failure))
        callback(failure, result)
      })
    }, callback)
  })

  return {
    ...poolQueries,

    async transaction(work) {
      const client = await new Promise<pg.PoolClient>((resolve, reject) => {
        acquire(resolve, (error) => reject(translate(error)))
      })
      let broken = false
      try {
        await control(client, BEGIN)
        const result = await work(queryable((...sending) => watchdog.send(client, ...sending)))
        const outcome = await control(client, COMMIT)
        // PostgreSQL answers the commit of a failed transaction without an error, by rolling it back.
        if (outcome !== 'COMMIT') throw new Error('The transaction was rolled back: one of its statements had failed')
        return result
      } catch (error) {
        // As with a single statement: a server that is no longer the primary answers a rollback, and would fail the next transaction too.
        broken = isUnavailable(error instanceof AppError ? error.cause : error)
        // A failed rollback means the connection is gone; PostgreSQL has then rolled back by itself.
        await control(client, ROLLBACK).catch(() => {
          broken = true
        })
        throw translate(error)
      } finally {
        client.release(broken)
      }
    },

    oneAtATime: createKeyedMutex({ most: MOST_WAITING_FOR_ONE_ROW, refusal: tooManyForOneRow }),

    script(text, values = []) {
      return new Promise((resolve, reject) => {
        const fail = (error: unknown) => reject(translate(error))
        acquire((client) => {
          watchdog.send(client, sql('', text), values, (failure, result) => {
            // A script that fails in its middle leaves its transaction open: the connection is not used again.
            client.release(failure !== null)
            if (result && !failure) resolve(result)
            else fail(failure)
          })
        }, fail)
      })
    },

    async withDedicatedClient(work) {
      const client = new pg.Client({
        connectionString: options.directUrl ?? options.url,
        connectionTimeoutMillis: options.connectTimeoutMs,
        keepAlive: true,
        application_name: options.applicationName,
      })
      client.on('error', () => {})
      try {
        await client.connect()
        await refusePooler(client)
        // The role may have the limits of the pool.
        if (isPooled) await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
        return await work(client)
      } catch (error) {
        throw translate(error)
      } finally {
        await client.end().catch(() => {})
      }
    },

    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    url: options.url,
    isPooled,
    settings,
    inspectConnection: () =>
      new Promise((resolve, reject) => {
        const fail = (error: unknown) => reject(translate(error))
        acquire((client) => {
          inspect(client, Object.keys(settings)).then(
            (facts) => {
              client.release()
              resolve(facts)
            },
            (error) => {
              client.release(true)
              fail(error)
            },
          )
        }, fail)
      }),
    isUp: reachability.isUp,
    async close() {
      watchdog.stop()
      reachability.stop()
      await pool.end()
    },
  }
}

async function inspect(client: pg.ClientBase, names: readonly string[]): Promise<ConnectionFacts> {
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
async function refusePooler(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  if (rows[0]?.pid === reportedPidOf(client)) return
  throw new Error(
    'A connection pooler stands before the database where PostgreSQL itself is needed: set DATABASE_DIRECT_URL (with CELLS_FILE: directUrl) to PostgreSQL, see docs/operations.md, "Behind PgBouncer"',
  )
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
const BEGIN = sql('', 'begin')
const COMMIT = sql('', 'commit')
const ROLLBACK = sql('', 'rollback')

// How much later than the server's own limit we give up a statement.
const PATIENCE_MS = 2_000
const LOOK_EVERY_MS = 500

interface Watchdog {
  send(client: pg.PoolClient, statement: Statement, values: Values, callback: QueryCallback): void
  stop(): void
}

/**
 * The server cancels statements that take too long. A server that has vanished cancels nothing, and its connection
 * would hang for hours: such connections are cut. One timer for all; pg's own timer per statement costs 30 µs each.
 */
function createWatchdog(limitMs: number, log: Log, onAnswer: () => void): Watchdog {
  const busySince = new Map<pg.PoolClient, number>()
  const timer = setInterval(() => {
    const overdue = performance.now() - limitMs
    for (const [client, since] of busySince) {
      if (since > overdue) continue
      busySince.delete(client)
      log.warn('a database connection did not answer and was cut')
      // While a statement runs this closes the socket at once.
      void client.end()
    }
  }, LOOK_EVERY_MS).unref()

  return {
    send(client, statement, values, callback) {
      busySince.set(client, performance.now())
      submit(client, statement, values, (error, result) => {
        busySince.delete(client)
        if (!error) onAnswer()
        callback(error, result)
      })
    },
    stop: () => clearInterval(timer),
  }
}

type QueryCallback = (error: Error | null, result?: pg.QueryResult) => void
type Send = (statement: Statement, values: Values, callback: QueryCallback) => void
type NamedQuery = pg.Submittable & { name: string }
const NamedQuery = pg.Query as unknown as new (text: string, values: Values, callback: QueryCallback) => NamedQuery

/**
 * Sends a prepared statement. The same as `client.query({ name, text, values })`, without the copy of the object that pg
 * makes with all property descriptors: 13 µs each time.
 */
function submit(client: pg.PoolClient, statement: Statement, values: Values, callback: QueryCallback): void {
  const query = new NamedQuery(statement.text, values, callback)
  query.name = statement.name
  client.query(query)
}

/** Uses callbacks inside and returns one promise, because every statement takes this path. */
function execute<T>(send: Send, statement: Statement, values: Values, read: (result: pg.QueryResult) => T): Promise<T> {
  return new Promise((resolve, reject) => {
    send(statement, values, (error, result) => {
      if (result && !error) resolve(read(result))
      else reject(translate(Object.assign(error ?? new Error('no result'), { statement: statement.name })))
    })
  })
}

function queryable(send: Send): Queryable {
  return {
    rows: <R extends pg.QueryResultRow>(statement: Statement, values: Values = []) =>
      execute(send, statement, values, (result) => result.rows as R[]),
    run: (statement, values = []) => execute(send, statement, values, (result) => result.rowCount ?? 0),
  }
}

// SQLSTATE classes and codes that mean "the database is away": 08 connection, 53 resources, 57 intervention,
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

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as { code?: unknown }).code
  const known = typeof code === 'string' && (UNAVAILABLE_STATES.test(code) || UNAVAILABLE_CODES.has(code))
  return known || UNAVAILABLE_TEXTS.test(error.message)
}

/** Whether the stored data caused the error, not the database: class 22 is an invalid value, 23 a violated constraint. */
export function isDataError(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' && /^2[23]...$/.test(code)
}

function translate(error: unknown): unknown {
  if (error instanceof AppError || !isUnavailable(error)) return error
  return new AppError('unavailable', 'DEPENDENCY_DOWN', 'The store is out of reach, try again', { cause: error })
}
