import pg from 'pg'
import { type ConnectionFacts, inspect, refusePooler } from './connection-facts.ts'
import { createConnectionGuard, SECOND_CONNECTION } from './connection-guard.ts'
import { AppError } from './errors.ts'
import { GatheredStatements } from './gathered-statements.ts'
import { createKeyedMutex, type WithLock } from './keyed-mutex.ts'
import type { Log } from './log.ts'
import { BEGIN, type Outcome, type Part, PreparedQuery } from './prepared-query.ts'
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
  /** Runs a statement once for each list of values, in one round trip and one transaction. The outcomes have the order of the lists. */
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
    application_name: options.applicationName,
    // PgBouncer refuses such parameters, or drops them without a word: behind it the role has these settings.
    ...(!isPooled && { options: asOptions(settings) }),
  })
  // A connection can break while it is idle, or while a transaction holds it between two statements. Without a
  // listener either would end the process; the pool replaces idle ones, and the next statement reports the other.
  pool.on('error', (err) => options.log.debug({ err }, 'idle database connection lost'))
  pool.on('connect', (client) => client.on('error', () => {}))

  const reachability = createReachability(options.log, options.cell ?? 'main', () => poolQueries.run(PROBE))
  const guard = options.refuseSecondConnection ? createConnectionGuard() : undefined
  const acquire = (use: (client: pg.PoolClient) => void, fail: (error: Error) => void) => {
    if (guard?.isHeld()) return fail(new Error(SECOND_CONNECTION))
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
      ({ command }) => command,
    )

  const poolQueries = queryable((statement, values, callback) => {
    acquire((client) => {
      watchdog.send(client, statement, values, (failure, outcome) => {
        client.release(isUnavailable(failure))
        callback(failure, outcome)
      })
    }, callback)
  })

  return {
    ...poolQueries,

    repeat: <R extends object>(statement: Statement, lists: readonly Values[]) =>
      new Promise<{ rows: R[]; count: number }[]>((resolve, reject) => {
        const fail = (error: unknown) => reject(translate(error))
        acquire((client) => {
          watchdog.repeat(client, statement, lists, (failure, outcomes) => {
            client.release(isUnavailable(failure))
            if (outcomes && !failure) resolve(outcomes as unknown as { rows: R[]; count: number }[])
            else fail(named(failure, statement))
          })
        }, fail)
      }),

    async transaction(work) {
      const client = await new Promise<pg.PoolClient>((resolve, reject) => {
        acquire(resolve, (error) => reject(translate(error)))
      })
      let broken = false
      const statements = new GatheredStatements(BEGIN, (parts) => watchdog.sendAll(client, parts))
      try {
        const tx = queryable((...given) => statements.add(...given))
        const result = await (guard ? guard.hold(() => work(tx)) : work(tx))
        statements.close()
        if (!statements.hasBegun) return result
        if (statements.failure) throw new Error('The transaction did not begin', { cause: statements.failure })
        const outcome = await control(client, COMMIT)
        // PostgreSQL answers the commit of a failed transaction without an error, by rolling it back.
        if (outcome !== 'COMMIT') throw new Error('The transaction was rolled back: one of its statements had failed')
        return result
      } catch (error) {
        statements.drop(error)
        // As with a single statement: a server that is no longer the primary answers a rollback, and would fail the next transaction too.
        broken = isUnavailable(error instanceof AppError ? error.cause : error)
        // A failed rollback means the connection is gone; PostgreSQL has then rolled back by itself.
        if (statements.hasBegun)
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
          watchdog.script(client, text, values, (failure, result) => {
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

function asOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

const MOST_WAITING_FOR_ONE_ROW = 100
const tooManyForOneRow = () =>
  new AppError('rate_limited', 'RATE_LIMITED', 'Too many equal requests at once', { retryAfterSeconds: 1 })

const PROBE = sql('', 'select 1')
const COMMIT = sql('transaction.commit', 'commit')
const ROLLBACK = sql('transaction.rollback', 'rollback')

// How much later than the server's own limit we give up a statement.
const PATIENCE_MS = 2_000
const LOOK_EVERY_MS = 500

interface Watchdog {
  send(client: pg.PoolClient, statement: Statement, values: Values, callback: QueryCallback): void
  sendAll(client: pg.PoolClient, parts: readonly Part[]): void
  repeat(client: pg.PoolClient, statement: Statement, lists: readonly Values[], callback: RepeatCallback): void
  script(client: pg.PoolClient, text: string, values: Values, callback: ScriptCallback): void
  stop(): void
}
type RepeatCallback = (error: Error | null, outcomes?: Outcome[]) => void
type ScriptCallback = (error: Error | null, result?: pg.QueryResult) => void

/**
 * The server cancels statements that take too long. A server that has vanished cancels nothing, and its connection
 * would hang for hours: such connections are cut. One timer for all; pg's own timer per statement costs 30 µs each.
 */
function createWatchdog(limitMs: number, log: Log, onAnswer: () => void): Watchdog {
  const busy = new Map<pg.PoolClient, { queries: number; sinceMs: number }>()
  const timer = setInterval(() => {
    const overdueMs = performance.now() - limitMs
    for (const [client, { sinceMs }] of busy) {
      if (sinceMs > overdueMs) continue
      busy.delete(client)
      log.warn('a database connection did not answer and was cut')
      // While a statement runs this closes the socket at once.
      void client.end()
    }
  }, LOOK_EVERY_MS).unref()

  /** The same callback; until it is called the connection is watched. */
  function watched<Result>(client: pg.PoolClient, callback: (error: Error | null, result?: Result) => void) {
    const before = busy.get(client)
    // One after the other: each has its time from the answer to the one before.
    if (before) before.queries++
    else busy.set(client, { queries: 1, sinceMs: performance.now() })
    return (error: Error | null, result?: Result) => {
      const now = busy.get(client)
      if (now && --now.queries > 0) now.sinceMs = performance.now()
      else busy.delete(client)
      if (!error) onAnswer()
      callback(error, result)
    }
  }

  return {
    send(client, statement, values, callback) {
      const answered = watched(client, (error: Error | null, outcomes?: Outcome[]) => callback(error, outcomes?.[0]))
      client.query(new PreparedQuery([{ statement, lists: [values], callback: answered }]))
    },
    sendAll(client, parts) {
      const [first, ...others] = parts
      if (!first) return
      // The callback of the first is the first that is called.
      client.query(new PreparedQuery([{ ...first, callback: watched(client, first.callback) }, ...others]))
    },
    repeat(client, statement, lists, callback) {
      client.query(new PreparedQuery([{ statement, lists, callback: watched(client, callback) }]))
    },
    script(client, text, values, callback) {
      client.query(new Script(text, values, watched(client, callback)))
    },
    stop: () => clearInterval(timer),
  }
}

type QueryCallback = (error: Error | null, outcome?: Outcome) => void
type Send = (statement: Statement, values: Values, callback: QueryCallback) => void
const Script = pg.Query as unknown as new (text: string, values: Values, callback: ScriptCallback) => pg.Submittable

/** Uses callbacks inside and returns one promise, because every statement takes this path. */
function execute<T>(send: Send, statement: Statement, values: Values, read: (outcome: Outcome) => T): Promise<T> {
  return new Promise((resolve, reject) => {
    send(statement, values, (error, outcome) => {
      if (outcome && !error) resolve(read(outcome))
      else reject(translate(named(error, statement)))
    })
  })
}

/** Of statements that share a round trip, the first that failed gives its name. */
function named(error: Error | null, { name }: Statement): Error {
  const failure = error ?? new Error('no result')
  return 'statement' in failure ? failure : Object.assign(failure, { statement: name })
}

function queryable(send: Send): Queryable {
  return {
    rows: <R extends object>(statement: Statement, values: Values = []) =>
      execute(send, statement, values, ({ rows }) => rows as R[]),
    run: (statement, values = []) => execute(send, statement, values, ({ count }) => count),
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
