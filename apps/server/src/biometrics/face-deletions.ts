import type { Db } from '../platform/db.ts'
import { purgeInBatches } from '../platform/purge-in-batches.ts'
import { faceStore } from './store.ts'

// Processes of the release before compare all numbers when they have not followed for so long.
const KEPT_MS = 15 * 60_000
const PURGE_BATCH = 1_000

/** Deletes the notes of deletions that processes of the release before need. */
export function purgeDeletions(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - KEPT_MS)
  return purgeInBatches(PURGE_BATCH, (limit) => faceStore.purgeDeletions(db, before, limit))
}
