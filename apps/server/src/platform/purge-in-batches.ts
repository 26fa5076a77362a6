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
