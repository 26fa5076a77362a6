import { type Queryable, sql } from '../platform/db.ts'
import type { Order } from './cursor.ts'

export interface StoredString {
  id: string
  value: string
  metadata: Record<string, unknown> | null
  createdAt: Date
  expiresAt: Date | null
}

/** Which part of a tenant's data: live or test. */
export interface Owner {
  tenantId: string
  livemode: boolean
}

const COLUMNS = 'id, value, metadata, created_at as "createdAt", expires_at as "expiresAt"'
const MINE = 'tenant_id = $1 and livemode = $2 and (expires_at is null or expires_at > $3)'

const INSERT = sql(
  'strings.insert',
  `insert into strings (tenant_id, livemode, id, value, metadata, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)`,
)
const FIND = sql('strings.find', `select ${COLUMNS} from strings where ${MINE} and id = $4`)
const DELETE = sql('strings.delete', `delete from strings where ${MINE} and id = $4`)
const LIST = {
  asc: sql('strings.list_asc', `select ${COLUMNS} from strings where ${MINE} and id > $4 order by id limit $5`),
  desc: sql('strings.list_desc', `select ${COLUMNS} from strings where ${MINE} and id < $4 order by id desc limit $5`),
}
const PURGE = sql(
  'strings.purge',
  `delete from strings where (tenant_id, livemode, id) in (
     select tenant_id, livemode, id from strings where expires_at <= $1 order by expires_at limit $2 for update skip locked)`,
)

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'
const AFTER_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export const stringStore = {
  async insert(db: Queryable, owner: Owner, record: StoredString): Promise<void> {
    const metadata = record.metadata === null ? null : JSON.stringify(record.metadata)
    await db.run(INSERT, [
      owner.tenantId,
      owner.livemode,
      record.id,
      record.value,
      metadata,
      record.createdAt,
      record.expiresAt,
    ])
  },
  async find(db: Queryable, owner: Owner, id: string, now: Date): Promise<StoredString | undefined> {
    return (
      await db.rows<StoredString & { [column: string]: unknown }>(FIND, [owner.tenantId, owner.livemode, now, id])
    )[0]
  },
  list: (
    db: Queryable,
    owner: Owner,
    page: { order: Order; afterId: string | undefined; limit: number; now: Date },
  ): Promise<StoredString[]> =>
    db.rows(LIST[page.order], [
      owner.tenantId,
      owner.livemode,
      page.now,
      page.afterId ?? (page.order === 'asc' ? BEFORE_ALL : AFTER_ALL),
      page.limit,
    ]),
  delete: (db: Queryable, owner: Owner, id: string, now: Date): Promise<number> =>
    db.run(DELETE, [owner.tenantId, owner.livemode, now, id]),
  purgeExpired: (db: Queryable, now: Date, limit: number): Promise<number> => db.run(PURGE, [now, limit]),
}
