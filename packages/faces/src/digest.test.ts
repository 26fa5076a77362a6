import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { digestOf } from './digest.ts'

test('a digest is the beginning of the SHA-256, in eleven characters', async () => {
  for (const seed of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const features = Int8Array.from({ length: 512 }, (_, n) => (n * seed) % 256)
    const expected = createHash('sha256').update(features).digest().subarray(0, 8).toString('base64url')
    assert.equal(await digestOf(features), expected)
    assert.match(expected, /^[\w-]{11}$/)
  }
})

test('the smallest change gives another digest', async () => {
  const features = new Int8Array(512)
  const before = await digestOf(features)
  features[511] = 1
  assert.notEqual(await digestOf(features), before)
})
