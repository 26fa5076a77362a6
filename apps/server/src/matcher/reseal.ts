import type { Cells } from '../platform/cells.ts'
import type { Queryable } from '../platform/db.ts'
import type { KeyVault, OnUnreadable } from '../platform/key-vault.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { placeOf } from './place.ts'
import { tokenStore } from './store.ts'
import { openParts, sealParts } from './token-row.ts'

const BATCH = 200
type Place = TenantData & { tokenId: Buffer }
const BEFORE_ALL: Place = {
  tenantId: '00000000-0000-0000-0000-000000000000',
  livemode: false,
  tokenId: Buffer.alloc(16),
}

/** The rows of tokens that the master key has sealed. Probes are not among them: they are deleted within the hour. */
export function createTokenSecrets({ cells, vault }: { cells: Cells; vault: KeyVault }) {
  async function resealBatch(tx: Queryable, after: Place, onUnreadable: OnUnreadable) {
    const batch = await tokenStore.lockSealedWithOther(tx, { masterKeyId: vault.currentKeyId, after, limit: BATCH })
    let resealed = 0
    for (const row of batch) {
      const place = placeOf(row, row)
      const parts = await openParts(vault, place, row).catch(() => undefined)
      if (parts) resealed += await tokenStore.reseal(tx, row, row.tokenId, await sealParts(vault, place, parts))
      else onUnreadable(`face_tokens ${place.tenantId}/${place.tokenId}`)
    }
    return { resealed, last: batch.at(-1) }
  }

  return {
    /** Reseals with the current master key what an older one sealed. Safe to interrupt and to run twice. */
    async reseal(onUnreadable: OnUnreadable = () => {}): Promise<number> {
      let done = 0
      for (const { db } of cells.all()) {
        for (let after: Place | undefined = BEFORE_ALL; after; ) {
          const place: Place = after
          const { resealed, last } = await db.transaction((tx) => resealBatch(tx, place, onUnreadable))
          done += resealed
          after = last
        }
      }
      return done
    },

    async countByMasterKey(): Promise<Map<string, number>> {
      const counts = new Map<string, number>()
      for (const { db } of cells.all()) {
        for (const { masterKeyId, count } of await tokenStore.countByMasterKey(db)) {
          counts.set(masterKeyId, (counts.get(masterKeyId) ?? 0) + count)
        }
      }
      return counts
    },
  }
}
