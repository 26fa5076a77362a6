import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publish, scoreFor } from './calibration.ts'

const STEPS = Array.from({ length: 2_001 }, (_, n) => n / 2_000)
const near = (a: number, b: number, what: string) => assert.ok(Math.abs(a - b) < 1e-9, `${what}: ${a} is not ${b}`)

test('nothing stays nothing, and certainty stays certainty', () => {
  assert.equal(publish(0), 0)
  near(publish(1), 1, 'publish(1)')
  assert.equal(scoreFor(0), 0)
  near(scoreFor(1), 1, 'scoreFor(1)')
})

test('what lies beyond certainty is certainty', () => {
  assert.equal(publish(1.0001), 1)
  assert.equal(scoreFor(1.0001), 1)
})

test('a better name score is always published as a better score', () => {
  STEPS.forEach((score, at) => {
    const before = STEPS[at - 1]
    if (before === undefined) return
    assert.ok(publish(score) > publish(before), `${before} to ${score}`)
    assert.ok(scoreFor(score) > scoreFor(before), `${before} to ${score}`)
  })
})

test('no score jumps: a small step of the name is a small step of what we publish', () => {
  STEPS.forEach((score, at) => {
    const before = STEPS[at - 1]
    if (before !== undefined) assert.ok(publish(score) - publish(before) < 0.001, `${before} to ${score}`)
  })
})

test('published scores stay within 0 and 1', () => {
  for (const score of STEPS) assert.ok(publish(score) >= 0 && publish(score) <= 1, String(score))
})

test('each is the inverse of the other', () => {
  for (const value of STEPS) {
    near(scoreFor(publish(value)), value, `scoreFor(publish(${value}))`)
    near(publish(scoreFor(value)), value, `publish(scoreFor(${value}))`)
  }
})

test('the default threshold of 0.95 asks for a name score of 0.9', () => {
  near(scoreFor(0.95), 0.9, 'scoreFor(0.95)')
  near(publish(0.9), 0.95, 'publish(0.9)')
  assert.ok(publish(0.899) < 0.95)
})

test('one shared word, at most 0.6, is published as no more than 0.5', () => near(publish(0.6), 0.5, 'publish(0.6)'))
