import assert from 'node:assert/strict'
import { test } from 'node:test'
import { purgeInBatches } from './purge-in-batches.ts'

test('batches run until one is not full, and their sum is returned', async () => {
  let rows = 25
  const sizes: number[] = []
  const total = await purgeInBatches(10, async (batchSize) => {
    const purged = Math.min(rows, batchSize)
    rows -= purged
    sizes.push(purged)
    return purged
  })
  assert.equal(total, 25)
  assert.deepEqual(sizes, [10, 10, 5])
})

test('a full last batch is followed by an empty one, and an error ends the run', async () => {
  const sizes = [10, 0]
  assert.equal(await purgeInBatches(10, async () => sizes.shift() ?? 99), 10)
  await assert.rejects(
    purgeInBatches(10, async () => {
      throw new Error('away')
    }),
    /away/,
  )
})
