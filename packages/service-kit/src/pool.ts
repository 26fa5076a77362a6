import pg from 'pg'
import type { Logger } from 'pino'
import { type DatabaseUrls, takeLogin } from './login.ts'
import { isUnreplicated } from './outage.ts'
import { PATIENCE_MS } from './postgres.ts'

// Times are written without the time zone of the process.
pg.defaults.parseInputDatesAsUTC = true

export interface PoolOptions extends DatabaseUrls {
  /** Reads the URLs again, when they came from a file. */
  reread?: () => DatabaseUrls | undefined
  poolMax: number
  statementTimeoutMs: number
  connectTimeoutMs: number
  applicationName: string
  /** For the log. */
  cell?: string
  log: Logger
}

type Settings = Readonly<Record<string, string>>

export interface Pool {
  pool: pg.Pool
  /** Connections that have logged in. The pool's own number counts those that are about to. */
  made(): number
  /** Connections on which a commit did not wait for its replica. */
  unreplicated: WeakSet<pg.ClientBase>
  urls(): DatabaseUrls
  /** Takes a changed role or password from the file. Returns whether there is one. */
  renewLogin(): boolean
}

/** What the server and the key holder set on every pool. */
export function createPool(options: PoolOptions, settings: Settings): Pool {
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
    ...(options.directUrl === undefined && { options: asOptions(settings) }),
  })
  // A connection can break while it is idle, or while a transaction holds it between two statements. Without a
  // listener either would end the process; the pool replaces idle ones, and the next statement reports the other.
  pool.on('error', (err) => options.log.debug({ err }, 'idle database connection lost'))
  const unreplicated = new WeakSet<pg.ClientBase>()
  const made = new Set<pg.ClientBase>()
  pool.on('remove', (client) => made.delete(client))
  pool.on('connect', (client) => {
    made.add(client)
    client.on('error', () => {})
    client.on('notice', (notice) => {
      if (isUnreplicated(notice)) unreplicated.add(client)
    })
  })
  let urls: DatabaseUrls = { url: options.url, directUrl: options.directUrl }
  return {
    pool,
    made: () => made.size,
    unreplicated,
    urls: () => urls,
    renewLogin() {
      const fresh = options.reread?.()
      const next = fresh && takeLogin(urls, fresh)
      if (!next) return false
      urls = next
      pool.options.connectionString = next.url
      options.log.info({ cell: options.cell }, 'the login of the database was read again')
      return true
    },
  }
}

function asOptions(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}
