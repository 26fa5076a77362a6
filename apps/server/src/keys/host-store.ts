import { type Queryable, sql } from '../platform/db.ts'

/** A host name that belongs to a tenant. */
export interface HostRow {
  host: string
  tenantId: string
  createdAt: Date
}

// An arbitrary constant that must be the same in every release.
const LOCK_KEY = 7_305_811_248

const LOCK = sql('hosts.lock', 'select pg_advisory_xact_lock($1)')
const LIST = sql(
  'hosts.list',
  'select host, tenant_id as "tenantId", created_at as "createdAt" from tenant_hosts order by host',
)
const INSERT = sql(
  'hosts.insert',
  'insert into tenant_hosts (host, tenant_id, created_at) values ($1, $2, $3) on conflict do nothing',
)
const DELETE = sql('hosts.delete', 'delete from tenant_hosts where tenant_id = $1 and host = $2')

export const hostStore = {
  /** One change at a time. The lock ends with the transaction. */
  async lock(tx: Queryable): Promise<void> {
    await tx.rows(LOCK, [LOCK_KEY])
  },
  list: (db: Queryable): Promise<HostRow[]> => db.rows(LIST),
  insert: (db: Queryable, { host, tenantId, createdAt }: HostRow): Promise<number> =>
    db.run(INSERT, [host, tenantId, createdAt]),
  delete: (db: Queryable, { tenantId, host }: Pick<HostRow, 'tenantId' | 'host'>): Promise<number> =>
    db.run(DELETE, [tenantId, host]),
}
