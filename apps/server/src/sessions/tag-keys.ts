import type { KeyObject } from 'node:crypto'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Queryable } from '../platform/db.ts'
import type { KeyVault } from '../platform/key-vault.ts'
import { newDataKey, tagKeyContextOf, toDataKey } from './sealing.ts'
import { tagKeyStore } from './tag-key-store.ts'

const MOST_CACHED = 10_000

/** One key for each tenant. It makes the tags of metadata and other hashes that only the tenant's own data can be compared with. */
export function createTagKeys(vault: KeyVault) {
  const cached = new BoundedMap<string, KeyObject>(MOST_CACHED)

  return {
    /** The tenant's key, which the first call inserts. All processes use the same. */
    async find(db: Queryable, tenantId: string): Promise<KeyObject> {
      const known = cached.get(tenantId)
      if (known) return known
      const context = tagKeyContextOf(tenantId)
      const stored = await tagKeyStore.find(db, tenantId)
      if (!stored) await tagKeyStore.insert(db, tenantId, await vault.seal(newDataKey().export(), context))
      // Another process may have inserted one first, so the key is read again.
      const sealed = stored ?? (await tagKeyStore.find(db, tenantId))
      if (!sealed) throw new Error('The tag key was not stored')
      const key = toDataKey(await vault.open(sealed, context))
      // A key that was inserted just now is not cached: the transaction may still be rolled back.
      if (stored) cached.set(tenantId, key)
      return key
    },
  }
}
