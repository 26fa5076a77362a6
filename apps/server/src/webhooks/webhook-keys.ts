import type { WebhookKeyRecord, WebhookKeySet } from '@ostiary/contract'
import { createFactsCache, DEFAULT_OVERLAP_DAYS } from '../keys/index.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import { DAY_MS } from '../platform/clock.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { bucketOf, isId } from '../platform/ids.ts'
import type { OnUnreadable } from '../platform/key-vault.ts'
import type { Platform } from '../platform/platform.ts'
import { countByMasterKey } from '../platform/reseal.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { type KeyPair, newKeyPair, openKeyPair } from './key-pair.ts'
import { type SealedWebhookKey, type WebhookKeyRow, webhookKeyStore } from './webhook-key-store.ts'

type Deps = Pick<Platform, 'cells' | 'clock' | 'vault' | 'log'>

const MAX_OPEN = 4_000
const OVERLAP_DAYS_MAX = 90

/** Key pairs that sign webhooks beside the API key. A tenant has them, for each mode, from the first `create` on. */
export function createWebhookKeys({ cells, clock, vault, log }: Deps) {
  const opened = new BoundedMap<string, KeyPair>(MAX_OPEN)
  /** Rows that could not be opened. Each is logged once, not with every webhook. */
  const unreadable = new BoundedMap<string, true>(MAX_OPEN)
  // At most five seconds old, as with API keys: a retired key stops signing everywhere within this time.
  const cache = createFactsCache<readonly SealedWebhookKey[]>({
    cells,
    clock,
    log,
    async find(db, tenantIds) {
      const found = Map.groupBy(await webhookKeyStore.listSealed(db, tenantIds), ({ tenantId }) => tenantId)
      // Most tenants have none. They have an entry too, so that they are refreshed with the others.
      return new Map(tenantIds.map((tenantId) => [tenantId, found.get(tenantId) ?? []]))
    },
  })

  async function open(row: SealedWebhookKey): Promise<KeyPair | undefined> {
    const name = contextOf(row)
    const known = opened.touch(name)
    if (known) return known
    try {
      const pair = openKeyPair(await vault.open(row, name))
      opened.set(name, pair)
      return pair
    } catch (err) {
      const { tenantId, livemode, kid: keyId } = row
      if (!unreadable.has(name)) log.error({ err, tenantId, livemode, keyId }, 'a webhook key cannot be opened')
      unreadable.set(name, true)
      return undefined
    }
  }

  /** The usable pairs of a tenant and mode, the newest first. Rows that cannot be opened are left out. */
  async function openAll(rows: readonly SealedWebhookKey[]): Promise<readonly KeyPair[]> {
    return (await Promise.all(rows.map(open))).filter((pair) => pair !== undefined)
  }

  function usable(rows: readonly SealedWebhookKey[], livemode: boolean): readonly SealedWebhookKey[] {
    const now = clock.now()
    const isUsable = (row: WebhookKeyRow) => row.livemode === livemode && (row.endsAt === null || now < row.endsAt)
    return rows.some(isUsable) ? rows.filter(isUsable) : NONE
  }

  async function openForSigning(rows: readonly SealedWebhookKey[]): Promise<readonly KeyPair[]> {
    const pairs = await openAll(rows)
    // The host may demand this signature. Nothing is sent without it: the delivery waits until the key opens or is retired.
    if (pairs.length === 0 && rows.length > 0) throw new Error('No webhook key can be opened')
    return pairs
  }

  async function insert(db: Parameters<typeof webhookKeyStore.insert>[0], owner: TenantData): Promise<WebhookKeyRow> {
    const pair = newKeyPair()
    const row = { ...owner, kid: pair.publicKey.kid, createdAt: clock.now(), endsAt: null }
    if (!(await webhookKeyStore.insert(db, row, await vault.seal(pair.exportSecret(), contextOf(row)))))
      throw invalid('/mode', 'has a key pair already: rotate it')
    return row
  }

  return {
    start: cache.start,
    stop: cache.stop,

    /** The pairs that sign a tenant's webhooks now. */
    async pairsOf({ tenantId, livemode }: TenantData): Promise<readonly KeyPair[]> {
      const known = cache.peek(tenantId)
      const rows = known ? known.facts : await cache.load(tenantId, bucketOf(tenantId))
      return openForSigning(usable(rows ?? NONE, livemode))
    },

    /** The public halves of the pairs that sign now; undefined when there are none. An unknown tenant looks the same. */
    async findKeySet({ tenantId, livemode }: TenantData): Promise<WebhookKeySet | undefined> {
      if (!isId(tenantId)) return undefined
      const rows = await webhookKeyStore.listSealed(cells.forId(tenantId), [tenantId])
      const pairs = await openAll(usable(rows, livemode))
      return pairs.length === 0 ? undefined : { keys: pairs.map(({ publicKey }) => publicKey) }
    },

    /** The first pair of a tenant and mode: from now on its webhooks have this signature too. */
    async create(owner: TenantData): Promise<WebhookKeyRecord> {
      return toRecord(await insert(cells.forId(owner.tenantId), owner), clock.now())
    },

    /** A new pair signs beside the old one until the overlap ends, and alone afterwards. */
    async rotate(
      owner: TenantData,
      overlapDays = DEFAULT_OVERLAP_DAYS,
    ): Promise<{ created: WebhookKeyRecord; endsAt: Date }> {
      if (!(overlapDays >= 0 && overlapDays <= OVERLAP_DAYS_MAX)) throw invalid('/overlap', 'must be 0 to 90 days')
      return cells.forId(owner.tenantId).transaction(async (tx) => {
        const endsAt = new Date(clock.now().getTime() + overlapDays * DAY_MS)
        if ((await webhookKeyStore.endCurrent(tx, owner, endsAt)) === 0) throw unknownKey()
        return { created: toRecord(await insert(tx, owner), clock.now()), endsAt }
      })
    },

    async list(tenantId: string): Promise<WebhookKeyRecord[]> {
      const rows = await webhookKeyStore.list(cells.forId(tenantId), tenantId)
      return rows.map((row) => toRecord(row, clock.now()))
    },

    /** Ends a pair at once and erases its private half. Retiring again changes nothing. */
    async retire(tenantId: string, kid: string): Promise<WebhookKeyRecord> {
      const row = await webhookKeyStore.retire(cells.forId(tenantId), tenantId, kid, clock.now())
      if (!row) throw unknownKey()
      return toRecord(row, clock.now())
    },

    /** Seals with the current master key what an older one sealed. Safe to interrupt and to run twice. */
    async reseal(onUnreadable: OnUnreadable = () => {}): Promise<number> {
      let done = 0
      for (const { db } of cells.all()) {
        done += await db.transaction(async (tx) => {
          let resealed = 0
          for (const row of await webhookKeyStore.lockSealedWithOther(tx, vault.currentKeyId)) {
            const secret = await vault.open(row, contextOf(row)).catch(() => undefined)
            if (!secret) onUnreadable(`webhook_keys ${row.kid}`)
            else resealed += await webhookKeyStore.reseal(tx, row, await vault.seal(secret, contextOf(row)))
          }
          return resealed
        })
      }
      return done
    },

    countByMasterKey: () => countByMasterKey(cells, webhookKeyStore.countByMasterKey),
  }
}
export type WebhookKeys = ReturnType<typeof createWebhookKeys>

const NONE: readonly SealedWebhookKey[] = []

/** Binds a private half to its row: in another tenant's, mode's or key's row it does not open. */
function contextOf({ tenantId, livemode, kid }: Pick<WebhookKeyRow, 'tenantId' | 'livemode' | 'kid'>): string {
  return `webhook_keys/${tenantId}/${livemode ? 'live' : 'test'}/${kid}`
}

function toRecord({ tenantId, livemode, kid, createdAt, endsAt }: WebhookKeyRow, now: Date): WebhookKeyRecord {
  return {
    kid,
    tenant_id: tenantId,
    livemode,
    status: endsAt === null ? 'current' : now < endsAt ? 'ending' : 'retired',
    when_created: createdAt.toISOString(),
    ...(endsAt && { ends_at: endsAt.toISOString() }),
  }
}

function unknownKey(): AppError {
  return new AppError('not_found', 'NOT_FOUND', 'There is no such webhook key')
}
