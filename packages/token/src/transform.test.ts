import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RING_BYTES, TOKEN_PARAMETERS } from './parameters.ts'
import {
  addProduct,
  addSmallProduct,
  createSum,
  multiplySmall,
  toRing,
  toSmallSpectrum,
  toSpectrum,
  toWideSpectrum,
  WIDE_LIMBS,
} from './products.ts'
import { systemRandomness, ternary, uniformModuloT } from './random.ts'
import { createRing, fromSmall, LIMBS, type Ring, readRing, reversed } from './ring.ts'
import { createNumbers } from './testing/fixtures.ts'
import { coefficientsOf, schoolbookProduct } from './testing/schoolbook.ts'
import { restore } from './transform.ts'

const { n } = TOKEN_PARAMETERS
const randomRing = () => readRing(systemRandomness(RING_BYTES))

/** Every limb as large as it gets. */
function largestRing(sign: () => number): Ring {
  return createRing().map((_, at) => sign() * (at < (LIMBS - 1) * n ? 2 ** 14 : 2 ** 12))
}

test('a product of two elements equals the product by hand', () => {
  const [one, other] = [randomRing(), randomRing()]
  const sum = createSum(LIMBS)
  addProduct(sum, toSpectrum(one), toSpectrum(other))
  assert.deepEqual(coefficientsOf(toRing(sum)), schoolbookProduct(coefficientsOf(one), coefficientsOf(other)))
})

test('a product with the conjugate of an element equals the product by hand', () => {
  const [one, other] = [randomRing(), randomRing()]
  const sum = createSum(LIMBS)
  addProduct(sum, toSpectrum(one), toSpectrum(other), true)
  const conjugate = reversed(one, 0)
  assert.deepEqual(coefficientsOf(toRing(sum)), schoolbookProduct(coefficientsOf(conjugate), coefficientsOf(other)))
})

test('products with small numbers equal the products by hand', () => {
  const one = randomRing()
  const signs = ternary(systemRandomness(1280))
  const weights = uniformModuloT(systemRandomness(4096), 0, n)
  const wide = createSum(WIDE_LIMBS)
  addSmallProduct(wide, toSmallSpectrum(signs), toWideSpectrum(one))
  assert.deepEqual(
    coefficientsOf(toRing(wide)),
    schoolbookProduct(coefficientsOf(fromSmall(signs)), coefficientsOf(one)),
  )
  const full = createSum(LIMBS)
  addSmallProduct(full, toSmallSpectrum(weights), toSpectrum(one))
  assert.deepEqual(
    coefficientsOf(toRing(full)),
    schoolbookProduct(coefficientsOf(fromSmall(weights)), coefficientsOf(one)),
  )
  const product = multiplySmall(toSmallSpectrum(signs), toSmallSpectrum(signs), true)
  assert.equal(product[0], signs.filter((value) => value !== 0).length, 'a number times its conjugate')
})

test('five products of the largest limbs of one sign are exact', () => {
  const ring = largestRing(() => -1)
  const sum = createSum(LIMBS)
  for (let round = 0; round < 5; round++) addProduct(sum, toSpectrum(ring), toSpectrum(ring))
  // The square of 1 + z + z^2 + … has the coefficients 2 j + 2 - n.
  const square = (coefficientsOf(ring)[0] ?? 0n) ** 2n
  const expected = Array.from({ length: n }, (_, j) => BigInt.asUintN(88, 5n * square * BigInt(2 * j + 2 - n)))
  assert.deepEqual(coefficientsOf(toRing(sum)), expected)
})

test('the error of five products of the largest limbs stays far below the bound, whatever their signs', () => {
  const next = createNumbers(7)
  const patterns: ((at: number) => number)[] = [
    () => 1,
    (at) => (at % 2 === 0 ? 1 : -1),
    (at) => (at % n < n / 2 ? 1 : -1),
    ...Array.from({ length: 20 }, () => () => (next() < 0.5 ? 1 : -1)),
  ]
  let largest = 0
  for (const pattern of patterns) {
    let at = 0
    const spectrum = toSpectrum(largestRing(() => pattern(at++)))
    const sum = createSum(LIMBS)
    for (let round = 0; round < 5; round++) addProduct(sum, spectrum, spectrum, round % 2 === 1)
    largest = Math.max(largest, errorOf(sum))
  }
  assert.ok(largest < 0.02, `the largest error is ${largest}; the proven bound is 0.13, rounding fails from 0.5`)
})

test('the error of five products with signs stays far below the bound', () => {
  const next = createNumbers(8)
  const sign = () => (next() < 0.5 ? 1 : -1)
  let largest = 0
  for (let round = 0; round < 20; round++) {
    const sum = createSum(WIDE_LIMBS)
    const small = toSmallSpectrum(new Float64Array(n).map(sign))
    for (let product = 0; product < 5; product++) addSmallProduct(sum, small, toWideSpectrum(largestRing(sign)))
    largest = Math.max(largest, errorOf(sum))
  }
  assert.ok(largest < 0.01, `the largest error is ${largest}; the proven bound is 0.04`)
})

/** How far the coefficients of a sum are from integers. */
function errorOf(sum: Float64Array): number {
  let largest = 0
  for (let plane = 0; plane < sum.length; plane += n) restore(sum, plane)
  for (const value of sum) largest = Math.max(largest, Math.abs(value - Math.round(value)))
  return largest
}
