import assert from 'node:assert/strict'
import { test } from 'node:test'
import { distance, goldenOf, testInput } from './golden.ts'

test('an output is as far from its golden numbers as its worst number, by the size of the output', () => {
  const golden = goldenOf([3, -3, 3, -3])
  assert.equal(golden.rms, 3)
  assert.equal(distance(golden, golden), 0)
  assert.ok(Math.abs(distance(goldenOf([3, -3, 3, -2.7]), golden) - 0.1) < 1e-6)
})

test('an output of another length, or one that is no number, is as far as can be', () => {
  const golden = goldenOf([1, 2])
  assert.equal(distance(goldenOf([1]), golden), Number.POSITIVE_INFINITY)
  assert.ok(!(distance(goldenOf([1, Number.NaN]), golden) < 1))
})

test('a number between the samples still shows in the sums', () => {
  const numbers = Array.from({ length: 1000 }, () => 1)
  const golden = goldenOf(numbers)
  numbers[7] = 500
  assert.ok(distance(goldenOf(numbers), golden) > 0.4)
})

test('the made-up picture is the same for both layouts, and prepared as the net wants it', () => {
  const preprocess = { crop: '', channels: 'BGR', mean: [10, 20, 30], scale: 0.5 } as const
  const rows = testInput({ input: { name: 'input', layout: 'NHWC', dims: [4, 5, 3] }, preprocess })
  const planes = testInput({ input: { name: 'input', layout: 'NCHW', dims: [3, 4, 5] }, preprocess })
  assert.deepEqual(planes.dims, [1, 3, 4, 5])
  for (let pixel = 0; pixel < 20; pixel++)
    for (let channel = 0; channel < 3; channel++)
      assert.equal(rows.data[pixel * 3 + channel], planes.data[channel * 20 + pixel])
  const plain = { ...preprocess, mean: [0], scale: 1 }
  const raw = testInput({ input: { name: 'input', layout: 'NHWC', dims: [4, 5, 3] }, preprocess: plain })
  assert.equal(rows.data[4], ((raw.data[4] ?? 0) - 20) * 0.5)
})
