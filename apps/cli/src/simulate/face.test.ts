import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '@ostiary/device/simulated'
import { inventedFace } from './face.ts'

function cosine(a: Float32Array, b: Float32Array): number {
  const inner = a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
  return inner / Math.hypot(...a) / Math.hypot(...b)
}

test('two pictures of one invented person are alike and not equal; those of two people are not alike', () => {
  const pictures = (person: number) => [1, 2, 3].map((seed) => inventedFace(person, seededRandom(seed * 1000)))
  const [first, second] = [pictures(1), pictures(2)]
  for (const picture of first) assert.equal(picture.length, 512)
  for (const [at, one] of first.entries()) {
    for (const other of first.slice(at + 1)) {
      const alike = cosine(one, other)
      assert.ok(alike > 0.6 && alike < 0.9, `${alike}`)
    }
  }
  // Different seeds: pictures with the same seed have the same noise.
  for (const [at, one] of first.entries()) {
    for (const other of second.filter((_, index) => index !== at)) assert.ok(Math.abs(cosine(one, other)) < 0.25)
  }
})

test('the same number and the same picture give the same numbers', () => {
  assert.deepEqual(inventedFace(7, seededRandom(3)), inventedFace(7, seededRandom(3)))
})
