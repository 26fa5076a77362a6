import { setTimeout as sleep } from 'node:timers/promises'
import type { Cells } from '../platform/cells.ts'
import type { Db, Queryable } from '../platform/db.ts'
import type { KeyRing } from '../platform/key-ring.ts'
import type { KeyVault, Sealed } from '../platform/key-vault.ts'
import { type SealedKeyRow, type SessionPlace, sealedKeyStore, type WalkedSession } from './sealed-key-store.ts'
import { tagKeyContextOf } from './sealing.ts'

const BATCH = 500
const WALK_ROWS = 5_000
const PASSES_MAX = 10
const PAUSE_MS = 500
const BEFORE_ALL: SessionPlace = {
  tenantId: '00000000-0000-0000-0000-000000000000',
  createdAt: new Date(0),
  sessionId: '00000000-0000-0000-0000-000000000000',
}

/** Seals the keys of sessions and of metadata tags again when the master key changes. */
export function createSessionSecrets({ cells, vault, ring }: { cells: Cells; vault: KeyVault; ring: KeyRing }) {
  async function resealRows(tx: Queryable, rows: readonly SealedKeyRow[]): Promise<number> {
    for (const row of rows) {
      await sealedKeyStore.reseal(tx, row, row.session ? await ring.reseal(row) : await resealTagKey(row))
    }
    return rows.length
  }

  /** Skips sessions that another transaction holds. If it skipped any, it looks through all sessions again. */
  async function resealSessions(db: Db): Promise<number> {
    let done = 0
    for (let passes = 1; ; passes++) {
      const { resealed, missed } = await resealOnce(db)
      done += resealed
      if (missed === 0 || passes === PASSES_MAX) return done
      await sleep(PAUSE_MS)
    }
  }

  async function resealOnce(db: Db): Promise<{ resealed: number; missed: number }> {
    let [resealed, older] = [0, 0]
    let after: SessionPlace | undefined = BEFORE_ALL
    while (after) {
      const walked: WalkedSession[] = await sealedKeyStore.walk(db, after, WALK_ROWS, vault.currentKeyId)
      const found = walked.filter(({ isOther }) => isOther)
      older += found.length
      for (let at = 0; at < found.length; at += BATCH) {
        const places = found.slice(at, at + BATCH)
        resealed += await db.transaction(async (tx) =>
          resealRows(tx, await sealedKeyStore.lockSessions(tx, places, vault.currentKeyId)),
        )
      }
      after = walked.length === WALK_ROWS ? walked.at(-1) : undefined
    }
    return { resealed, missed: older - resealed }
  }

  async function resealTagKeys(db: Db): Promise<number> {
    let done = 0
    for (let moved = BATCH; moved === BATCH; done += moved) {
      moved = await db.transaction(async (tx) =>
        resealRows(tx, await sealedKeyStore.lockTagKeys(tx, vault.currentKeyId, BATCH)),
      )
    }
    return done
  }

  async function resealTagKey(row: SealedKeyRow): Promise<Sealed> {
    const context = tagKeyContextOf(row.tenantId)
    return vault.seal(await vault.open(row, context), context)
  }

  return {
    /** Seals with the current master key what an older one sealed. Safe to interrupt and to run twice. */
    async reseal(): Promise<number> {
      let done = 0
      for (const { db } of cells.all()) done += (await resealSessions(db)) + (await resealTagKeys(db))
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
