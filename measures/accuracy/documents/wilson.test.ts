import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatShare, wilsonInterval } from './wilson.ts'

test('the interval of a share is that of the textbook', () => {
  const { low, high } = wilsonInterval(254, 255)
  assert.equal(low.toFixed(4), '0.9781')
  assert.equal(high.toFixed(4), '0.9993')
})

test('no hit of many still leaves room above', () => {
  assert.ok(wilsonInterval(0, 117).high > 0.02)
  assert.equal(formatShare(0, 0), '0.00 % [0.00, 100.00], 0 of 0')
})
