import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createFaces } from './testing/faces.ts'
import {
  createRotation,
  dot,
  fromBytes,
  middleOf,
  normalise,
  ROTATION_BYTES,
  SEARCH_DIMENSION,
  toBytes,
  toHalfvec,
} from './vector.ts'

const faces = createFaces(21)
const unit = (values: readonly number[]) => normalise(values) ?? new Float64Array()

test('normalise gives length 1 for any size, and undefined for a vector without a direction', () => {
  for (const scale of [1e-300, 1e-9, 1, 1e9, 1e300]) {
    const vector = unit(faces.person().map((value) => value * scale))
    assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-12)
  }
  assert.equal(normalise(new Array(128).fill(0)), undefined)
  assert.equal(normalise([1, Number.POSITIVE_INFINITY]), undefined)
  assert.equal(normalise([1, Number.NaN]), undefined)
})

test('a rotation keeps every angle, for short vectors too', () => {
  const rotate = createRotation(randomBytes(ROTATION_BYTES))
  for (const version of ['FACE3_1', 'FACE3_3'] as const) {
    const face = faces.person(version)
    const [a, b] = [unit(face), unit(faces.sample(face, 0.6))]
    assert.equal(rotate(a).length, SEARCH_DIMENSION)
    assert.ok(Math.abs(dot(rotate(a), rotate(b)) - dot(a, b)) < 1e-12)
  }
})

test('one face rotated by two secrets gives two vectors that are as unrelated as strangers', () => {
  const cosines = Array.from({ length: 300 }, () => {
    const face = unit(faces.person())
    const [one, two] = [randomBytes(ROTATION_BYTES), randomBytes(ROTATION_BYTES)].map((secret) =>
      createRotation(secret)(face),
    )
    return dot(one ?? face, two ?? face)
  })
  const mean = cosines.reduce((sum, value) => sum + value, 0) / cosines.length
  const spread = Math.sqrt(cosines.reduce((sum, value) => sum + value * value, 0) / cosines.length)
  // Random directions in 512 dimensions: mean 0, spread 1/sqrt(512) = 0.044.
  assert.ok(Math.abs(mean) < 0.012, String(mean))
  assert.ok(spread > 0.036 && spread < 0.052, String(spread))
})

test('a rotated vector says nothing about single entries: even a vector with one entry is spread over all', () => {
  const oneEntry = unit(Array.from({ length: 512 }, (_, i) => (i === 7 ? 1 : 0)))
  const rotated = createRotation(randomBytes(ROTATION_BYTES))(oneEntry)
  assert.ok(rotated.every((value) => Math.abs(value) < 0.25))
  assert.ok(rotated.filter((value) => Math.abs(value) > 0.01).length > 350)
})

test('vectors written to the database and read back are equal to three digits', () => {
  const vector = unit(faces.person())
  const back = fromBytes(toBytes(vector))
  assert.ok(Math.abs(dot(vector, back) - 1) < 1e-4)
  const bytes = toHalfvec(vector)
  assert.equal(bytes.length, 4 + 512 * 2)
  assert.equal(bytes.readUInt16BE(0), 512)
  assert.equal(bytes.readUInt16BE(2), 0)
})

test('the middle of samples of a person is nearer to the person than each of them', () => {
  const face = faces.person()
  const samples = Array.from({ length: 5 }, () => unit(faces.sample(face, 0.8)))
  const middle = middleOf(samples)
  for (const sample of samples) assert.ok(dot(middle, unit(face)) > dot(sample, unit(face)))
  const one = unit(face)
  assert.equal(middleOf([one]), one)
  assert.deepEqual(middleOf([one, one.map((value) => -value)]), one)
  assert.throws(() => middleOf([]), RangeError)
})
