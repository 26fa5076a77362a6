import type { Cells } from '../platform/cells.ts'
import type { Queryable } from '../platform/db.ts'
import type { KeyRing } from '../platform/key-ring.ts'
import type { KeyVault, Sealed } from '../platform/key-vault.ts'
import { tagKeyContextOf } from './sealing.ts'
import { type SealedKeyRow, sealedKeyStore } from './sealed-key-store.ts'

const BATCH = 500

/** The keys of sessions and of metadata tags, when the master key changes. */
export function createSessionSecrets({ cells, vault, ring }: { cells: Cells; vault: KeyVault; ring: KeyRing }) {
  async function resealBatch(tx: Queryable): Promise<number> {
    const rows = await sealedKeyStore.lockSealedWithOther(tx, vault.currentKeyId, BATCH)
    for (const row of rows) {
      await sealedKeyStore.reseal(tx, row, row.session ? await ring.reseal(row) : await resealTagKey(row))
    }
    return rows.length
  }

  async function resealTagKey(row: SealedKeyRow): Promise<Sealed> {
    const context = tagKeyContextOf(row.tenantId)
    return vault.seal(await vault.open(row, context), context)
  }

  return {
    /** Seals with the current master key what an older one sealed. Safe to interrupt and to run twice. */
    async reseal(): Promise<number> {
      let done = 0
      for (const { db } of cells.all()) {
        for (let moved = BATCH; moved === BATCH; done += moved) moved = await db.transaction(resealBatch)
      }
      return done
    },

    async countByMasterKey(): Promise<Map<string, number>> {
      const counts = new Map<string, number>()
      for (const { db } of cells.all()) {
        for (const { masterKeyId, count } of await sealedKeyStore.countByMasterKey(db)) {
          counts.set(masterKeyId, (counts.get(masterKeyId) ?? 0) + count)
        }
      }
      return counts
    },
  }
}
export type SessionSecrets = ReturnType<typeof createSessionSecrets>
