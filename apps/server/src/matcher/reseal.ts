import type { Cells } from '../platform/cells.ts'
import type { KeyVault, OnUnreadable } from '../platform/key-vault.ts'
import { countByMasterKey, resealAll } from '../platform/reseal.ts'
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
  return {
    reseal: (onUnreadable: OnUnreadable): Promise<number> =>
      resealAll(
        cells,
        {
          first: BEFORE_ALL,
          lock: (tx, after) =>
            tokenStore.lockSealedWithOther(tx, { masterKeyId: vault.currentKeyId, after, limit: BATCH }),
          open: (row) => openParts(vault, placeOf(row, row), row),
          save: async (tx, row, parts) =>
            tokenStore.reseal(tx, row, row.tokenId, await sealParts(vault, placeOf(row, row), parts)),
          nameOf: (row) => `face_tokens ${row.tenantId}/${placeOf(row, row).tokenId}`,
        },
        { onUnreadable },
      ),
    countByMasterKey: () => countByMasterKey(cells, tokenStore.countByMasterKey),
  }
}
