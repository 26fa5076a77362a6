/** Asks a store whether it can keep something. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { isUnreplicated, judgeLogin, type Outage } from './outage.ts'
import { withClient } from './postgres.ts'

export interface StoreFacts {
  isStandby: boolean
  isReadOnly: boolean
}

const FACTS = `pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only')::bool as "isReadOnly"`

/**
 * For a connection of the pool. Where commits wait for a replica it commits something that no table has, and is not answered while
 * there is no replica.
 */
export const LOOK = {
  name: 'store.look',
  text: `select ${FACTS},
    case when not pg_is_in_recovery() and not current_setting('transaction_read_only')::bool and current_setting('synchronous_standby_names') <> ''
      then pg_logical_emit_message(true, 'ostiary', '') end as place`,
}

export const outageOf = ({ isStandby, isReadOnly }: StoreFacts): Outage | undefined =>
  isStandby ? 'standby' : isReadOnly ? 'read-only' : undefined

export interface ProbeOptions {
  url: string
  /** PostgreSQL itself, when `url` leads to a pooler. */
  directUrl?: string | undefined
  applicationName: string
  connectTimeoutMs: number
  /** A commit that takes longer is cancelled. */
  commitTimeoutMs: number
}

/**
 * Logs in anew, asks, and commits something that no table has. `known` is the outage that a statement met: a full disk shows only when
 * something is written.
 */
export async function probeStore(options: ProbeOptions, known?: Outage): Promise<Outage | undefined> {
  const { url, directUrl = url } = options
  try {
    const found = await onClient(url, options, async (client) => {
      const { rows } = await client.query<StoreFacts>(`select ${FACTS}`)
      if (!rows[0]) throw new Error('The database answered nothing')
      return outageOf(rows[0]) ?? (directUrl === url ? tryToCommit(client, options, known) : undefined)
    })
    if (found !== undefined || directUrl === url) return found
    return await onClient(directUrl, options, (client) => tryToCommit(client, options, known))
  } catch (error) {
    return judgeLogin(error).outage ?? 'unreachable'
  }
}

const COMMIT = `begin; select pg_logical_emit_message(true, 'ostiary', ''); commit`
/** A file grows by a megabyte, and goes. */
const GROW_AND_COMMIT = `begin; create temporary table ostiary_space on commit drop as
  select repeat(md5(n::text), 25) as filling from generate_series(1, 1250) n; select pg_logical_emit_message(true, 'ostiary', ''); commit`

/** On a connection to PostgreSQL itself: a pooler may give its process to somebody else, who must not be cancelled. */
async function tryToCommit(client: pg.Client, options: ProbeOptions, known?: Outage): Promise<Outage | undefined> {
  let isAlone = false
  client.on('notice', (notice) => {
    isAlone ||= isUnreplicated(notice)
  })
  const committed = client.query(known === 'full' ? GROW_AND_COMMIT : COMMIT)
  const isLate = await Promise.race([committed.then(() => false), sleep(options.commitTimeoutMs, true, { ref: false })])
  // Otherwise each probe would leave a process of PostgreSQL that waits for a replica. What it has committed is nothing.
  if (isLate) {
    const { processID } = client as { processID?: number }
    const { url, directUrl = url } = options
    await onClient(directUrl, options, (other) => other.query('select pg_cancel_backend($1)', [processID]))
  }
  await committed
  return isAlone ? 'unreplicated' : undefined
}

const onClient = <T>(connectionString: string, options: ProbeOptions, work: (client: pg.Client) => Promise<T>) => {
  const { connectTimeoutMs, commitTimeoutMs, applicationName } = options
  const limits = { connectionTimeoutMillis: connectTimeoutMs, query_timeout: commitTimeoutMs * 3 }
  return withClient({ connectionString, application_name: applicationName, ...limits }, work)
}
