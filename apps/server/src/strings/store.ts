import { type Queryable, type Statement, sql } from '../platform/db.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import type { Order } from './cursor.ts'

export interface StoredString {
  id: string
  value: string
  metadata: Record<string, unknown> | null
  createdAt: Date
  expiresAt: Date | null
}

export interface NewString {
  owner: TenantData
  record: StoredString
}

export interface WantedString {
  owner: TenantData
  id: string
  now: Date
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
/** How many records one statement stores or finds. */
export const MOST_AT_ONCE = 16
const byCount = (make: (count: number) => Statement): readonly Statement[] =>
  Array.from({ length: MOST_AT_ONCE }, (_, index) => make(index + 1))
const places = (count: number, width: number, place: (row: number, from: number) => string): string =>
  Array.from({ length: count }, (_, row) => place(row, row * width + 1)).join(', ')
const INSERT_MANY = byCount((count) =>
  sql(
    `strings.insert_${count}`,
    `insert into strings (tenant_id, livemode, id, value, metadata, created_at, expires_at)
     values ${places(count, 7, (_, n) => `($${n}, $${n + 1}, $${n + 2}, $${n + 3}, $${n + 4}, $${n + 5}, $${n + 6})`)}`,
  ),
)
const FIND = sql('strings.find', `select ${COLUMNS} from strings where ${MINE} and id = $4`)
// Looks up each record by its key: `limit 1` keeps the planner from scanning the table for a join.
const FIND_MANY = byCount((count) =>
  sql(
    `strings.find_${count}`,
    `select place, found.* from (values
       ${places(count, 4, (row, n) => `(${row}, $${n}::uuid, $${n + 1}::bool, $${n + 2}::timestamptz, $${n + 3}::uuid)`)}
     ) as asked (place, owner, live, at, wanted), lateral (
       select ${COLUMNS} from strings
       where tenant_id = owner and livemode = live and (expires_at is null or expires_at > at) and id = wanted limit 1
     ) as found`,
  ),
)
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

function newValues({ owner, record }: NewString): unknown[] {
  return [
    owner.tenantId,
    owner.livemode,
    record.id,
    record.value,
    record.metadata === null ? null : JSON.stringify(record.metadata),
    record.createdAt,
    record.expiresAt,
  ]
}

function statementFor(statements: readonly Statement[], count: number): Statement {
  const statement = statements[count - 1]
  if (!statement) throw new RangeError(`${count} strings at once`)
  return statement
}

export const stringStore = {
  async insert(db: Queryable, owner: TenantData, record: StoredString): Promise<void> {
    await db.run(INSERT, newValues({ owner, record }))
  },
  /** All or none of them. */
  async insertMany(db: Queryable, strings: readonly NewString[]): Promise<undefined[]> {
    await db.run(statementFor(INSERT_MANY, strings.length), strings.flatMap(newValues))
    return strings.map(() => undefined)
  },
  async find(db: Queryable, owner: TenantData, id: string, now: Date): Promise<StoredString | undefined> {
    return (await db.rows<StoredString>(FIND, [owner.tenantId, owner.livemode, now, id]))[0]
  },
  /** The result of `find` for each wanted record, in the same order. */
  async findMany(db: Queryable, wanted: readonly WantedString[]): Promise<(StoredString | undefined)[]> {
    const values = wanted.flatMap(({ owner, id, now }) => [owner.tenantId, owner.livemode, now, id])
    const rows = await db.rows<StoredString & { place: number }>(statementFor(FIND_MANY, wanted.length), values)
    const found: (StoredString | undefined)[] = wanted.map(() => undefined)
    for (const { place, ...record } of rows) found[place] = record
    return found
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
