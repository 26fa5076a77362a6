import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TOKEN_PARAMETERS } from './parameters.ts'
import { quantise } from './quantise.ts'
import { createNumbers, innerProduct, randomFace } from './testing/fixtures.ts'

const { scale, quantiseTolerance } = TOKEN_PARAMETERS

test('every vector gets the same length within half a percent, whatever its own', () => {
  const next = createNumbers(11)
  for (let round = 0; round < 300; round++) {
    const factor = 10 ** (12 * next() - 6)
    const values = quantise(randomFace(next).map((value) => value * factor))
    assert.ok(Math.abs(innerProduct(values, values) - scale ** 2) <= quantiseTolerance * scale ** 2)
  }
})

test('the direction is kept: the cosine with the vector is above .99', () => {
  const next = createNumbers(12)
  for (let round = 0; round < 50; round++) {
    const face = randomFace(next)
    const values = quantise(face)
    const cosine = innerProduct(face, values) / Math.sqrt(innerProduct(face, face) * innerProduct(values, values))
    assert.ok(cosine > 0.99, `the cosine is ${cosine}`)
  }
})

test('a vector of another size, without direction or with no number is refused', () => {
  const face = randomFace(createNumbers(13))
  assert.throws(() => quantise(face.slice(1)), RangeError)
  assert.throws(() => quantise([...face, 0]), RangeError)
  assert.throws(() => quantise(face.map(() => 0)), RangeError)
  assert.throws(() => quantise(face.with(5, Number.NaN)), RangeError)
  assert.throws(() => quantise(face.with(5, Number.POSITIVE_INFINITY)), RangeError)
})

test('a vector that no factor brings to the length is refused', () => {
  assert.throws(() => quantise(new Float32Array(512).fill(1)), RangeError)
})
