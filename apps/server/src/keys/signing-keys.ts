import type { Scope, SessionArea } from '@ostiary/contract'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { createFactsCache, type FactsCache } from './cache.ts'
import { hasScope, isActive, type SigningKeyFacts } from './key.ts'
import { keyStore } from './store.ts'

/** The session that a webhook is about: whose it is, and the key that created it. */
export interface SignedSession extends TenantData {
  keyId: string
  area: SessionArea
}

const CREATES: Readonly<Record<SessionArea, Scope>> = { age: 'age:write', verification: 'verify:write' }

/**
 * The ids of the keys that sign a session's webhook, the most important one first; undefined when the session's key is not stored.
 *
 * The key that created the session signs while it is active, and during the overlap of a rotation its successor signs too. A key that
 * is revoked, or whose overlap is over, signs nothing: otherwise its thief could forge what the host must still believe. The
 * newest active key of the same mode that could have created the session signs instead. `keys` are newest first.
 */
export function chooseSigningKeys(
  keys: readonly SigningKeyFacts[],
  { keyId, livemode, area }: Omit<SignedSession, 'tenantId'>,
  now: Date,
): readonly string[] | undefined {
  const own = keys.find((key) => key.keyId === keyId)
  if (!own) return undefined
  const usable = keys.filter((key) => key.livemode === livemode && isActive(key, now))
  if (usable.includes(own)) {
    const successor = usable.find((key) => key.keyId === own.rotatedTo)
    return successor ? [own.keyId, successor.keyId] : [own.keyId]
  }
  const other = usable.find(({ scopes }) => hasScope(scopes, CREATES[area]))
  return other ? [other.keyId] : []
}

export type SigningKeyCache = FactsCache<readonly SigningKeyFacts[]>

/** The keys of tenants whose webhooks are being sent, at most five seconds old: a revocation takes effect here as fast as everywhere. */
export function createSigningKeyCache(cells: Cells, clock: Clock, log: Log): SigningKeyCache {
  return createFactsCache<readonly SigningKeyFacts[]>({
    cells,
    clock,
    log,
    async find(db, tenantIds) {
      const found = Map.groupBy(await keyStore.listForSigning(db, tenantIds), ({ tenantId }) => tenantId)
      // A tenant without keys has an entry too, so that it is refreshed with the others.
      return new Map(tenantIds.map((tenantId) => [tenantId, found.get(tenantId) ?? []]))
    },
  })
}
