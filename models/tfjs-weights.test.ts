import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numbersOf } from './array.ts'
import { readWeights, type WeightsManifest, weightOf } from './tfjs-weights.ts'

const manifest: WeightsManifest = [
  {
    paths: ['one.bin'],
    weights: [
      { name: 'bytes', shape: [3], dtype: 'float32', quantization: { dtype: 'uint8', scale: 0.5, min: -1 } },
      { name: 'halves', shape: [2], dtype: 'float32', quantization: { dtype: 'float16' } },
      { name: 'whole', shape: [], dtype: 'int32' },
    ],
  },
  { paths: ['one.bin'], weights: [{ name: 'full', shape: [1, 1], dtype: 'float32' }] },
]
const file = Buffer.from([0, 2, 4, 0x00, 0x3c, 0x00, 0xc0, 7, 0, 0, 0, 0, 0, 0x20, 0x41])

test('weights of every type are read where they lie, also at odd places', () => {
  const weights = readWeights(manifest, file)
  assert.deepEqual(numbersOf(weightOf(weights, 'bytes')), [-1, 0, 1])
  assert.deepEqual(numbersOf(weightOf(weights, 'halves')), [1, -2])
  assert.deepEqual(numbersOf(weightOf(weights, 'whole')), [7])
  assert.deepEqual(weightOf(weights, 'full'), { type: 'float32', shape: [1, 1], values: Float32Array.of(10) })
  assert.throws(() => weightOf(weights, 'other'), /no weight named other/)
})

test('a file that is longer or shorter than its manifest says is refused', () => {
  assert.throws(() => readWeights(manifest, Buffer.from([...file, 0])), /16 bytes, its manifest describes 15/)
})

test('a type that is not known is refused', () => {
  const other = [{ paths: [], weights: [{ name: 'x', shape: [1], dtype: 'complex64' }] }]
  assert.throws(() => readWeights(other, new Uint8Array(8)), /complex64/)
})
