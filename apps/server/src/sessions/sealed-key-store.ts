import { type Queryable, sql } from '../platform/db.ts'

/** A sealed key: of a session, or of a tenant's metadata tags when it names no session. */
export interface SealedKeyRow {
  tenantId: string
  session: { createdAt: Date; sessionId: string } | null
  blob: Buffer
  masterKeyId: string
}

const COUNT = sql(
  'sessions.count_by_master_key',
  `select master_key_id as "masterKeyId", count(*)::int as count from (
     select master_key_id from session_secrets union all select master_key_id from session_tag_keys
   ) as sealed group by master_key_id`,
)
const LOCK_SESSIONS = sql(
  'sessions.lock_sealed_with_other',
  `select tenant_id as "tenantId", created_at as "createdAt", session_id as "sessionId", sealed_key as blob, master_key_id as "masterKeyId"
   from session_secrets where master_key_id <> $1 limit $2 for update skip locked`,
)
const LOCK_TAG_KEYS = sql(
  'sessions.lock_tag_keys_sealed_with_other',
  `select tenant_id as "tenantId", sealed_key as blob, master_key_id as "masterKeyId"
   from session_tag_keys where master_key_id <> $1 limit $2 for update skip locked`,
)
const RESEAL_SESSION = sql(
  'sessions.reseal',
  `update session_secrets set sealed_key = $4, master_key_id = $5
   where tenant_id = $1 and created_at = $2 and session_id = $3`,
)
const RESEAL_TAG_KEY = sql(
  'sessions.reseal_tag_key',
  'update session_tag_keys set sealed_key = $2, master_key_id = $3 where tenant_id = $1',
)

type Found = { tenantId: string; createdAt: Date; sessionId: string; blob: Buffer; masterKeyId: string }

export const sealedKeyStore = {
  countByMasterKey: (db: Queryable): Promise<{ masterKeyId: string; count: number }[]> => db.rows(COUNT),
  async lockSealedWithOther(tx: Queryable, currentKeyId: string, limit: number): Promise<SealedKeyRow[]> {
    const sessions = await tx.rows<Found>(LOCK_SESSIONS, [currentKeyId, limit])
    const left = limit - sessions.length
    const tagKeys = left === 0 ? [] : await tx.rows<Found>(LOCK_TAG_KEYS, [currentKeyId, left])
    return [
      ...sessions.map(({ createdAt, sessionId, ...row }) => ({ ...row, session: { createdAt, sessionId } })),
      ...tagKeys.map((row) => ({ ...row, session: null })),
    ]
  },
  reseal(
    tx: Queryable,
    { tenantId, session }: SealedKeyRow,
    sealed: { blob: Buffer; masterKeyId: string },
  ): Promise<number> {
    return session
      ? tx.run(RESEAL_SESSION, [tenantId, session.createdAt, session.sessionId, sealed.blob, sealed.masterKeyId])
      : tx.run(RESEAL_TAG_KEY, [tenantId, sealed.blob, sealed.masterKeyId])
  },
}
