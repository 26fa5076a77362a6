import { DAY_MS } from '../platform/clock.ts'
import { purging } from '../platform/purge-in-batches.ts'
import { dayOf } from './local-keys.ts'
import { verificationStore } from './store.ts'

const UNUSED_DAYS = 400
/** At most: the day of the last use counts, and may begin earlier where the database is. */
export const LOCAL_KEYS_KEPT_MS = (UNUSED_DAYS + 2) * DAY_MS
/** Deletes keys that no browser has used for more than a year: the browser has lost the token, or the person does not come back. */
export const purgeLocalKeys = purging((db, now, limit) =>
  verificationStore.purgeLocalKeys(db, dayOf(new Date(now.getTime() - UNUSED_DAYS * DAY_MS)), limit),
)

/** Deletes failures that do not count any more. */
export const purgeLockouts = purging(verificationStore.purgeLockouts)
