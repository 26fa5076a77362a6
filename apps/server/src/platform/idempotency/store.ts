import { type Queryable, sql } from '../db.ts'

export interface IdempotencyClaim {
  tenantId: string
  keyHash: Buffer
  fingerprint: Buffer
  resourceId: string
  now: Date
  expiresAt: Date
}

export interface EarlierUse {
  fingerprint: Buffer
  resourceId: string
}

// A row of the last 24 hours makes the insert do nothing; an older one that the purge has not reached is taken over.
// While another transaction holds the same key, this waits for its end.
const CLAIM = sql(
  'idempotency.claim',
  `insert into idempotency_keys as k (tenant_id, key_hash, fingerprint, resource_id, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (tenant_id, key_hash) do update
     set fingerprint = excluded.fingerprint, resource_id = excluded.resource_id,
         created_at = excluded.created_at, expires_at = excluded.expires_at, replays = 0
     where k.expires_at <= $5
   returning true as claimed`,
)

// An update, not a select: a transaction that writes waits for the replica, so a repeated call is never answered
// from a row that could still be lost in a failover.
const REUSE = sql(
  'idempotency.reuse',
  `update idempotency_keys set replays = replays + 1
   where tenant_id = $1 and key_hash = $2
   returning fingerprint, resource_id as "resourceId"`,
)

const PURGE = sql(
  'idempotency.purge',
  `delete from idempotency_keys where (tenant_id, key_hash) in (
     select tenant_id, key_hash from idempotency_keys where expires_at <= $1
     order by expires_at limit $2 for update skip locked)`,
)

/** Claims the key for a new resource, or returns the resource that already has it. */
export async function claim(tx: Queryable, use: IdempotencyClaim): Promise<EarlierUse | undefined> {
  const claimed = await tx.rows(CLAIM, [
    use.tenantId,
    use.keyHash,
    use.fingerprint,
    use.resourceId,
    use.now,
    use.expiresAt,
  ])
  if (claimed.length > 0) return undefined
  const [earlier] = await tx.rows<{ fingerprint: Buffer; resourceId: string }>(REUSE, [use.tenantId, use.keyHash])
  return earlier
}

export function purge(db: Queryable, now: Date, limit: number): Promise<number> {
  return db.run(PURGE, [now, limit])
}
