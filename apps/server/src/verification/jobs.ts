import { DAY_MS } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { purgeInBatches } from '../platform/purge-in-batches.ts'
import { dayOf } from './local-keys.ts'
import { verificationStore } from './store.ts'

const UNUSED_DAYS = 400
const PURGE_BATCH = 2_000

/** Deletes keys that no browser has used for more than a year: the browser has lost the token, or the person does not come back. */
export function purgeLocalKeys(db: Db, now: Date): Promise<number> {
  const unusedSince = dayOf(new Date(now.getTime() - UNUSED_DAYS * DAY_MS))
  return purgeInBatches(PURGE_BATCH, (limit) => verificationStore.purgeLocalKeys(db, unusedSince, limit))
}

/** Deletes failures that do not count any more. */
export function purgeLockouts(db: Db, now: Date): Promise<number> {
  return purgeInBatches(PURGE_BATCH, (limit) => verificationStore.purgeLockouts(db, now, limit))
}
