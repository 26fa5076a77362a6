import assert from 'node:assert/strict'
import { test } from 'node:test'
import { equalError, intervalOfMean, ratesAt, refusedAt } from './verification.ts'

const APART = { genuine: [0.7, 0.8, 0.9], impostor: [0.1, 0.2, 0.3, 0.4] }
const MIXED = { genuine: [0.2, 0.6, 0.7, 0.8], impostor: [0.1, 0.3, 0.4, 0.65] }

test('pairs that lie apart have no error, and the threshold lies between them', () => {
  const { rate, threshold } = equalError(APART)
  assert.equal(rate, 0)
  assert.ok(threshold > 0.4 && threshold <= 0.7)
})

test('one of four on each side is an error of a quarter', () => {
  assert.equal(equalError(MIXED).rate, 0.25)
})

test('random scores have an error of one half', () => {
  const same = { genuine: [1, 2, 3, 4], impostor: [1, 2, 3, 4] }
  assert.ok(Math.abs(equalError(same).rate - 0.5) <= 0.125)
})

test('refusals are counted at the threshold that the impostors set', () => {
  assert.equal(refusedAt(MIXED, 0).rate, 0.5)
  assert.equal(refusedAt(MIXED, 0.25).rate, 0.25)
  assert.equal(refusedAt(APART, 0).rate, 0)
})

test('a score at the threshold passes', () => {
  assert.deepEqual(ratesAt(MIXED, 0.65), { refused: 0.5, passed: 0.25 })
})

test('the interval of a mean holds the mean, shrinks with more values and is the same every time', () => {
  const few = [1, 5, 3, 9, 2, 4]
  const many = Array.from({ length: 20 }, () => few).flat()
  const [low, high] = intervalOfMean(few)
  const [lowMany, highMany] = intervalOfMean(many)
  assert.ok(low < 4 && high > 4)
  assert.ok(highMany - lowMany < (high - low) / 3)
  assert.deepEqual(intervalOfMean(few), [low, high])
})
