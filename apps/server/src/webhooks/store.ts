import {
  AREA_LETTERS,
  type AttemptOutcome,
  type DeadReason,
  type DeliveryState,
  type SessionArea,
  WEBHOOK_LIMITS,
} from '@ostiary/contract'
import { columns } from '../platform/columns.ts'
import { type Db, type Queryable, type Statement, sql } from '../platform/db.ts'
import { timeOfId } from '../platform/ids.ts'
import type { Sealed } from '../platform/key-vault.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { firstIdOf } from './message.ts'

/** SQL of messages and their attempt log. The SQL of claims and attempts is in queue-store.ts. */

export interface NewDelivery extends TenantData {
  id: string
  area: SessionArea
  event: string
  subjectId: string
  sequence: number
  keyId: string
  endpointId: string
  origin: string
  sealed: Sealed
  /** The one-time body, which is sent instead of the usual one until a delivery succeeds. */
  once: Sealed | undefined
  now: Date
  purgeAt: Date
}

/** A delivery with everything that its host may see. */
export interface StoredDelivery {
  id: string
  event: string
  subjectId: string
  sequence: number
  origin: string
  createdAt: Date
  purgeAt: Date
  attempts: number
  deliveredAt: Date | null
  /** Not delivered: pending, or dead with a reason. */
  isQueued: boolean
  nextAttemptAt: Date | null
  deadAt: Date | null
  deadReason: DeadReason | null
}

export interface StoredAttempt {
  attempt: number
  startedAt: Date
  durationMs: number
  outcome: AttemptOutcome
  status: number | null
  nextAttemptAt: Date | null
}

/** A message that is removed with everything about it. */
export interface RemovedDelivery extends TenantData {
  deliveryId: string
  createdAt: Date
  subjectId: string
}

// One statement for any number of messages, in the caller's transaction: message and queue row exist together or not at all.
const INSERT = sql(
  'webhooks.enqueue',
  `with made as (
     select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::boolean[], $5::text[], $6::text[], $7::uuid[], $8::int[],
       $9::uuid[], $10::uuid[], $11::text[], $12::bytea[], $13::text[], $14::timestamptz[], $15::timestamptz[],
       $16::bytea[], $17::text[])
     as m (tenant_id, delivery_id, created_at, livemode, area, event, subject_id, sequence, key_id, endpoint_id, origin, sealed,
       master_key_id, purge_at, due_at, once_sealed, once_master_key_id)
   ), queued as (
     insert into webhook_queue (tenant_id, delivery_id, created_at, livemode, endpoint_id, next_attempt_at, once_sealed,
       once_master_key_id)
     select tenant_id, delivery_id, created_at, livemode, endpoint_id, due_at, once_sealed, once_master_key_id from made
   )
   insert into webhook_deliveries (tenant_id, delivery_id, created_at, livemode, area, event, subject_id, sequence, key_id,
     endpoint_id, origin, sealed, master_key_id, purge_at)
   select tenant_id, delivery_id, created_at, livemode, area, event, subject_id, sequence, key_id,
     endpoint_id, origin, sealed, master_key_id, purge_at from made`,
)

const SAME = 'q.tenant_id = d.tenant_id and q.delivery_id = d.delivery_id'
const LOG = `select max(attempt) as attempts,
    min(started_at + duration_ms * interval '1 ms') filter (where outcome = 'delivered') as delivered_at
  from webhook_attempts a where a.tenant_id = d.tenant_id and a.delivery_id = d.delivery_id and a.created_at = d.created_at`
const COLUMNS = `d.delivery_id as id, d.event, d.subject_id as "subjectId", d.sequence, d.origin, d.created_at as "createdAt",
  d.purge_at as "purgeAt", coalesce(l.attempts, 0) as attempts, l.delivered_at as "deliveredAt",
  q.delivery_id is not null as "isQueued", q.next_attempt_at as "nextAttemptAt", q.dead_at as "deadAt", q.dead_reason as "deadReason"`
// Everything about a row is looked up by its key. LIMIT keeps the planner from turning the lookup into a join: it would scan
// whole partitions for a page of fifty rows.
const ITS_QUEUE_ROW = `left join lateral (select * from webhook_queue q where ${SAME} limit 1) q on true`
export const itsMessage = (lock: string, where = 'true') => `cross join lateral (select * from webhook_deliveries d
  where ${SAME} and d.created_at = q.created_at and d.purge_at > $3 and ${where} limit 1 ${lock}) d`
export const ITS_LOG = `left join lateral (${LOG}) l on true`
export const MINE = 'd.tenant_id = $1 and d.livemode = $2 and d.purge_at > $3'
/** The test variant repeats the mode as text, because the planner cannot choose the partial index of test deliveries by a parameter. */
export const MINE_IN = { live: MINE, test: `${MINE} and not d.livemode` }
export type Mode = keyof typeof MINE_IN
export const modeOf = ({ livemode }: TenantData): Mode => (livemode ? 'live' : 'test')

const FIND = sql(
  'webhooks.find',
  `select ${COLUMNS} from webhook_deliveries d ${ITS_QUEUE_ROW} ${ITS_LOG}
   where ${MINE} and d.delivery_id = $4 and d.created_at = $5`,
)
const ATTEMPTS = sql(
  'webhooks.attempts',
  `select attempt, started_at as "startedAt", duration_ms as "durationMs", outcome, status, next_attempt_at as "nextAttemptAt"
   from webhook_attempts where tenant_id = $1 and delivery_id = $2 and created_at = $3 order by attempt`,
)

export const STATE_OF_QUEUE_ROW: Readonly<Record<DeliveryState | 'settled', string>> = {
  pending: 'q.delivery_id is not null and q.dead_at is null',
  dead: 'q.dead_at is not null',
  delivered: 'q.delivery_id is null',
  settled: '(q.delivery_id is null or q.dead_at is not null)',
}

// A subquery per row and not a join, for the same reason.
const asked = (column: string) => `(select ${column} from webhook_queue q where ${SAME})`
export const WHERE_SETTLED = {
  dead: 'true',
  delivered: `${asked('q.delivery_id')} is null`,
  settled: `(${asked('q.delivery_id')} is null or ${asked('q.dead_at')} is not null)`,
}

/**
 * Deliveries of an owner in the order of their ids (alias d) with their queue rows (alias q). Pending and dead deliveries are read
 * from the queue: a tenant with millions of deliveries has few of these. The row limit is part of the text, because for a
 * parameter the planner assumes a tenth of the table.
 */
function inOrder(
  state: DeliveryState | 'any',
  range: (alias: string) => string,
  { order, mode, window }: { order: string; mode: Mode; window?: string },
): string {
  if (state === 'pending' || state === 'dead') {
    return `(select * from webhook_queue q where q.tenant_id = $1 and q.livemode = $2 and ${STATE_OF_QUEUE_ROW[state]}
      and ${range('q')} ${order}) q ${itsMessage('')}`
  }
  const where = state === 'any' ? 'true' : WHERE_SETTLED[state]
  const from =
    window === undefined ? `webhook_deliveries d where ${MINE_IN[mode]} and ${range('d')}` : `(${window}) d where true`
  return `(select * from ${from} and ${where} ${order}) d ${ITS_QUEUE_ROW}`
}

const PAGE_MAX = WEBHOOK_LIMITS.pageMax + 1

const IN_PAGE = (alias: string) =>
  `${alias}.delivery_id >= $4 and ${alias}.delivery_id < $5 and ${alias}.created_at >= $6 and ${alias}.created_at <= $7`
// No index leads to delivered deliveries: each one must be checked. While a receiver is down there can be very few of them, so a
// statement checks only so many, a call runs only so many statements, and the next page continues after them.
const WINDOW_ROWS = 2_000
const WINDOWS_MAX = 4
const windowOf = (mode: Mode) =>
  `select * from webhook_deliveries d where ${MINE_IN[mode]} and ${IN_PAGE('d')} order by delivery_id desc limit ${WINDOW_ROWS}`
const windowEnd = (mode: Mode) =>
  sql(
    `webhooks.window_end_${mode}`,
    `select delivery_id as id from webhook_deliveries d where ${MINE_IN[mode]} and ${IN_PAGE('d')}
     order by delivery_id desc offset ${WINDOW_ROWS - 1} limit 1`,
  )
const WINDOW_ENDS = { live: windowEnd('live'), test: windowEnd('test') }

/** One page, newest first: ids from $4 to before $5, created from $6 to $7. */
function pageStatement(state: DeliveryState | 'any', mode: Mode) {
  const order = `order by delivery_id desc limit ${PAGE_MAX}`
  const rows = inOrder(state, IN_PAGE, { order, mode, ...(state === 'delivered' && { window: windowOf(mode) }) })
  const text = `select ${COLUMNS} from ${rows} ${ITS_LOG} order by d.delivery_id desc limit $8`
  return sql(`webhooks.list_${state}_${mode}`, text)
}

/** The same for one session. It has few deliveries, so all of them are read first. */
function subjectStatement(state: DeliveryState | 'any') {
  const rows = '(select * from webhook_deliveries where tenant_id = $1 and subject_id = $9 offset 0) d'
  const where = state === 'any' ? 'true' : STATE_OF_QUEUE_ROW[state]
  return sql(
    `webhooks.list_${state}_subject`,
    `select ${COLUMNS} from ${rows} ${ITS_QUEUE_ROW} ${ITS_LOG}
     where ${MINE} and ${IN_PAGE('d')} and ${where} order by d.delivery_id desc limit $8`,
  )
}
const byState = (make: (state: DeliveryState | 'any') => Statement) => ({
  any: make('any'),
  pending: make('pending'),
  delivered: make('delivered'),
  dead: make('dead'),
})
const PAGES = {
  live: byState((state) => pageStatement(state, 'live')),
  test: byState((state) => pageStatement(state, 'test')),
}
const SUBJECT_PAGES = byState(subjectStatement)

const PURGE_BATCH = 1000
// Makes the planner find a thousand rows by their keys; by itself it would read all partitions. Applies to this transaction only.
const BY_KEY = sql(
  'webhooks.by_key',
  `select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true)`,
)
// Removing takes three statements, so that each sees what concurrent transactions committed before the last lock was granted. First
// the messages are locked: a replay locks its message too. Then the queue rows are deleted: storing an attempt deletes or updates its
// queue row in the same statement. After that nothing can be added, and messages and log are deleted.
const KEYS =
  'tenant_id as "tenantId", delivery_id as "deliveryId", created_at as "createdAt", subject_id as "subjectId", livemode'
const LOCK_OLD = sql(
  'webhooks.lock_old',
  `select ${KEYS} from webhook_deliveries where purge_at <= $1 order by purge_at limit ${PURGE_BATCH} for update skip locked`,
)
const LOCK_SUBJECT = sql(
  'webhooks.lock_subject',
  `select ${KEYS} from webhook_deliveries where tenant_id = $1 and livemode = $2 and subject_id = $3 for update`,
)
const UNQUEUE = sql(
  'webhooks.unqueue',
  `delete from webhook_queue q using unnest($1::uuid[], $2::uuid[]) as o (tenant_id, delivery_id)
   where q.tenant_id = o.tenant_id and q.delivery_id = o.delivery_id
   returning q.delivery_id as "deliveryId", q.dead_at is null as "isPending"`,
)
const REMOVE = sql(
  'webhooks.remove',
  `with old as materialized (
     select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as o (tenant_id, delivery_id, created_at)
   ), logged as (
     delete from webhook_attempts a using old o
     where a.tenant_id = o.tenant_id and a.delivery_id = o.delivery_id and a.created_at = o.created_at
   )
   delete from webhook_deliveries d using old o
   where d.tenant_id = o.tenant_id and d.delivery_id = o.delivery_id and d.created_at = o.created_at`,
)

const SHIFT_QUEUE = sql(
  'webhooks.shift_queue',
  `update webhook_queue set next_attempt_at = next_attempt_at - $2 * interval '1 ms'
   where tenant_id = $1 and not livemode and dead_at is null`,
)
const SHIFT_DELIVERIES = sql(
  'webhooks.shift_deliveries',
  `update webhook_deliveries set purge_at = purge_at - $2 * interval '1 ms' where tenant_id = $1 and not livemode`,
)
const SHIFT_ENDPOINTS = sql(
  'webhooks.shift_endpoints',
  `update webhook_endpoints set open_until = open_until - $2 * interval '1 ms' where tenant_id = $1 and not livemode`,
)
const COUNT_BY_MASTER_KEY = sql(
  'webhooks.count_by_master_key',
  `select master_key_id as "masterKeyId", count(*)::int as count from webhook_deliveries group by master_key_id
   union all
   select once_master_key_id, count(*)::int from webhook_queue where once_sealed is not null group by once_master_key_id`,
)

const AFTER_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const END_OF_TIME = new Date('9999-12-31T00:00:00.000Z')

export interface PageRequest {
  state: DeliveryState | undefined
  subjectId: string | undefined
  since: Date | undefined
  beforeId: string | undefined
  limit: number
  now: Date
}

export const webhookStore = {
  async insert(db: Queryable, deliveries: readonly NewDelivery[]): Promise<void> {
    await db.run(INSERT, [
      ...columns(deliveries, 'tenantId', 'id'),
      deliveries.map(({ id }) => timeOfId(id).toISOString()),
      ...columns(deliveries, 'livemode'),
      deliveries.map(({ area }) => AREA_LETTERS[area]),
      ...columns(deliveries, 'event', 'subjectId', 'sequence', 'keyId', 'endpointId', 'origin'),
      deliveries.map(({ sealed }) => sealed.blob),
      deliveries.map(({ sealed }) => sealed.masterKeyId),
      deliveries.map(({ purgeAt }) => purgeAt.toISOString()),
      deliveries.map(({ now }) => now.toISOString()),
      deliveries.map(({ once }) => once?.blob ?? null),
      deliveries.map(({ once }) => once?.masterKeyId ?? null),
    ])
  },

  async find(db: Queryable, owner: TenantData, id: string, now: Date): Promise<StoredDelivery | undefined> {
    const values = [owner.tenantId, owner.livemode, now, id, timeOfId(id)]
    return (await db.rows<StoredDelivery>(FIND, values))[0]
  },
  attempts: (db: Queryable, tenantId: string, id: string): Promise<StoredAttempt[]> =>
    db.rows<StoredAttempt>(ATTEMPTS, [tenantId, id, timeOfId(id)]),
  /** Newest first. `last` is the id after which the next page begins. */
  async list(
    db: Queryable,
    owner: TenantData,
    page: PageRequest,
  ): Promise<{ rows: StoredDelivery[]; last: string | undefined }> {
    const { state = 'any', subjectId, since = new Date(0), limit, now } = page
    const mode = modeOf(owner)
    const rows: StoredDelivery[] = []
    let beforeId = page.beforeId
    for (let windows = 1; ; windows++) {
      const until = beforeId === undefined ? END_OF_TIME : timeOfId(beforeId)
      const bounds = [owner.tenantId, owner.livemode, now, firstIdOf(since), beforeId ?? AFTER_ALL, since, until]
      // One row more than asked for shows whether another page follows.
      const values = [...bounds, limit - rows.length + 1, ...(subjectId === undefined ? [] : [subjectId])]
      const statement = subjectId === undefined ? PAGES[mode][state] : SUBJECT_PAGES[state]
      rows.push(...(await db.rows<StoredDelivery>(statement, values)))
      if (rows.length > limit) return { rows: rows.slice(0, limit), last: rows[limit - 1]?.id }
      if (state !== 'delivered' || subjectId !== undefined) return { rows, last: undefined }
      const [end] = await db.rows<{ id: string }>(WINDOW_ENDS[mode], bounds)
      if (!end || windows === WINDOWS_MAX) return { rows, last: end?.id }
      beforeId = end.id
    }
  },

  purgeBatch: PURGE_BATCH,
  /** Purges one batch. Returns how many messages were removed, and which of them were neither delivered nor dead. */
  purge: (db: Db, now: Date): Promise<{ removed: number; pending: RemovedDelivery[] }> =>
    db.transaction(async (tx) => {
      await tx.rows(BY_KEY)
      return remove(tx, await tx.rows<RemovedDelivery>(LOCK_OLD, [now]))
    }),
  /** In the caller's transaction. */
  async erase(tx: Queryable, owner: TenantData, subjectId: string): Promise<number> {
    const values = [owner.tenantId, owner.livemode, subjectId]
    return (await remove(tx, await tx.rows<RemovedDelivery>(LOCK_SUBJECT, values))).removed
  },
  async shift(db: Queryable, tenantId: string, ms: number): Promise<void> {
    for (const statement of [SHIFT_QUEUE, SHIFT_DELIVERIES, SHIFT_ENDPOINTS]) await db.run(statement, [tenantId, ms])
  },
  countByMasterKey: (db: Queryable): Promise<{ masterKeyId: string; count: number }[]> => db.rows(COUNT_BY_MASTER_KEY),
}

/** Removes messages that this transaction has locked, with their queue rows and log. */
async function remove(
  tx: Queryable,
  messages: readonly RemovedDelivery[],
): Promise<{ removed: number; pending: RemovedDelivery[] }> {
  if (messages.length === 0) return { removed: 0, pending: [] }
  const keys = [messages.map((one) => one.tenantId), messages.map((one) => one.deliveryId)]
  const unqueued = await tx.rows<{ deliveryId: string; isPending: boolean }>(UNQUEUE, keys)
  await tx.run(REMOVE, [...keys, messages.map((one) => one.createdAt.toISOString())])
  const pending = new Set(unqueued.filter(({ isPending }) => isPending).map(({ deliveryId }) => deliveryId))
  return { removed: messages.length, pending: messages.filter(({ deliveryId }) => pending.has(deliveryId)) }
}
