import type { Db } from '../platform/db.ts'
import { dayOf } from './local-keys.ts'
import { verificationStore } from './store.ts'

const UNUSED_DAYS = 400
const DAY_MS = 86_400_000
const PURGE_BATCH = 2_000

/** Keys that no browser has shown for more than a year: their tokens are gone, or nobody comes back. */
export function purgeLocalKeys(db: Db, now: Date): Promise<number> {
  const unusedSince = dayOf(new Date(now.getTime() - UNUSED_DAYS * DAY_MS))
  return inBatches(() => verificationStore.purgeLocalKeys(db, unusedSince, PURGE_BATCH))
}

/** Failures that count no more. */
export function purgeLockouts(db: Db, now: Date): Promise<number> {
  return inBatches(() => verificationStore.purgeLockouts(db, now, PURGE_BATCH))
}

async function inBatches(purge: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const purged = await purge()
    total += purged
    if (purged < PURGE_BATCH) return total
  }
}
