import { resealKeys } from './keys.ts'
import type { Db } from './platform/db.ts'
import type { KeyVault } from './platform/key-vault.ts'
import { resealShare } from './shares/sealing.ts'
import { shareStore } from './shares/store.ts'

const BATCH = 100

/**
 * Seals with the first master key what another one sealed. Safe to interrupt, to run twice, and to run while the service serves. Rows
 * that no configured key opens are counted and left.
 */
export async function reseal(db: Db, vault: KeyVault): Promise<{ resealed: number; unreadable: number }> {
  let resealed = await resealKeys(db, vault)
  let unreadable = 0
  let after = { realm: '', tokenId: '' }
  for (;;) {
    const rows = await shareStore.listSealedByOthers(db, vault.currentKeyId, { after, limit: BATCH })
    for (const row of rows) {
      const sealed = tryTo(() => resealShare(vault, row, row))
      if (sealed) resealed += await shareStore.replaceSealed(db, row, sealed)
      else unreadable++
      after = row
    }
    if (rows.length < BATCH) return { resealed, unreadable }
  }
}

function tryTo<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
