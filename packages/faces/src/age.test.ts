import assert from 'node:assert/strict'
import { test } from 'node:test'
import { combineAges, deepInput, faInput, readDeep, readFa } from './age.ts'
import { ALIGNED } from './embed.ts'

const FIVE = ALIGNED.map(({ x, y }) => ({ x: x * 2 + 50, y: y * 2 + 30 }))

function mesh(): Float32Array {
  const points = new Float32Array(468 * 3)
  for (const [n, indices] of [[33, 133, 159, 145], [362, 263, 386, 374], [1], [61], [291]].entries())
    for (const index of indices) points.set([FIVE[n]?.x ?? 0, FIVE[n]?.y ?? 0, 0], index * 3)
  return points
}

/** Only the left half of the picture has colour: red 200, green 100, blue 50. */
function halved() {
  const picture = { width: 320, height: 280, data: new Uint8ClampedArray(320 * 280 * 4) }
  for (let y = 0; y < 280; y++) for (let x = 0; x < 162; x++) picture.data.set([200, 100, 50, 255], (y * 320 + x) * 4)
  return picture
}

test('the first net gets the face and its mirror image, raw', () => {
  const { dims, data } = faInput(halved(), mesh())
  assert.deepEqual(dims, [2, 3, 112, 112])
  const row = 56 * 112
  const mirror = 3 * 112 * 112
  assert.equal(data[row + 20], 200)
  assert.equal(data[row + 92], 0)
  assert.equal(data[mirror + row + 20], 0)
  assert.equal(data[mirror + row + 92], 200)
})

test('the second net gets blue first, less the means it was trained with', () => {
  const { dims, data } = deepInput(halved(), mesh())
  assert.deepEqual(dims, [1, 224, 224, 3])
  const at = (112 * 224 + 60) * 3
  assert.deepEqual(
    [...data.subarray(at, at + 3)].map((value) => Math.round(value * 1000)),
    [50_000 - 103_939, 100_000 - 116_779, 200_000 - 123_680],
  )
})

test('the age of the first net is the mean of its two outputs', () => {
  assert.equal(readFa({ age: { dims: [2, 1], data: Float32Array.of(30, 34) } }), 32)
  assert.throws(() => readFa({ age: { dims: [1, 1], data: Float32Array.of(30) } }), /two ages/)
})

test('the second net gives probabilities of a hundred ages; their expected value counts, not the likeliest age', () => {
  const shares = new Float32Array(100)
  shares[20] = 0.5
  shares[40] = 0.25
  shares[60] = 0.25
  assert.equal(readDeep({ Softmax_1: { dims: [1, 100], data: shares } }), 35)
  assert.throws(() => readDeep({}), /hundred/)
})

test('both nets count the same', () => {
  assert.equal(combineAges(30, 36), 33)
})
