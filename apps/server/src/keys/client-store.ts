import { type Queryable, sql } from '../platform/db.ts'
import type { ClientFacts } from './client.ts'
import type { ClientKey } from './client-keys.ts'

export interface ClientRow {
  tenantId: string
  clientId: string
  livemode: boolean
  name: string
  secretHash: Buffer | null
  publicKeys: readonly ClientKey[]
  status: 'active' | 'revoked'
  createdAt: Date
}

const COLUMNS = `tenant_id as "tenantId", client_id as "clientId", livemode, name, secret_hash as "secretHash",
  public_keys as "publicKeys", status, created_at as "createdAt"`

// Asked for many clients at once: the cache refreshes all its entries in one round trip per cell.
const FIND_FACTS = sql(
  'clients.find_facts',
  `select c.tenant_id as "tenantId", c.client_id as "clientId", c.livemode, c.secret_hash as "secretHash",
     c.public_keys as "publicKeys", c.status, t.status as "tenantStatus"
   from api_clients c join tenants t on t.tenant_id = c.tenant_id
   where c.client_id = any($1)`,
)
const LOCK_TENANT = sql('clients.lock_tenant', 'select tenant_id from tenants where tenant_id = $1 for update')
const COUNT_ACTIVE = sql(
  'clients.count_active',
  `select count(*)::int as count from api_clients where tenant_id = $1 and status = 'active'`,
)
const INSERT = sql(
  'clients.insert',
  `insert into api_clients (tenant_id, client_id, livemode, name, secret_hash, public_keys, status, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
)
const LIST = sql(
  'clients.list',
  `select ${COLUMNS} from api_clients where tenant_id = $1 order by created_at, client_id`,
)
const REVOKE = sql(
  'clients.revoke',
  `update api_clients set status = 'revoked' where client_id = $1 returning ${COLUMNS}`,
)
const USE_ASSERTION = sql(
  'clients.use_assertion',
  'insert into used_assertions (tenant_id, assertion_hash, expires_at) values ($1, $2, $3) on conflict do nothing',
)
const PURGE_ASSERTIONS = sql(
  'clients.purge_assertions',
  `delete from used_assertions where (tenant_id, assertion_hash) in (
     select tenant_id, assertion_hash from used_assertions where expires_at <= $1 order by expires_at limit $2
     for update skip locked)`,
)

export const clientStore = {
  findFacts: (db: Queryable, clientIds: readonly string[]): Promise<ClientFacts[]> =>
    db.rows<ClientFacts>(FIND_FACTS, [clientIds]),

  /** Whether there is such a tenant. Its clients are counted and added one at a time. */
  async lockTenant(db: Queryable, tenantId: string): Promise<boolean> {
    return (await db.rows(LOCK_TENANT, [tenantId])).length > 0
  },
  async countActive(db: Queryable, tenantId: string): Promise<number> {
    return (await db.rows<{ count: number }>(COUNT_ACTIVE, [tenantId]))[0]?.count ?? 0
  },
  async insert(db: Queryable, row: ClientRow): Promise<void> {
    const { tenantId, clientId, livemode, name, secretHash, publicKeys, status, createdAt } = row
    const keys = JSON.stringify(publicKeys)
    await db.run(INSERT, [tenantId, clientId, livemode, name, secretHash, keys, status, createdAt])
  },
  list: (db: Queryable, tenantId: string): Promise<ClientRow[]> => db.rows<ClientRow>(LIST, [tenantId]),
  async revoke(db: Queryable, clientId: string): Promise<ClientRow | undefined> {
    return (await db.rows<ClientRow>(REVOKE, [clientId]))[0]
  },

  /** False when it was used before. */
  async useAssertion(db: Queryable, tenantId: string, used: { hash: Buffer; expiresAt: Date }): Promise<boolean> {
    return (await db.run(USE_ASSERTION, [tenantId, used.hash, used.expiresAt])) > 0
  },
  purgeAssertions: (db: Queryable, now: Date, limit: number): Promise<number> => db.run(PURGE_ASSERTIONS, [now, limit]),
}
