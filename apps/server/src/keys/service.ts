import { hash } from 'node:crypto'
import type { ApiKeyRecord } from '@ostiary/contract'
import { formatApiKey, maskApiKey, parseApiKey } from '@ostiary/crypto'
import { DAY_MS } from '../platform/clock.ts'
import { AppError, invalid } from '../platform/errors.ts'
import type { FailureLimits } from '../platform/failure-limits/index.ts'
import { bucketOf, isId } from '../platform/ids.ts'
import type { OnUnreadable } from '../platform/key-vault.ts'
import type { Metrics } from '../platform/metrics.ts'
import { networksOf } from '../platform/networks.ts'
import type { Platform } from '../platform/platform.ts'
import { countByMasterKey, resealAll } from '../platform/reseal.ts'
import type { KeyCache } from './cache.ts'
import {
  acceptKey,
  type Caller,
  checkNewKey,
  DEFAULT_OVERLAP_DAYS,
  isActive,
  type KeyFacts,
  type KeyUse,
  type NewKey,
} from './key.ts'
import { chooseSigningKeys, type SignedSession, type SigningKeyCache } from './signing-keys.ts'
import { type KeyRow, keyStore, type TenantRow } from './store.ts'

const RESEAL_BATCH = 200
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

interface Deps extends Pick<Platform, 'cells' | 'clock' | 'ids' | 'vault'> {
  cache: KeyCache
  signingKeys: SigningKeyCache
  failureLimits: FailureLimits
  metrics: Metrics
}

export function createKeyService({ cells, clock, ids, vault, cache, signingKeys, failureLimits, metrics }: Deps) {
  const sealContext = (tenantId: string, id: string) => `api_keys/${tenantId}/${id}`

  function decide(facts: KeyFacts | undefined, use: KeyUse, source: 'cached' | 'loaded'): Caller {
    metrics.keyChecks.count(facts ? source : 'rejected')
    if (!facts) throw new AppError('unauthenticated', 'INVALID_API_KEY', 'Invalid API key')
    return acceptKey(facts, use, clock.now())
  }

  function refuseGuessing(retryAfterSeconds: number): void {
    if (retryAfterSeconds === 0) return
    metrics.keyChecks.count('refused')
    throw new AppError('rate_limited', 'RATE_LIMITED', 'Too many unknown API keys', { retryAfterSeconds })
  }

  /** Creates and stores a key. Only its answer contains the key in clear. */
  async function insert(
    db: Parameters<typeof keyStore.insertKey>[0],
    tenantId: string,
    wanted: NewKey,
    now: Date,
  ): Promise<{ row: KeyRow; apiKey: string }> {
    const id = ids.next(bucketOf(tenantId))
    const apiKey = formatApiKey({ livemode: wanted.livemode, bucket: bucketOf(tenantId) }, ids.randomBytes(32))
    const lastFour = apiKey.slice(-4)
    const sealed = await vault.seal(Buffer.from(apiKey), sealContext(tenantId, id))
    await keyStore.insertKey(
      db,
      { ...wanted, id, tenantId, lookupHash: Buffer.from(lookupHash(apiKey), 'base64'), lastFour, now },
      sealed,
    )
    return {
      apiKey,
      row: {
        ...wanted,
        id,
        tenantId,
        lastFour,
        status: 'active',
        whenCreated: now,
        lastUpdated: now,
        endsAt: null,
        rotatedTo: null,
      },
    }
  }

  return {
    /** Finds the caller with this key and checks that it may be used here; throws when not. */
    async check(presented: string, use: KeyUse): Promise<Caller> {
      const hashed = lookupHash(presented)
      const known = cache.peek(hashed)
      if (known) return decide(known.facts, use, 'cached')
      // The checksum keeps mistyped keys away from the database, and the limit keeps away callers that invent whole keys.
      const parts = parseApiKey(presented)
      if (!parts) return decide(undefined, use, 'cached')
      // A key that was found before is no guess: somebody in the same /48 must not be able to lock out its holder.
      if (!cache.wasFound(hashed)) refuseGuessing(failureLimits.wait(guessOf(use.address)))
      const facts = await cache.load(hashed, parts.bucket)
      if (!facts) refuseGuessing(await failureLimits.count(guessOf(use.address)))
      return decide(facts, use, 'loaded')
    },

    async createTenant(name: string, bucket = ids.randomBucket()): Promise<TenantRow> {
      if (name.length === 0 || name.length > 100) throw invalid('/name', 'must have 1 to 100 characters')
      const tenant = { tenantId: ids.next(bucket), name, status: 'active' as const, createdAt: clock.now() }
      await keyStore.insertTenant(cells.forId(tenant.tenantId), tenant)
      return tenant
    },

    async listTenants(): Promise<TenantRow[]> {
      return (await Promise.all(cells.all().map(({ db }) => keyStore.listTenants(db)))).flat()
    },

    async setTenantStatus(tenantId: string, status: TenantRow['status']): Promise<void> {
      const changed = isId(tenantId) ? await keyStore.setTenantStatus(cells.forId(tenantId), tenantId, status) : 0
      if (changed === 0) throw unknownTenant()
    },

    async createKey(tenantId: string, wanted: NewKey): Promise<ApiKeyRecord> {
      checkNewKey(wanted)
      const db = isId(tenantId) ? cells.forId(tenantId) : undefined
      if (!db || !(await keyStore.findTenant(db, tenantId))) throw unknownTenant()
      const { row, apiKey } = await insert(db, tenantId, wanted, clock.now())
      return toRecord(row, clock.now(), apiKey)
    },

    async listKeys(tenantId: string): Promise<ApiKeyRecord[]> {
      const rows = isId(tenantId) ? await keyStore.listKeys(cells.forId(tenantId), tenantId) : []
      return rows.map((row) => toRecord(row, clock.now()))
    },

    /** Creates a successor with the same rights. The old key keeps working until the overlap ends. */
    async rotateKey(
      id: string,
      overlapDays = DEFAULT_OVERLAP_DAYS,
    ): Promise<{ created: ApiKeyRecord; ending: ApiKeyRecord }> {
      if (!(overlapDays >= 0 && overlapDays <= 90)) throw invalid('/overlap', 'must be 0 to 90 days')
      if (!isId(id)) throw unknownKey()
      return cells.forId(id).transaction(async (tx) => {
        const now = clock.now()
        const old = await keyStore.lockKey(tx, id)
        if (!old) throw unknownKey()
        if (!isActive(old, now) || old.rotatedTo) {
          throw new AppError('conflict', 'KEY_INACTIVE', 'Only an active key that was not rotated yet can be rotated')
        }
        const { row, apiKey } = await insert(tx, old.tenantId, old, now)
        const endsAt = new Date(now.getTime() + overlapDays * DAY_MS)
        await keyStore.endKey(tx, id, endsAt, row.id, now)
        return {
          created: toRecord(row, now, apiKey),
          ending: toRecord({ ...old, endsAt, rotatedTo: row.id, lastUpdated: now }, now),
        }
      })
    },

    /** Revoking again changes nothing. */
    async revokeKey(id: string): Promise<ApiKeyRecord> {
      if (!isId(id)) throw unknownKey()
      return cells.forId(id).transaction(async (tx) => {
        const found = await keyStore.lockKey(tx, id)
        if (!found) throw unknownKey()
        if (found.status === 'revoked') return toRecord(found, clock.now())
        await keyStore.revokeKey(tx, id, clock.now())
        return toRecord({ ...found, status: 'revoked', lastUpdated: clock.now() }, clock.now())
      })
    },

    /** The keys that sign a session's webhook now, see `chooseSigningKeys`. */
    async signingKeysOf(session: SignedSession): Promise<SigningKeyIds> {
      const known = signingKeys.peek(session.tenantId)
      const facts = known ? known.facts : await signingKeys.load(session.tenantId, bucketOf(session.tenantId))
      return chooseSigningKeys(facts ?? [], session, clock.now())
    },

    /** The key in clear, for computations with it: webhook signatures and the encryption of area E. */
    async openKey(tenantId: string, id: string): Promise<string> {
      const sealed = await keyStore.findSealed(cells.forId(tenantId), tenantId, id)
      if (!sealed) throw unknownKey()
      return (await vault.open(sealed, sealContext(tenantId, id))).toString()
    },

    reseal: (onProgress: (done: number) => void, onUnreadable: OnUnreadable = () => {}): Promise<number> =>
      resealAll(
        cells,
        {
          first: { id: BEFORE_ALL },
          lock: (tx, { id: after }) =>
            keyStore.lockSealedWithOther(tx, { masterKeyId: vault.currentKeyId, after, limit: RESEAL_BATCH }),
          open: (row) => vault.open(row, sealContext(row.tenantId, row.id)),
          save: async (tx, { tenantId, id }, key) =>
            keyStore.reseal(tx, id, await vault.seal(key, sealContext(tenantId, id))),
          nameOf: ({ id }) => `api_keys ${id}`,
        },
        { onUnreadable, onProgress },
      ),
    countByMasterKey: () => countByMasterKey(cells, keyStore.countByMasterKey),
  }
}
type SigningKeyIds = ReturnType<typeof chooseSigningKeys>
export type KeyService = ReturnType<typeof createKeyService>

const guessOf = (address: string) => ({ limit: 'unknown-keys', against: networksOf(address) }) as const

function lookupHash(apiKey: string): string {
  // A fast hash is enough: the key has 256 random bits and cannot be guessed.
  return hash('sha256', apiKey, 'base64')
}

function toRecord(row: KeyRow, now: Date, apiKey?: string): ApiKeyRecord {
  return {
    id: row.id,
    api_key: apiKey ?? maskApiKey(row.livemode ? 'ost_live_' : 'ost_test_', row.lastFour),
    ...(row.customerId != null && { customer_id: row.customerId }),
    ...(row.apiId != null && { api_id: row.apiId }),
    ...(row.usagePlanId != null && { usage_plan_id: row.usagePlanId }),
    ...(row.productCode != null && { product_code: row.productCode }),
    status: isActive(row, now) ? 'active' : 'revoked',
    when_created: row.whenCreated.toISOString(),
    last_updated: row.lastUpdated.toISOString(),
    tenant_id: row.tenantId,
    livemode: row.livemode,
    name: row.name,
    scopes: [...row.scopes],
    allowed_ips: [...row.allowedIps],
    ...(row.endsAt && { ends_at: row.endsAt.toISOString() }),
  }
}

function unknownTenant(): AppError {
  return new AppError('not_found', 'NOT_FOUND', 'There is no such tenant')
}

function unknownKey(): AppError {
  return new AppError('not_found', 'NOT_FOUND', 'There is no such key')
}
