import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bootstrapMeanInterval,
  equalErrorRate,
  falseRejectionRateFor,
  ratesAt,
  wilsonInterval,
} from './verification.ts'

const APART = { genuine: [0.7, 0.8, 0.9], impostor: [0.1, 0.2, 0.3, 0.4] }
const MIXED = { genuine: [0.2, 0.6, 0.7, 0.8], impostor: [0.1, 0.3, 0.4, 0.65] }

test('the equal error rate is 0 if all genuine scores exceed all impostor scores, at a threshold between them', () => {
  const { rate, threshold } = equalErrorRate(APART)
  assert.equal(rate, 0)
  assert.ok(threshold > 0.4 && threshold <= 0.7)
})

test('the equal error rate is a quarter if one of four pairs on each side is on the wrong side', () => {
  assert.equal(equalErrorRate(MIXED).rate, 0.25)
})

test('the equal error rate is about one half if the scores separate nothing', () => {
  const same = { genuine: [1, 2, 3, 4], impostor: [1, 2, 3, 4] }
  assert.ok(Math.abs(equalErrorRate(same).rate - 0.5) <= 0.125)
})

test('the false rejection rate is that of the lowest threshold within the limit of false acceptances', () => {
  assert.equal(falseRejectionRateFor(MIXED, 0).rate, 0.5)
  assert.equal(falseRejectionRateFor(MIXED, 0.25).rate, 0.25)
  assert.equal(falseRejectionRateFor(APART, 0).rate, 0)
})

test('a score at the threshold is accepted', () => {
  assert.deepEqual(ratesAt(MIXED, 0.65), { falseRejectionRate: 0.5, falseAcceptanceRate: 0.25 })
})

test('the bootstrap interval contains the mean, shrinks with more values and is the same every time', () => {
  const few = [1, 5, 3, 9, 2, 4]
  const many = Array.from({ length: 20 }, () => few).flat()
  const [low, high] = bootstrapMeanInterval(few)
  const [lowMany, highMany] = bootstrapMeanInterval(many)
  assert.ok(low < 4 && high > 4)
  assert.ok(highMany - lowMany < (high - low) / 3)
  assert.deepEqual(bootstrapMeanInterval(few), [low, high])
})

test('the Wilson interval is as published for 5 of 50, and says what no event at all allows', () => {
  const [low, high] = wilsonInterval(5, 50)
  assert.ok(Math.abs(low - 0.0435) < 1e-4 && Math.abs(high - 0.2136) < 1e-4, `${low} to ${high}`)
  const [none, most] = wilsonInterval(0, 117)
  assert.equal(none, 0)
  assert.ok(most > 0.03 && most < 0.033)
  assert.deepEqual(wilsonInterval(0, 0), [0, 1])
})
