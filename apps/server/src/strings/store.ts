import { type Queryable, sql } from '../platform/db.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import type { Order } from './cursor.ts'

export interface StoredString {
  id: string
  value: string
  metadata: Record<string, unknown> | null
  createdAt: Date
  expiresAt: Date | null
}

export interface PageRequest {
  order: Order
  afterId: string | undefined
  limit: number
  maxBytes: number
  now: Date
}

const COLUMNS = 'id, value, metadata, created_at as "createdAt", expires_at as "expiresAt"'
const MINE = 'tenant_id = $1 and livemode = $2 and (expires_at is null or expires_at > $3)'

const INSERT = sql(
  'strings.insert',
  `insert into strings (tenant_id, livemode, id, value, metadata, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)`,
)
const FIND = sql('strings.find', `select ${COLUMNS} from strings where ${MINE} and id = $4`)
const DELETE = sql('strings.delete', `delete from strings where ${MINE} and id = $4`)
// Values can be large: a page ends where the records before the next one reach $6 bytes. `available` counts what the
// page could have held, so that the caller knows whether more follows. The sizes are read without the values.
const list = (name: string, comparison: string, order: string) =>
  sql(
    name,
    `select ${COLUMNS}, available from (
       select *, count(*) over () as available,
         sum(octet_length(value) + coalesce(octet_length(metadata::text), 0)) over (order by id ${order} rows between unbounded preceding and 1 preceding) as before
       from (select * from strings where ${MINE} and id ${comparison} $4 order by id ${order} limit $5) as candidates
     ) as measured
     where coalesce(before, 0) < $6 order by id ${order}`,
  )
const LIST = { asc: list('strings.list_asc', '>', 'asc'), desc: list('strings.list_desc', '<', 'desc') }
const PURGE = sql(
  'strings.purge',
  `delete from strings where (tenant_id, livemode, id) in (
     select tenant_id, livemode, id from strings where expires_at <= $1 order by expires_at limit $2 for update skip locked)`,
)

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'
const AFTER_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export const stringStore = {
  async insert(db: Queryable, owner: TenantData, record: StoredString): Promise<void> {
    await db.run(INSERT, [
      owner.tenantId,
      owner.livemode,
      record.id,
      record.value,
      record.metadata === null ? null : JSON.stringify(record.metadata),
      record.createdAt,
      record.expiresAt,
    ])
  },
  async find(db: Queryable, owner: TenantData, id: string, now: Date): Promise<StoredString | undefined> {
    return (await db.rows<StoredString>(FIND, [owner.tenantId, owner.livemode, now, id]))[0]
  },
  /** At most `limit` records and about `maxBytes`, and whether more follow. */
  async list(db: Queryable, owner: TenantData, page: PageRequest): Promise<{ rows: StoredString[]; more: boolean }> {
    const { order, afterId = order === 'asc' ? BEFORE_ALL : AFTER_ALL, limit, maxBytes, now } = page
    // Reads one more row than asked for, to know whether another page follows.
    const found = await db.rows<StoredString & { available: string }>(LIST[order], [
      owner.tenantId,
      owner.livemode,
      now,
      afterId,
      limit + 1,
      maxBytes,
    ])
    const rows = found.slice(0, limit)
    return { rows, more: Number(found[0]?.available ?? 0) > rows.length }
  },
  delete: (db: Queryable, owner: TenantData, id: string, now: Date): Promise<number> =>
    db.run(DELETE, [owner.tenantId, owner.livemode, now, id]),
  purgeExpired: (db: Queryable, now: Date, limit: number): Promise<number> => db.run(PURGE, [now, limit]),
}
