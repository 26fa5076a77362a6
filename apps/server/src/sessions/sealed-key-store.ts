import { AREA_LETTERS, type SessionArea } from '@ostiary/contract'
import { type Queryable, sql } from '../platform/db.ts'

/** A sealed key: of a session, or of a tenant's metadata tags when it names no session. */
export interface SealedKeyRow {
  tenantId: string
  session: SealedSession | null
  blob: Buffer
  masterKeyId: string
}

export interface SealedSession {
  createdAt: Date
  sessionId: string
  livemode: boolean
  area: SessionArea
  request: Buffer | null
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
  `select v.tenant_id as "tenantId", v.created_at as "createdAt", v.session_id as "sessionId", v.sealed_key as blob,
     v.master_key_id as "masterKeyId", case when s.area is null then null else v.request end as request, s.livemode, s.area
   from session_secrets v left join sessions s on s.tenant_id = v.tenant_id and s.created_at = v.created_at
     and s.session_id = v.session_id and s.created_at >= $5 and s.created_at <= $6
   where (v.tenant_id, v.created_at, v.session_id) in (select * from unnest($2::uuid[], $3::timestamptz[], $4::uuid[]))
     and v.master_key_id <> $1 and v.created_at >= $5 and v.created_at <= $6 for update of v skip locked`,
)
const LOCK_TAG_KEYS = sql(
  'sessions.lock_tag_keys_sealed_with_other',
  `select tenant_id as "tenantId", sealed_key as blob, master_key_id as "masterKeyId"
   from session_tag_keys where master_key_id <> $1 and tenant_id > $3 order by tenant_id limit $2 for update skip locked`,
)
const RESEAL_SESSION = sql(
  'sessions.reseal',
  `update session_secrets set sealed_key = $4, master_key_id = $5, request = coalesce($6, request)
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

type Found = Omit<SealedKeyRow, 'session'>
type FoundSession = Found & Omit<SealedSession, 'area'> & { area: 'C' | 'D' }

export const sealedKeyStore = {
  countByMasterKey: (db: Queryable): Promise<{ masterKeyId: string; count: number }[]> => db.rows(COUNT),
  /** The next sessions after this one, and whether another master key sealed them. */
  walk: (db: Queryable, after: SessionPlace, limit: number, currentKeyId: string): Promise<WalkedSession[]> =>
    db.rows<WalkedSession>(WALK, [after.tenantId, after.createdAt, after.sessionId, limit, currentKeyId]),
  async lockSessions(tx: Queryable, places: readonly SessionPlace[], currentKeyId: string): Promise<SealedKeyRow[]> {
    const times = places.map(({ createdAt }) => createdAt.getTime())
    const found = await tx.rows<FoundSession>(LOCK_SESSIONS, [
      currentKeyId,
      places.map(({ tenantId }) => tenantId),
      places.map(({ createdAt }) => createdAt.toISOString()),
      places.map(({ sessionId }) => sessionId),
      new Date(Math.min(...times)),
      new Date(Math.max(...times)),
    ])
    return found.map(({ createdAt, sessionId, livemode, area: letter, request, ...row }) => {
      const area = letter === AREA_LETTERS.age ? 'age' : 'verification'
      return { ...row, session: { createdAt, sessionId, livemode, area, request } }
    })
  },
  /** In the order of tenants, after this one. */
  async lockTagKeys(
    tx: Queryable,
    { after, limit, currentKeyId }: { after: string; limit: number; currentKeyId: string },
  ): Promise<SealedKeyRow[]> {
    const found = await tx.rows<Found>(LOCK_TAG_KEYS, [currentKeyId, limit, after])
    return found.map((row) => ({ ...row, session: null }))
  },
  reseal(
    tx: Queryable,
    { tenantId, session }: SealedKeyRow,
    sealed: { blob: Buffer; masterKeyId: string; request?: Buffer | undefined },
  ): Promise<number> {
    const { blob, masterKeyId, request = null } = sealed
    return session
      ? tx.run(RESEAL_SESSION, [tenantId, session.createdAt, session.sessionId, blob, masterKeyId, request])
      : tx.run(RESEAL_TAG_KEY, [tenantId, sealed.blob, sealed.masterKeyId])
  },
}
