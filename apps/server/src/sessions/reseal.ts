import { setTimeout as sleep } from 'node:timers/promises'
import type { Cells } from '../platform/cells.ts'
import type { Db, Queryable } from '../platform/db.ts'
import type { KeyRing } from '../platform/key-ring.ts'
import type { KeyVault, OnUnreadable, Sealed } from '../platform/key-vault.ts'
import { countByMasterKey } from '../platform/reseal.ts'
import {
  type SealedKeyRow,
  type SealedSession,
  type SessionPlace,
  sealedKeyStore,
  type WalkedSession,
} from './sealed-key-store.ts'
import { bindRequest, openPart, readRequest, sealPart, tagKeyContextOf } from './sealing.ts'

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
  /** Returns how many rows were sealed again. A row that cannot be opened is reported and passed over. */
  async function resealRows(
    tx: Queryable,
    rows: readonly SealedKeyRow[],
    onUnreadable: OnUnreadable,
  ): Promise<{ resealed: number; last: SealedKeyRow | undefined }> {
    let resealed = 0
    for (const row of rows) {
      const sealed = await (row.session ? resealSession(row, row.session) : resealTagKey(row)).catch(() => undefined)
      if (sealed) resealed += await sealedKeyStore.reseal(tx, row, sealed)
      else onUnreadable(row.session ? `session_secrets ${row.session.sessionId}` : `session_tag_keys ${row.tenantId}`)
    }
    return { resealed, last: rows.at(-1) }
  }

  /** Skips sessions that another transaction holds. If it skipped any, it looks through all sessions again. */
  async function resealSessions(db: Db, onUnreadable: OnUnreadable): Promise<number> {
    const unreadable = new Set<string>()
    const report: OnUnreadable = (row) => {
      if (!unreadable.has(row)) onUnreadable(row)
      unreadable.add(row)
    }
    let done = 0
    for (let passes = 1; ; passes++) {
      const { resealed, missed } = await resealOnce(db, report)
      done += resealed
      if (missed <= unreadable.size || passes === PASSES_MAX) return done
      await sleep(PAUSE_MS)
    }
  }

  async function resealOnce(db: Db, onUnreadable: OnUnreadable): Promise<{ resealed: number; missed: number }> {
    let [resealed, older] = [0, 0]
    let after: SessionPlace | undefined = BEFORE_ALL
    while (after) {
      const walked: WalkedSession[] = await sealedKeyStore.walk(db, after, WALK_ROWS, vault.currentKeyId)
      const found = walked.filter(({ isOther }) => isOther)
      older += found.length
      for (let at = 0; at < found.length; at += BATCH) {
        const places = found.slice(at, at + BATCH)
        const batch = await db.transaction(async (tx) =>
          resealRows(tx, await sealedKeyStore.lockSessions(tx, places, vault.currentKeyId), onUnreadable),
        )
        resealed += batch.resealed
      }
      after = walked.length === WALK_ROWS ? walked.at(-1) : undefined
    }
    return { resealed, missed: older - resealed }
  }

  async function resealTagKeys(db: Db, onUnreadable: OnUnreadable): Promise<number> {
    const { currentKeyId } = vault
    let done = 0
    for (let after: string | undefined = BEFORE_ALL.tenantId; after !== undefined; ) {
      const place: string = after
      const { resealed, last } = await db.transaction(async (tx) =>
        resealRows(
          tx,
          await sealedKeyStore.lockTagKeys(tx, { after: place, limit: BATCH, currentKeyId }),
          onUnreadable,
        ),
      )
      done += resealed
      after = last?.tenantId
    }
    return done
  }

  /** A session of the last release is bound to its tenant, mode and area on this occasion. */
  async function resealSession(row: SealedKeyRow, session: SealedSession): Promise<Sealed & { request?: Buffer }> {
    const sealed = await ring.reseal(row)
    const { sessionId, request } = session
    if (!request) return sealed
    const dataKey = await ring.open(row)
    const owner = { ...session, tenantId: row.tenantId }
    const read = readRequest(openPart(dataKey, sessionId, 'request', request), owner)
    if (read.isBound) return sealed
    return { ...sealed, request: sealPart(dataKey, sessionId, 'request', bindRequest(read.request, owner)) }
  }

  async function resealTagKey(row: SealedKeyRow): Promise<Sealed> {
    const context = tagKeyContextOf(row.tenantId)
    return vault.seal(await vault.open(row, context), context)
  }

  return {
    /** Seals with the current master key what an older one sealed. Safe to interrupt and to run twice. */
    async reseal(onUnreadable: OnUnreadable = () => {}): Promise<number> {
      let done = 0
      for (const { db } of cells.all())
        done += (await resealSessions(db, onUnreadable)) + (await resealTagKeys(db, onUnreadable))
      return done
    },

    countByMasterKey: () => countByMasterKey(cells, sealedKeyStore.countByMasterKey),
  }
}
