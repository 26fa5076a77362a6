import { type Queryable, sql } from '../platform/db.ts'
import type { Sealed } from '../platform/key-vault.ts'
import type { TenantData } from '../platform/tenant-data.ts'

/** A key pair that signs webhooks, as its row has it. */
export interface WebhookKeyRow extends TenantData {
  kid: string
  createdAt: Date
  /** It signs until then; null for the current one. */
  endsAt: Date | null
}

/** A row whose private half is still there. */
export type SealedWebhookKey = WebhookKeyRow & Sealed

const CLEAR = 'tenant_id as "tenantId", livemode, kid, created_at as "createdAt", ends_at as "endsAt"'
const SEALED = `${CLEAR}, sealed_key as blob, master_key_id as "masterKeyId"`

const INSERT = sql(
  'webhooks.insert_key',
  `insert into webhook_keys (tenant_id, livemode, kid, sealed_key, master_key_id, created_at)
   values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
)
const LIST = sql(
  'webhooks.list_keys',
  `select ${CLEAR} from webhook_keys where tenant_id = $1 order by livemode desc, created_at desc, kid`,
)
const LIST_SEALED = sql(
  'webhooks.list_sealed_keys',
  `select ${SEALED} from webhook_keys where tenant_id = any($1) and sealed_key is not null order by created_at desc, kid`,
)
const END_CURRENT = sql(
  'webhooks.end_current_key',
  'update webhook_keys set ends_at = $3 where tenant_id = $1 and livemode = $2 and ends_at is null',
)
const RETIRE = sql(
  'webhooks.retire_key',
  `update webhook_keys set ends_at = least(ends_at, $3), sealed_key = null, master_key_id = null
   where tenant_id = $1 and kid = $2 returning ${CLEAR}`,
)
const ERASE_ENDED = sql(
  'webhooks.erase_ended_keys',
  'update webhook_keys set sealed_key = null, master_key_id = null where ends_at <= $1 and sealed_key is not null',
)
const LOCK_SEALED_WITH_OTHER = sql(
  'webhooks.lock_keys_sealed_with_other',
  `select ${SEALED} from webhook_keys where master_key_id <> $1 for update`,
)
const RESEAL = sql(
  'webhooks.reseal_key',
  `update webhook_keys set sealed_key = $4, master_key_id = $5 where tenant_id = $1 and livemode = $2 and kid = $3`,
)
const COUNT_BY_MASTER_KEY = sql(
  'webhooks.count_keys_by_master_key',
  `select master_key_id as "masterKeyId", count(*)::int as count from webhook_keys
   where master_key_id is not null group by master_key_id`,
)

export const webhookKeyStore = {
  /** False when the tenant has a current key of this mode. */
  async insert(db: Queryable, { tenantId, livemode, kid, createdAt }: WebhookKeyRow, sealed: Sealed): Promise<boolean> {
    const values = [tenantId, livemode, kid, sealed.blob, sealed.masterKeyId, createdAt]
    return (await db.run(INSERT, values)) === 1
  },
  list: (db: Queryable, tenantId: string): Promise<WebhookKeyRow[]> => db.rows<WebhookKeyRow>(LIST, [tenantId]),
  /** Newest first, of both modes. */
  listSealed: (db: Queryable, tenantIds: readonly string[]): Promise<SealedWebhookKey[]> =>
    db.rows<SealedWebhookKey>(LIST_SEALED, [tenantIds]),
  endCurrent: (db: Queryable, { tenantId, livemode }: TenantData, endsAt: Date): Promise<number> =>
    db.run(END_CURRENT, [tenantId, livemode, endsAt]),
  async retire(db: Queryable, tenantId: string, kid: string, now: Date): Promise<WebhookKeyRow | undefined> {
    return (await db.rows<WebhookKeyRow>(RETIRE, [tenantId, kid, now]))[0]
  },
  eraseEnded: (db: Queryable, now: Date): Promise<number> => db.run(ERASE_ENDED, [now]),
  lockSealedWithOther: (tx: Queryable, masterKeyId: string): Promise<SealedWebhookKey[]> =>
    tx.rows<SealedWebhookKey>(LOCK_SEALED_WITH_OTHER, [masterKeyId]),
  reseal: (tx: Queryable, { tenantId, livemode, kid }: WebhookKeyRow, sealed: Sealed): Promise<number> =>
    tx.run(RESEAL, [tenantId, livemode, kid, sealed.blob, sealed.masterKeyId]),
  countByMasterKey: (db: Queryable): Promise<{ masterKeyId: string; count: number }[]> => db.rows(COUNT_BY_MASTER_KEY),
}
