import { type Db, type Queryable, sql } from '../platform/db.ts'
import type { TenantData } from '../platform/tenant-data.ts'

export interface StoredException {
  id: string
  recordId: string
  entityId: string
  personDigest: Buffer
  reason: string
  /** Id of an API key. */
  createdBy: string
  createdAt: Date
  expiresAt: Date
}

/** The part of an exception that screening needs. */
export type ActiveException = Pick<
  StoredException,
  'id' | 'recordId' | 'entityId' | 'personDigest' | 'reason' | 'expiresAt'
>

const ACTIVE_COLUMNS = `id, record_id as "recordId", entity_id as "entityId", person_digest as "personDigest", reason,
  expires_at as "expiresAt"`
const COLUMNS = `${ACTIVE_COLUMNS}, created_by as "createdBy", created_at as "createdAt"`
const MINE = 'tenant_id = $1 and livemode = $2'

const INSERT = sql(
  'exceptions.insert',
  `insert into sanction_exceptions (tenant_id, livemode, id, record_id, entity_id, person_digest, reason, created_by, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
)
const FIND = sql('exceptions.find', `select ${COLUMNS} from sanction_exceptions where ${MINE} and id = $3`)
const DELETE = sql('exceptions.delete', `delete from sanction_exceptions where ${MINE} and id = $3`)
const LIST = sql(
  'exceptions.list',
  `select ${COLUMNS} from sanction_exceptions where ${MINE} and id < $3 order by id desc limit $4`,
)
const LIST_OF_RECORD = sql(
  'exceptions.list_of_record',
  `select ${COLUMNS} from sanction_exceptions where ${MINE} and id < $3 and record_id = $5 order by id desc limit $4`,
)
const HAS_ACTIVE = sql(
  'exceptions.has_active',
  `select exists (select from sanction_exceptions where ${MINE} and expires_at > $3) as found`,
)
const ACTIVE_OF_RECORDS = sql(
  'exceptions.active_of_records',
  `select ${ACTIVE_COLUMNS} from sanction_exceptions where ${MINE} and record_id = any($3) and expires_at > $4
   order by expires_at desc, id desc`,
)
// After five runs PostgreSQL would use one generic plan, made for ten ids, for arrays of every length. With 10,000 ids that
// plan may compare each row with each id, which takes seconds instead of a tenth of a second.
const PLAN_FOR_THESE_VALUES = sql(
  'exceptions.plan_for_these_values',
  `select set_config('plan_cache_mode', 'force_custom_plan', true)`,
)
const PURGE = sql(
  'exceptions.purge',
  `delete from sanction_exceptions where (tenant_id, livemode, id) in (
     select tenant_id, livemode, id from sanction_exceptions where expires_at <= $1 order by expires_at limit $2 for update skip locked)`,
)

const AFTER_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export const exceptionStore = {
  async insert(db: Queryable, owner: TenantData, made: StoredException): Promise<void> {
    await db.run(INSERT, [
      owner.tenantId,
      owner.livemode,
      made.id,
      made.recordId,
      made.entityId,
      made.personDigest,
      made.reason,
      made.createdBy,
      made.createdAt,
      made.expiresAt,
    ])
  },
  async find(db: Queryable, owner: TenantData, id: string): Promise<StoredException | undefined> {
    return (await db.rows<StoredException>(FIND, [owner.tenantId, owner.livemode, id]))[0]
  },
  /** Newest first, and whether more follow. */
  async list(
    db: Queryable,
    owner: TenantData,
    page: { beforeId: string | undefined; recordId: string | undefined; limit: number },
  ): Promise<{ rows: StoredException[]; more: boolean }> {
    const { beforeId = AFTER_ALL, recordId, limit } = page
    // Reads one more row than asked for, to know whether another page follows.
    const values = [owner.tenantId, owner.livemode, beforeId, limit + 1]
    const found = await (recordId === undefined
      ? db.rows<StoredException>(LIST, values)
      : db.rows<StoredException>(LIST_OF_RECORD, [...values, recordId]))
    return { rows: found.slice(0, limit), more: found.length > limit }
  },
  async hasActive(db: Queryable, owner: TenantData, now: Date): Promise<boolean> {
    const [row] = await db.rows<{ found: boolean }>(HAS_ACTIVE, [owner.tenantId, owner.livemode, now])
    return row?.found === true
  },
  /** Active exceptions, the one that expires last first. */
  activeOf: (db: Db, owner: TenantData, recordIds: readonly string[], now: Date): Promise<ActiveException[]> =>
    db.transaction(async (tx) => {
      await tx.rows(PLAN_FOR_THESE_VALUES)
      return tx.rows<ActiveException>(ACTIVE_OF_RECORDS, [owner.tenantId, owner.livemode, recordIds, now])
    }),
  delete: (db: Queryable, owner: TenantData, id: string): Promise<number> =>
    db.run(DELETE, [owner.tenantId, owner.livemode, id]),
  purge: (db: Queryable, expiredBefore: Date, limit: number): Promise<number> => db.run(PURGE, [expiredBefore, limit]),
}
