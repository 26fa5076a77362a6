import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLoadEstimate } from './load-estimate.ts'

function estimating() {
  let ms = 0
  const estimate = createLoadEstimate(() => ms)
  return {
    estimate,
    /** Bytes that come in equal parts over this time. */
    receive(from: number, to: number, forMs: number) {
      for (let part = 1; part <= 10; part++) {
        ms += forMs / 10
        estimate.note(from + ((to - from) * part) / 10)
      }
    },
    pass: (forMs: number) => {
      ms += forMs
    },
  }
}

test('the time left follows from the rate of the bytes that came', () => {
  const { estimate, receive } = estimating()
  estimate.note(0)
  receive(0, 100_000, 2_000)
  assert.equal(estimate.secondsFor(5_000_000), 100)
  assert.equal(estimate.secondsFor(0), 0)
})

test('nothing is said before a second has passed or much has come', () => {
  const { estimate, receive } = estimating()
  assert.equal(estimate.secondsFor(1), undefined)
  estimate.note(0)
  receive(0, 40_000, 500)
  assert.equal(estimate.secondsFor(5_000_000), undefined)
  receive(40_000, 500_000, 100)
  assert.equal(estimate.secondsFor(500_000), 0.6)
})

test('a connection that became faster, or stopped, is noticed', () => {
  const { estimate, receive, pass } = estimating()
  estimate.note(0)
  receive(0, 100_000, 10_000)
  receive(100_000, 2_100_000, 20_000)
  assert.ok((estimate.secondsFor(1_000_000) ?? 0) < 11)
  pass(5_000)
  assert.ok((estimate.secondsFor(1_000_000) ?? 0) > 11)
  pass(1)
  assert.equal(estimate.secondsFor(1_000_000), undefined)
})

test('a file that is fetched again from its start begins a new measurement', () => {
  const { estimate, receive } = estimating()
  estimate.note(0)
  receive(0, 1_000_000, 2_000)
  estimate.note(500_000)
  assert.equal(estimate.secondsFor(100_000), undefined)
})
