import { type Queryable, sql } from '../platform/db.ts'
import type { Sealed } from '../platform/key-vault.ts'
import type { KeyFacts, NewKey, SigningKeyFacts } from './key.ts'

export interface TenantRow {
  tenantId: string
  name: string
  status: 'active' | 'suspended'
  createdAt: Date
}

export interface KeyRow extends NewKey {
  id: string
  tenantId: string
  lastFour: string
  status: 'active' | 'revoked'
  whenCreated: Date
  lastUpdated: Date
  endsAt: Date | null
  rotatedTo: string | null
}

const TENANT_COLUMNS = 'tenant_id as "tenantId", name, status, created_at as "createdAt"'
const KEY_COLUMNS = `tenant_id as "tenantId", id, last_four as "lastFour", livemode, name, customer_id as "customerId",
  api_id as "apiId", usage_plan_id as "usagePlanId", product_code as "productCode", scopes, allowed_ips as "allowedIps",
  status, when_created as "whenCreated", last_updated as "lastUpdated", ends_at as "endsAt", rotated_to as "rotatedTo"`

const INSERT_TENANT = sql('keys.insert_tenant', 'insert into tenants (tenant_id, name, created_at) values ($1, $2, $3)')
const LIST_TENANTS = sql('keys.list_tenants', `select ${TENANT_COLUMNS} from tenants order by created_at, tenant_id`)
const FIND_TENANT = sql('keys.find_tenant', `select ${TENANT_COLUMNS} from tenants where tenant_id = $1`)
const SET_TENANT_STATUS = sql('keys.set_tenant_status', 'update tenants set status = $2 where tenant_id = $1')

// The hot query, asked for many keys at once: the cache refreshes all its entries in one round trip per cell.
const FIND_FACTS = sql(
  'keys.find_facts',
  `select k.lookup_hash as "lookupHash", k.tenant_id as "tenantId", k.id as "keyId", k.livemode, k.scopes,
     k.usage_plan_id as "usagePlan", k.allowed_ips as "allowedIps", k.status, t.status as "tenantStatus", k.ends_at as "endsAt"
   from api_keys k join tenants t on t.tenant_id = k.tenant_id
   where k.lookup_hash = any($1)`,
)
const INSERT_KEY = sql(
  'keys.insert',
  `insert into api_keys (tenant_id, id, lookup_hash, sealed_key, master_key_id, last_four, livemode, name, customer_id,
     api_id, usage_plan_id, product_code, scopes, allowed_ips, status, when_created, last_updated)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'active', $15, $15)`,
)
const LIST_KEYS = sql('keys.list', `select ${KEY_COLUMNS} from api_keys where tenant_id = $1 order by when_created, id`)
const LOCK_KEY = sql('keys.lock', `select ${KEY_COLUMNS} from api_keys where id = $1 for update`)
const END_KEY = sql('keys.end', 'update api_keys set ends_at = $2, rotated_to = $3, last_updated = $4 where id = $1')
const REVOKE_KEY = sql('keys.revoke', `update api_keys set status = 'revoked', last_updated = $2 where id = $1`)
// Lists inactive keys too: a revoked key is replaced by another; a missing key is not.
const LIST_FOR_SIGNING = sql(
  'keys.list_for_signing',
  `select tenant_id as "tenantId", id as "keyId", livemode, scopes, status, ends_at as "endsAt", rotated_to as "rotatedTo"
   from api_keys where tenant_id = any($1) order by when_created desc, id desc`,
)
const FIND_SEALED = sql(
  'keys.find_sealed',
  'select sealed_key as blob, master_key_id as "masterKeyId" from api_keys where tenant_id = $1 and id = $2',
)
const LOCK_SEALED_WITH_OTHER = sql(
  'keys.lock_sealed_with_other',
  `select tenant_id as "tenantId", id, sealed_key as blob, master_key_id as "masterKeyId" from api_keys
   where master_key_id <> $1 and id > $3 order by id limit $2 for update`,
)
const RESEAL = sql('keys.reseal', 'update api_keys set sealed_key = $2, master_key_id = $3 where id = $1')
const COUNT_BY_MASTER_KEY = sql(
  'keys.count_by_master_key',
  'select master_key_id as "masterKeyId", count(*)::int as count from api_keys group by master_key_id',
)

export const keyStore = {
  async insertTenant(db: Queryable, tenant: { tenantId: string; name: string; createdAt: Date }): Promise<void> {
    await db.run(INSERT_TENANT, [tenant.tenantId, tenant.name, tenant.createdAt])
  },
  listTenants: (db: Queryable): Promise<TenantRow[]> => db.rows<TenantRow>(LIST_TENANTS),
  async findTenant(db: Queryable, tenantId: string): Promise<TenantRow | undefined> {
    return (await db.rows<TenantRow>(FIND_TENANT, [tenantId]))[0]
  },
  setTenantStatus: (db: Queryable, tenantId: string, status: TenantRow['status']): Promise<number> =>
    db.run(SET_TENANT_STATUS, [tenantId, status]),

  findFacts: (db: Queryable, hashes: readonly Buffer[]): Promise<(KeyFacts & { lookupHash: Buffer })[]> =>
    db.rows(FIND_FACTS, [hashes]),

  async insertKey(
    db: Queryable,
    key: NewKey & { id: string; tenantId: string; lookupHash: Buffer; lastFour: string; now: Date },
    sealed: Sealed,
  ): Promise<void> {
    await db.run(INSERT_KEY, [
      key.tenantId,
      key.id,
      key.lookupHash,
      sealed.blob,
      sealed.masterKeyId,
      key.lastFour,
      key.livemode,
      key.name,
      key.customerId ?? null,
      key.apiId ?? null,
      key.usagePlanId ?? null,
      key.productCode ?? null,
      key.scopes,
      key.allowedIps,
      key.now,
    ])
  },
  listKeys: (db: Queryable, tenantId: string): Promise<KeyRow[]> => db.rows<KeyRow>(LIST_KEYS, [tenantId]),
  async lockKey(db: Queryable, id: string): Promise<KeyRow | undefined> {
    return (await db.rows<KeyRow>(LOCK_KEY, [id]))[0]
  },
  endKey: (db: Queryable, id: string, endsAt: Date, rotatedTo: string, now: Date): Promise<number> =>
    db.run(END_KEY, [id, endsAt, rotatedTo, now]),
  revokeKey: (db: Queryable, id: string, now: Date): Promise<number> => db.run(REVOKE_KEY, [id, now]),

  /** Newest first. */
  listForSigning: (db: Queryable, tenantIds: readonly string[]): Promise<(SigningKeyFacts & { tenantId: string })[]> =>
    db.rows(LIST_FOR_SIGNING, [tenantIds]),

  async findSealed(db: Queryable, tenantId: string, id: string): Promise<Sealed | undefined> {
    return (await db.rows<Sealed>(FIND_SEALED, [tenantId, id]))[0]
  },
  lockSealedWithOther: (
    db: Queryable,
    { masterKeyId, after, limit }: { masterKeyId: string; after: string; limit: number },
  ): Promise<(Sealed & { tenantId: string; id: string })[]> =>
    db.rows(LOCK_SEALED_WITH_OTHER, [masterKeyId, limit, after]),
  reseal: (db: Queryable, id: string, sealed: Sealed): Promise<number> =>
    db.run(RESEAL, [id, sealed.blob, sealed.masterKeyId]),
  countByMasterKey: (db: Queryable): Promise<{ masterKeyId: string; count: number }[]> => db.rows(COUNT_BY_MASTER_KEY),
}
