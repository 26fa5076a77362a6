import { type Queryable, sql } from '../platform/db.ts'

const FIND = sql(
  'sessions.find_tag_key',
  `select sealed_key as blob, master_key_id as "masterKeyId" from session_tag_keys where tenant_id = $1`,
)
const INSERT = sql(
  'sessions.insert_tag_key',
  'insert into session_tag_keys (tenant_id, sealed_key, master_key_id) values ($1, $2, $3) on conflict do nothing',
)

interface SealedKey {
  blob: Buffer
  masterKeyId: string
}

/** The key of a tenant's metadata tags, sealed. */
export const tagKeyStore = {
  async find(db: Queryable, tenantId: string): Promise<SealedKey | undefined> {
    return (await db.rows<SealedKey>(FIND, [tenantId]))[0]
  },
  insert: (db: Queryable, tenantId: string, { blob, masterKeyId }: SealedKey): Promise<number> =>
    db.run(INSERT, [tenantId, blob, masterKeyId]),
}
