import { hash } from 'node:crypto'
import { AREA_LETTERS, type SessionArea } from '@ostiary/contract'
import { columns } from '../platform/columns.ts'
import { type Queryable, type Statement, sql } from '../platform/db.ts'
import { CLEAR, SEALED, type SecretsRow, type SessionKey, type SessionRow } from './store.ts'

/** SQL of the sweeper. It names the partition of a day, because PostgreSQL would open those of all days that are kept. */

const DEFAULT_PARTITION = 'sessions_default'
const DAY = /^sessions_\d{8}$/

/** Only names of partitions get into the text of a statement. */
function checked(partition: string): string {
  if (partition !== DEFAULT_PARTITION && !DAY.test(partition)) throw new Error('not a partition of sessions')
  return partition
}

const LIST_PARTITIONS = sql(
  'sessions.list_partitions',
  `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = 'sessions'::regclass order by c.relname`,
)

/** Which partitions have an open session: one look into a small index of each. */
function findOpenIn(partitions: readonly string[]): Statement {
  const looks = partitions.map((partition) => {
    const name = checked(partition)
    return `select '${name}' as name where exists (select from ${name} where ended_at is null)`
  })
  return sql('', looks.join(' union all '))
}

/** Which partitions have a session that is due, the longest due first. Asked many times a second with the same list. */
function findDueIn(partitions: readonly string[]): Statement {
  const known = dueStatements.get(partitions)
  if (known) return known
  const looks = partitions.map((partition) => {
    const name = checked(partition)
    return `select '${name}' as name, (select due_at from ${name} where ended_at is null and due_at <= $1 and area = $2
      order by due_at limit 1) as first`
  })
  const text = `select name from (${looks.join(' union all ')}) as days where first is not null order by first`
  // PostgreSQL cuts names of statements at 63 bytes, so the name cannot list the days.
  const statement = sql(`sessions.due_in_${hash('sha256', text).slice(0, 16)}`, text)
  dueStatements.set(partitions, statement)
  return statement
}
const dueStatements = new WeakMap<readonly string[], Statement>()

/**
 * Locks the clear rows only. A later statement reads the sealed rows, and sees what belongs to the locked ones.
 *
 * The limit is part of the text: a plan that does not know it expects a tenth of the table.
 */
function lockDueIn(partition: string, limit: number): Statement {
  return sql(
    `sessions.lock_due_${partition}_${limit}`,
    `select ${CLEAR} from ${checked(partition)} s where ended_at is null and due_at <= $1 and area = $2
     order by due_at limit ${Math.trunc(limit)} for update skip locked`,
  )
}

// The bounds make PostgreSQL read the partitions of these days only.
const FIND_SECRETS = sql(
  'sessions.find_secrets',
  `select v.session_id as "sessionId", ${SEALED}
   from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) as g(tenant_id, created_at, session_id)
   join session_secrets v on v.tenant_id = g.tenant_id and v.created_at = g.created_at and v.session_id = g.session_id
   where v.created_at >= $4 and v.created_at <= $5`,
)

/** What is due, for one area at one moment. */
export interface DueQuery {
  area: SessionArea
  now: Date
}

export const expiryStore = {
  async listPartitions(db: Queryable): Promise<string[]> {
    return (await db.rows<{ name: string }>(LIST_PARTITIONS)).map(({ name }) => name)
  },
  findOpenIn: async (db: Queryable, partitions: readonly string[]): Promise<string[]> =>
    partitions.length === 0 ? [] : (await db.rows<{ name: string }>(findOpenIn(partitions))).map(({ name }) => name),
  findDueIn: async (db: Queryable, partitions: readonly string[], { area, now }: DueQuery): Promise<string[]> =>
    (await db.rows<{ name: string }>(findDueIn(partitions), [now, AREA_LETTERS[area]])).map(({ name }) => name),
  /** Sessions of a partition that are due, locked, without those that others hold. */
  lockDue: (
    tx: Queryable,
    partition: string,
    { area, now, limit }: DueQuery & { limit: number },
  ): Promise<SessionRow[]> => tx.rows<SessionRow>(lockDueIn(partition, limit), [now, AREA_LETTERS[area]]),
  /** The sealed parts of these sessions, by their ids. */
  async findSecrets(tx: Queryable, keys: readonly SessionKey[]): Promise<Map<string, SecretsRow>> {
    if (keys.length === 0) return new Map()
    const times = keys.map(({ createdAt }) => createdAt.getTime())
    const found = await tx.rows<SecretsRow & { sessionId: string }>(FIND_SECRETS, [
      ...columns(keys, 'tenantId', 'createdAt', 'sessionId'),
      new Date(Math.min(...times)),
      new Date(Math.max(...times)),
    ])
    return new Map(found.map(({ sessionId, ...secrets }) => [sessionId, secrets]))
  },
}
