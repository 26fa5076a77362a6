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
// There is no index by master key, so `reseal` walks through all rows in the order of their primary key, in batches.
const KEY = '(tenant_id, created_at, session_id)'
const WALK = sql(
  'sessions.walk_sealed',
  `select tenant_id as "tenantId", created_at as "createdAt", session_id as "sessionId", master_key_id <> $5 as "isOther"
   from session_secrets where ${KEY} > ($1, $2, $3) order by tenant_id, created_at, session_id limit $4`,
)
const LOCK_SESSIONS = sql(
  'sessions.lock_sealed_with_other',
  `select tenant_id as "tenantId", created_at as "createdAt", session_id as "sessionId", sealed_key as blob, master_key_id as "masterKeyId"
   from session_secrets where ${KEY} in (select * from unnest($2::uuid[], $3::timestamptz[], $4::uuid[])) and master_key_id <> $1
     and created_at >= $5 and created_at <= $6 for update skip locked`,
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

export interface SessionPlace {
  tenantId: string
  createdAt: Date
  sessionId: string
}
export interface WalkedSession extends SessionPlace {
  isOther: boolean
}

type Found = { tenantId: string; createdAt: Date; sessionId: string; blob: Buffer; masterKeyId: string }

export const sealedKeyStore = {
  countByMasterKey: (db: Queryable): Promise<{ masterKeyId: string; count: number }[]> => db.rows(COUNT),
  /** The next sessions after this one, and whether another master key sealed them. */
  walk: (db: Queryable, after: SessionPlace, limit: number, currentKeyId: string): Promise<WalkedSession[]> =>
    db.rows<WalkedSession>(WALK, [after.tenantId, after.createdAt, after.sessionId, limit, currentKeyId]),
  async lockSessions(tx: Queryable, places: readonly SessionPlace[], currentKeyId: string): Promise<SealedKeyRow[]> {
    const times = places.map(({ createdAt }) => createdAt.getTime())
    const found = await tx.rows<Found>(LOCK_SESSIONS, [
      currentKeyId,
      places.map(({ tenantId }) => tenantId),
      places.map(({ createdAt }) => createdAt.toISOString()),
      places.map(({ sessionId }) => sessionId),
      new Date(Math.min(...times)),
      new Date(Math.max(...times)),
    ])
    return found.map(({ createdAt, sessionId, ...row }) => ({ ...row, session: { createdAt, sessionId } }))
  },
  async lockTagKeys(tx: Queryable, currentKeyId: string, limit: number): Promise<SealedKeyRow[]> {
    const found = await tx.rows<Found>(LOCK_TAG_KEYS, [currentKeyId, limit])
    return found.map((row) => ({ ...row, session: null }))
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
