import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dot, dotSmall, FLOOD_BYTES, floodOf, messageOf, readNumber, writeNumber } from './numbers.ts'
import { RING_BYTES, TOKEN_PARAMETERS } from './parameters.ts'
import { systemRandomness, uniformModuloT } from './random.ts'
import { createRing, readRing } from './ring.ts'
import { coefficientsOf } from './testing/schoolbook.ts'

const { n, t } = TOKEN_PARAMETERS

test('inner products of elements are exact modulo 2^88, with the largest limbs too', () => {
  const largest = createRing().fill(-(2 ** 14))
  for (const [one, other] of [
    [readRing(systemRandomness(RING_BYTES)), readRing(systemRandomness(RING_BYTES))],
    [largest, largest],
  ] as const) {
    const [a, b] = [coefficientsOf(one), coefficientsOf(other)]
    const expected = a.reduce((sum, value, j) => sum + value * (b[j] ?? 0n), 0n)
    assert.equal(dot(one, other), BigInt.asUintN(88, expected))
    const small = uniformModuloT(systemRandomness(4096), 0, n)
    const weighed = a.reduce((sum, value, j) => sum + value * BigInt(small[j] ?? 0), 0n)
    assert.equal(dotSmall(one, small), BigInt.asUintN(88, weighed))
  }
})

test('a number is 11 bytes, the lowest first', () => {
  const bytes = new Uint8Array(13)
  writeNumber(-2n, bytes, 1)
  assert.deepEqual([...bytes], [0, 254, ...new Array<number>(10).fill(255), 0])
  assert.equal(readNumber(bytes, 1), 2n ** 88n - 2n)
})

test('a message survives any noise and flood, on both sides of zero', () => {
  const T = BigInt(t)
  for (const message of [0, 1, -1, 2500, -2500, 6144, -6144]) {
    for (const rest of [0n, 1n, -1n, 2n ** 53n, -(2n ** 53n), 2n ** 87n / T - 1n, 1n - 2n ** 87n / T]) {
      assert.equal(messageOf(BigInt.asUintN(88, BigInt(message) + T * rest)), message)
    }
  }
})

test('a flood is a multiple of t, fills nine tenths of the room and leaves the rest for the noise', () => {
  const most = (9n * 2n ** 88n) / 20n
  for (const bytes of [
    new Uint8Array(FLOOD_BYTES),
    new Uint8Array(FLOOD_BYTES).fill(255),
    systemRandomness(FLOOD_BYTES),
  ]) {
    const flood = floodOf(bytes)
    assert.equal(flood % BigInt(t), 0n)
    assert.ok(flood <= most && flood >= -most)
  }
  const sizes = Array.from({ length: 4000 }, () => Number(floodOf(systemRandomness(FLOOD_BYTES))) / Number(most))
  const mean = sizes.reduce((sum, size) => sum + Math.abs(size), 0) / sizes.length
  assert.ok(Math.abs(mean - 0.5) < 0.03, `the mean size is ${mean} of the largest`)
  assert.ok(sizes.some((size) => size > 0.95) && sizes.some((size) => size < -0.95))
})
