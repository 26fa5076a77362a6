import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RING_BYTES, TOKEN_PARAMETERS } from './parameters.ts'
import { systemRandomness } from './random.ts'
import { add, fromSmall, LIMBS, readRing, reversed, subtract, writeRing } from './ring.ts'
import { coefficientsOf, schoolbookProduct } from './testing/schoolbook.ts'

const { n } = TOKEN_PARAMETERS

test('an element is read from bytes and written to the same bytes', () => {
  for (const bytes of [
    systemRandomness(RING_BYTES),
    new Uint8Array(RING_BYTES),
    new Uint8Array(RING_BYTES).fill(0xff),
    new Uint8Array(RING_BYTES).fill(0x80),
    new Uint8Array(RING_BYTES).fill(0x7f),
  ]) {
    const again = new Uint8Array(RING_BYTES + 3)
    writeRing(readRing(bytes), again, 3)
    assert.deepEqual(again.subarray(3), bytes)
  }
})

test('a coefficient is 11 bytes, the lowest first, and its limbs stay within ±2^14', () => {
  const bytes = systemRandomness(RING_BYTES)
  const ring = readRing(bytes)
  for (const [j, coefficient] of coefficientsOf(ring).entries()) {
    const hex = Buffer.from(bytes.subarray(11 * j, 11 * j + 11).toReversed()).toString('hex')
    assert.equal(coefficient, BigInt(`0x${hex}`))
  }
  assert.ok(ring.every((limb) => Number.isInteger(limb) && Math.abs(limb) <= 2 ** 14))
  assert.ok(ring.subarray((LIMBS - 1) * n).every((limb) => Math.abs(limb) <= 2 ** 12))
})

test('sums and differences are taken modulo 2^88', () => {
  const [one, other] = [readRing(systemRandomness(RING_BYTES)), readRing(systemRandomness(RING_BYTES))]
  const [a, b] = [coefficientsOf(one), coefficientsOf(other)]
  assert.deepEqual(
    coefficientsOf(add(one, other)),
    a.map((value, j) => BigInt.asUintN(88, value + (b[j] ?? 0n))),
  )
  assert.deepEqual(
    coefficientsOf(subtract(one, other)),
    a.map((value, j) => BigInt.asUintN(88, value - (b[j] ?? 0n))),
  )
  assert.equal(coefficientsOf(fromSmall([-1, 2 ** 40]))[0], 2n ** 88n - 1n)
  assert.equal(coefficientsOf(fromSmall([-1, 2 ** 40]))[1], 2n ** 40n)
})

test('the sum with a turned element is one coefficient of the product', () => {
  const one = Float64Array.from({ length: n }, (_, j) => ((j * 7919) % 23) - 11)
  const other = Float64Array.from({ length: n }, (_, j) => ((j * 104729) % 31) - 15)
  const product = schoolbookProduct(coefficientsOf(fromSmall(one)), coefficientsOf(fromSmall(other)))
  for (const position of [0, 1, 512, 1023]) {
    const turned = reversed(other, position)
    const sum = one.reduce((total, value, j) => total + value * (turned[j] ?? 0), 0)
    assert.equal(BigInt.asUintN(88, BigInt(sum)), product[position])
  }
})
