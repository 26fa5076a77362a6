import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cosine, distance, normalise, quantise } from './vectors.ts'

const SOME = Float32Array.of(3, -4, 12)

test('a normalised vector has length 1 and the same direction', () => {
  const unit = normalise(SOME)
  assert.ok(Math.abs(distance(unit, new Float32Array(3)) - 1) < 1e-6)
  assert.ok(Math.abs(cosine(unit, SOME) - 1) < 1e-6)
})

test('a vector of zeros is unchanged, and its cosine with any vector is 0', () => {
  const zero = new Float32Array(3)
  assert.deepEqual(normalise(zero), zero)
  assert.notEqual(normalise(zero), zero)
  assert.equal(cosine(zero, SOME), 0)
})

test('cosine is 1, 0 and -1 for the same, perpendicular and opposite directions', () => {
  const opposite = SOME.map((value) => -2 * value)
  assert.ok(Math.abs(cosine(SOME, opposite) + 1) < 1e-6)
  assert.equal(cosine(Float32Array.of(1, 0), Float32Array.of(0, 5)), 0)
})

test('distance is Euclidean', () => {
  assert.equal(distance(Float32Array.of(1, 1), Float32Array.of(4, 5)), 5)
})

test('vectors of different length are refused', () => {
  assert.throws(() => cosine(SOME, SOME.subarray(1)), /3 and 2/)
  assert.throws(() => distance(SOME, SOME.subarray(1)), /3 and 2/)
})

test('a quantised vector comes back within half a step', () => {
  const vector = Float32Array.from({ length: 512 }, (_, n) => Math.sin(n * 1.7) * Math.cos(n * 0.3))
  const quantised = quantise(vector)
  assert.equal(Math.max(...quantised.values.map(Math.abs)), 127)
  const back = Float32Array.from(quantised.values, (value) => value * quantised.scale)
  for (const [n, value] of vector.entries())
    assert.ok(Math.abs((back[n] ?? 0) - value) <= quantised.scale * 0.5001, `value ${n}`)
  assert.ok(cosine(back, vector) > 0.9999)
})

test('zeros stay zeros', () => {
  assert.deepEqual(quantise(new Float32Array(4)), { values: new Int8Array(4), scale: 0 })
})
