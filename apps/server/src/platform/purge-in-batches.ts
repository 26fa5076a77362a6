import type { Db } from './db.ts'

/**
 * Deletes in batches, so that no statement runs long. `purge` deletes at most `batchSize` rows and returns how many; a batch that is not
 * full is the last. Returns the sum.
 */
export async function purgeInBatches(
  batchSize: number,
  purge: (batchSize: number) => Promise<number>,
): Promise<number> {
  let total = 0
  for (;;) {
    const purged = await purge(batchSize)
    total += purged
    if (purged < batchSize) return total
  }
}

/** A job that deletes in batches what is due at a moment. */
export const purging =
  (purge: (db: Db, now: Date, batchSize: number) => Promise<number>, batchSize = 2_000) =>
  (db: Db, now: Date): Promise<number> =>
    purgeInBatches(batchSize, (limit) => purge(db, now, limit))
