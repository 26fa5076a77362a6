import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeSmall, fitted, SELFIE_BYTES_MAX } from './selfie.ts'

test('a picture keeps its shape, and its longer side is 640 pixels at most', () => {
  assert.deepEqual(fitted({ width: 1280, height: 720 }), { width: 640, height: 360 })
  assert.deepEqual(fitted({ width: 720, height: 1280 }), { width: 360, height: 640 })
  assert.deepEqual(fitted({ width: 320, height: 240 }), { width: 320, height: 240 })
})

test('the best quality that fits the limit is used', async () => {
  const tried: number[] = []
  const jpeg = await encodeSmall(async (quality) => {
    tried.push(quality)
    return new Blob([new Uint8Array(Math.round(200 * 1024 * quality))])
  })
  assert.deepEqual(tried, [0.9, 0.8, 0.7])
  assert.ok(jpeg.length <= SELFIE_BYTES_MAX)
})

test('a picture that cannot be made small enough is not sent', async () => {
  await assert.rejects(
    encodeSmall(async () => new Blob([new Uint8Array(SELFIE_BYTES_MAX + 1)])),
    /small enough/,
  )
})
