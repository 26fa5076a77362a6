import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toI420 } from './i420.ts'

const plain = (red: number, green: number, blue: number) => ({
  width: 4,
  height: 2,
  data: Uint8ClampedArray.from({ length: 32 }, (_, at) => [red, green, blue, 255][at % 4] ?? 0),
})

test('brightness comes first, then two colours at half the width and height', () => {
  const planes = toI420(plain(255, 255, 255))
  assert.equal(planes.length, 12)
  assert.ok(planes.subarray(0, 8).every((value) => value >= 234 && value <= 236))
  assert.ok(planes.subarray(8).every((value) => Math.abs(value - 128) <= 1))
})

test('black is 16, red is far in the second colour and blue in the first', () => {
  assert.equal(toI420(plain(0, 0, 0))[0], 16)
  const [red, blue] = [toI420(plain(255, 0, 0)), toI420(plain(0, 0, 255))]
  assert.deepEqual([red[8], red[10]], [90, 240])
  assert.deepEqual([blue[8], blue[10]], [240, 110])
})
