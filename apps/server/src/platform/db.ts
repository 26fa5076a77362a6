import { judgeLogin, judgeStore, type Outage, SILENCE, UnreplicatedError } from '@ostiary/service-kit/outage'
import { createPool, type PoolOptions } from '@ostiary/service-kit/pool'
import {
  isUnavailable,
  isUsableAfter,
  type Queryable,
  queryable,
  runTransaction,
  type Send,
  type Statement,
  type Values,
  withClient,
} from '@ostiary/service-kit/postgres'
import { LOOK, outageOf, probeStore, type StoreFacts } from '@ostiary/service-kit/store-look'
import type pg from 'pg'
import { type ConnectionFacts, inspect, refusePooler } from './connection-facts.ts'
import { createConnectionGuard, SECOND_CONNECTION } from './connection-guard.ts'
import { AppError } from './errors.ts'
import { createFairSlots } from '@ostiary/service-kit/fair-slots'
import { createKeyedMutex, type WithLock } from './keyed-mutex.ts'
import { createLook, type Look } from './look.ts'
import { createReachability } from './reachability.ts'

export type { Queryable, Statement }

export function sql(name: string, text: string): Statement {
  const statement = { name, text }
  if (name !== '') made.set(name, statement)
  return statement
}
const made = new Map<string, Statement>()

/** The statements of the files that are loaded, for `npm run sql`. */
export const namedStatements = (): readonly Statement[] => [...made.values()]

/** A pool of connections, or the share of it that one owner has. */
export interface Db extends Queryable {
  /** The same pool for an owner, such as a tenant, who occupies at most half of its connections. */
  forOwner(owner: string): Db
  /** The same pool without an owner: for statements that serve several. One connection is always left to them. */
  readonly shared: Db
  /** READ COMMITTED. Commits when `work` returns, rolls back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** On one connection. `note` gets the milliseconds of the work, without the wait for the connection, also of work that fails. */
  timed<T>(note: (ms: number) => void, work: (on: Queryable) => Promise<T>): Promise<T>
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
  /** What is wrong with the database, as far as this process knows. */
  outage(): Outage | undefined
  /** False while work would fail. Background work waits meanwhile. While logins are refused, connections that were made before go on. */
  isUp(): boolean
  /** Asks the database, at most once a second, whether it can store something. */
  look(): Promise<Look>
  /** Logs in anew and writes a megabyte that no table keeps: why nothing can be stored. */
  tryToStore(): Promise<Outage | undefined>
  /** When a statement was last answered, on the clock of `performance`. */
  answeredMs(): number
  close(): Promise<void>
}

export interface DbOptions extends PoolOptions {
  /** Settings of PostgreSQL that every connection starts with. */
  sessionSettings?: Readonly<Record<string, string>>
  /** Fails a statement on the pool while its caller holds a transaction (connection-guard.ts). For tests. */
  refuseSecondConnection?: boolean
  /** Gets how long work waited for a connection. */
  noteWait?: (seconds: number) => void
}

export function createDb(options: DbOptions): Db {
  const isPooled = options.directUrl !== undefined
  const settings = {
    statement_timeout: String(options.statementTimeoutMs),
    idle_in_transaction_session_timeout: String(options.statementTimeoutMs * 2),
    ...options.sessionSettings,
  }
  const { pool, made, unreplicated, urls, renewLogin } = createPool(options, settings)
  const reachability = createReachability(options.log, options.cell ?? 'main', (known) => {
    if (known === 'refused') renewLogin()
    return probeStore({ ...options, ...urls(), commitTimeoutMs: PROBE_COMMIT_MS }, known)
  })
  const guard = options.refuseSecondConnection ? createConnectionGuard() : undefined
  const shares = createFairSlots({
    total: Math.max(1, options.poolMax - 1),
    perOwner: Math.max(1, Math.floor(options.poolMax / 2)),
  })
  /** Connections that are not used again. */
  const broken = new WeakSet<pg.PoolClient>()

  function isUp(): boolean {
    const outage = reachability.outage()
    // Of a pooler's connections nobody knows whether they lead anywhere.
    return outage === undefined || (outage === 'refused' && made() > 0 && !isPooled)
  }

  /** During some outages nothing is sent: it would be refused, or wait on the server for longer than anybody waits for it. */
  function refuseDuringOutage(): void {
    const outage = reachability.outage()
    if (outage !== undefined && CLOSED.has(outage) && !isUp()) throw storeDown()
  }

  const noteWait = (sinceMs: number) => options.noteWait?.((performance.now() - sinceMs) / 1000)

  async function acquire(sinceMs: number): Promise<pg.PoolClient> {
    if (guard?.isHeld()) throw new Error(SECOND_CONNECTION)
    refuseDuringOutage()
    let client: pg.PoolClient
    try {
      client = await pool.connect()
      noteWait(sinceMs)
    } catch (error) {
      const fault = judgeLogin(error)
      if (fault.outage === 'refused' && renewLogin()) return acquire(sinceMs)
      // During an outage it does not wait for other work, but for the database.
      if (reachability.outage() === undefined) noteWait(sinceMs)
      if (!pool.ending) reachability.noteFailure(error, fault)
      throw storeDown(error)
    }
    try {
      // It may have waited for this connection.
      refuseDuringOutage()
      return client
    } catch (error) {
      client.release()
      throw error
    }
  }

  async function onConnection<T>(work: (client: pg.PoolClient) => Promise<T>, sinceMs = performance.now()): Promise<T> {
    const client = await acquire(sinceMs)
    try {
      return await work(client)
    } finally {
      client.release(broken.has(client))
    }
  }

  const ofOwner =
    (owner: string): typeof onConnection =>
    async (work) => {
      if (guard?.isHeld()) throw new Error(SECOND_CONNECTION)
      const sinceMs = performance.now()
      const free = await shares.takeWithin(owner, options.connectTimeoutMs)
      if (!free) {
        if (reachability.outage() !== undefined) throw storeDown()
        noteWait(sinceMs)
        throw tooManyOfOwner()
      }
      try {
        return await onConnection(work, sinceMs)
      } finally {
        free()
      }
    }

  async function send(client: pg.PoolClient, query: pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      const result = await client.query(query)
      if (unreplicated.has(client)) throw new UnreplicatedError()
      reachability.noteAnswer()
      return result
    } catch (error) {
      if (error instanceof Error && error.message === SILENCE)
        options.log.warn('a database connection did not answer and was cut')
      if (!isUsableAfter(error)) broken.add(client)
      const fault = judgeStore(error)
      // The next login says whether the database can be reached.
      if (fault && fault.outage !== 'unreachable') reachability.noteFailure(error, fault)
      throw translate(error instanceof Error ? Object.assign(error, { statement: query.name }) : error)
    }
  }
  const sendOn =
    (client: pg.PoolClient): Send =>
    ({ name, text }, values) =>
      send(client, { name, text, values: [...values] })

  async function ask(): Promise<Look> {
    const found = await onConnection(async (client) => {
      const { rows } = await sendOn(client)(LOOK, [])
      const outage = outageOf(rows[0] as StoreFacts)
      if (outage !== undefined) broken.add(client)
      return outage
    })
    return found === undefined ? 'ok' : ((await reachability.probe(found)) ?? 'ok')
  }

  const statements = (
    on: typeof onConnection,
  ): Pick<Db, 'rows' | 'run' | 'transaction' | 'timed' | 'repeat' | 'script'> => ({
    ...queryable((statement, values) => on((client) => sendOn(client)(statement, values))),

    transaction: (work) =>
      on((client) =>
        runTransaction(sendOn(client), async (sendInside) => {
          const run = () => work(queryable(sendInside))
          return guard ? guard.hold(run) : run()
        }),
      ),

    timed: (note, work) =>
      on(async (client) => {
        const startedMs = performance.now()
        try {
          return await work(queryable(sendOn(client)))
        } finally {
          note(performance.now() - startedMs)
        }
      }),

    async repeat<R extends object>(statement: Statement, lists: readonly Values[]) {
      const runAll = (send: Send) => Promise.all(lists.map((values) => send(statement, values)))
      const results = await on((client) =>
        lists.length === 1 ? runAll(sendOn(client)) : runTransaction(sendOn(client), runAll),
      )
      return results.map(({ rows, rowCount }) => ({ rows: rows as R[], count: rowCount ?? 0 }))
    },

    script: (text, values = []) =>
      on(async (client) => {
        try {
          return await send(client, { text, values: [...values] })
        } catch (error) {
          // A script that fails in its middle leaves its transaction open.
          broken.add(client)
          throw error
        }
      }),
  })

  const shared: Db = {
    ...statements(onConnection),
    forOwner: (owner) => ({ ...shared, ...statements(ofOwner(owner)) }),
    get shared() {
      return shared
    },

    oneAtATime: createKeyedMutex({ most: MOST_WAITING_FOR_ONE_ROW, refusal: tooManyForOneRow }),

    async withDedicatedClient(work) {
      const { url, directUrl = url } = urls()
      const config = {
        connectionString: directUrl,
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
        const fault = judgeStore(error)
        if (fault) reachability.noteFailure(error, fault)
        throw translate(error)
      }
    },

    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount + shares.waiting() }),
    get url() {
      return urls().url
    },
    isPooled,
    settings,
    inspectConnection: () => onConnection((client) => inspect(client, Object.keys(settings))),
    outage: reachability.outage,
    isUp,
    look: createLook(reachability, ask),
    tryToStore: () => reachability.probe('full'),
    answeredMs: reachability.answeredMs,
    async close() {
      reachability.stop()
      await pool.end()
    },
  }
  return shared
}

const MOST_WAITING_FOR_ONE_ROW = 100
const tooManyForOneRow = () =>
  new AppError('rate_limited', 'RATE_LIMITED', 'Too many equal requests at once', { retryAfterSeconds: 1 })

const tooManyOfOwner = () =>
  new AppError('unavailable', 'DEPENDENCY_DOWN', 'Your calls occupy their share of the store, try again', {
    retryAfterSeconds: 1,
  })

const CLOSED: ReadonlySet<Outage> = new Set(['refused', 'read-only', 'standby', 'unreplicated'])
const PROBE_COMMIT_MS = 1_000

/** Whether the stored data caused the error, not the database: class 22 is an invalid value, 23 a violated constraint. */
export function isDataError(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' && /^2[23]...$/.test(code)
}

const storeDown = (cause?: unknown) =>
  new AppError('unavailable', 'DEPENDENCY_DOWN', 'The store is out of reach, try again', { cause })

const translate = (error: unknown): unknown =>
  error instanceof AppError || !isUnavailable(error) ? error : storeDown(error)
