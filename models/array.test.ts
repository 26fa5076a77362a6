import assert from 'node:assert/strict'
import { test } from 'node:test'
import { float32, halfBits, halfValue, numbersOf, reshape, toHalf, transpose } from './array.ts'

test('turning an array moves every number to where the order says', () => {
  const array = float32([0, 1, 2, 3, 4, 5], [1, 2, 3])
  const turned = transpose(array, [2, 0, 1])
  assert.deepEqual(turned.shape, [3, 1, 2])
  assert.deepEqual([...turned.values], [0, 3, 1, 4, 2, 5])
})

test('turned there and back, an array is what it was', () => {
  const array = float32(
    Array.from({ length: 120 }, (_, index) => index),
    [2, 3, 4, 5],
  )
  assert.deepEqual(transpose(transpose(array, [3, 2, 0, 1]), [2, 3, 1, 0]), array)
})

test('an array takes no shape that has another number of numbers', () => {
  assert.deepEqual(reshape(float32([1, 2, 3, 4]), [2, 2]).shape, [2, 2])
  assert.throws(() => reshape(float32([1, 2, 3, 4]), [3]), /4 numbers/)
})

test('every half-precision number survives the way there and back', () => {
  for (let bits = 0; bits < 0x10000; bits++) {
    const value = halfValue(bits)
    if (!Number.isNaN(value)) assert.equal(halfBits(value), bits, `0x${bits.toString(16)} is ${value}`)
  }
})

test('a number between two halves becomes the nearer one, and the even one when both are as near', () => {
  assert.equal(halfValue(halfBits(1 + 0.4 / 1024)), 1)
  assert.equal(halfValue(halfBits(1 + 0.6 / 1024)), 1 + 1 / 1024)
  assert.equal(halfValue(halfBits(1 + 0.5 / 1024)), 1)
  assert.equal(halfValue(halfBits(1 + 1.5 / 1024)), 1 + 2 / 1024)
  assert.equal(halfValue(halfBits(2.4 * 2 ** -24)), 2 * 2 ** -24)
  assert.equal(halfValue(halfBits(2.5 * 2 ** -24)), 2 * 2 ** -24)
  assert.equal(halfValue(halfBits(65519)), 65504)
  assert.equal(halfValue(halfBits(-65520)), Number.NEGATIVE_INFINITY)
  assert.ok(Number.isNaN(halfValue(halfBits(Number.NaN))))
})

test('an array stands for the numbers its bytes were made of', () => {
  const bytes = { type: 'uint8', shape: [3], values: Uint8Array.of(0, 1, 255), scale: 0.5, min: -2 } as const
  assert.deepEqual(numbersOf(bytes), [-2, -1.5, 125.5])
  assert.deepEqual(numbersOf(toHalf(float32([0.5, -3]))), [0.5, -3])
  assert.equal(toHalf(bytes), bytes)
})
