import { purging } from '../platform/purge-in-batches.ts'
import { faceStore } from './store.ts'

// Processes of the release before compare all numbers when they have not followed for so long.
export const DELETIONS_KEPT_MS = 15 * 60_000
/** Deletes the notes of deletions that processes of the release before need. */
export const purgeDeletions = purging(
  (db, now, limit) => faceStore.purgeDeletions(db, new Date(now.getTime() - DELETIONS_KEPT_MS), limit),
  1_000,
)
