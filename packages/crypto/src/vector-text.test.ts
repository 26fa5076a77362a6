import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeVector, encodeVector, VECTOR_LENGTH } from './vector-text.ts'

const wave = (scale = 1) => Array.from({ length: VECTOR_LENGTH }, (_, at) => scale * Math.sin(at + 1))

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [ab, aa, bb] = [0, 0, 0]
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [a[at] ?? 0, b[at] ?? 0]
    ab += x * y
    aa += x * x
    bb += y * y
  }
  return ab / Math.sqrt(aa * bb)
}

test('the direction survives for any length', () => {
  for (const scale of [1, 1e-9, 1e9]) {
    const text = encodeVector(wave(scale))
    assert.match(text, /^[A-Za-z0-9_-]{683}$/)
    assert.ok(cosine(wave(), decodeVector(text)) > 0.9999)
  }
  assert.equal(encodeVector(wave()), encodeVector(wave(3)))
  assert.equal(encodeVector(Float32Array.from(wave())), encodeVector(wave()))
})

test('bytes are signed, and the largest number fills its byte', () => {
  const spike = Array.from({ length: VECTOR_LENGTH }, (_, at) => (at === 0 ? -4 : at === 1 ? 2 : 0))
  assert.deepEqual([...Buffer.from(encodeVector(spike), 'base64url').subarray(0, 3)], [129, 64, 0])
  assert.deepEqual([...decodeVector(encodeVector(spike)).subarray(0, 3)], [-127, 64, 0])
})

test('text that is not a vector is refused', () => {
  const broken = [[], wave().slice(1), [...wave(), 1], wave(0), wave().with(3, Number.NaN), wave().with(3, 1 / 0)]
  for (const vector of broken) assert.throws(() => encodeVector(vector), RangeError)
  for (const text of ['', 'AAAA', 'A'.repeat(683)]) assert.throws(() => decodeVector(text), RangeError)
})
