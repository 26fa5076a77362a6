import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calibrate, nameScoreFor } from './calibration.ts'

const STEPS = Array.from({ length: 2_001 }, (_, n) => n / 2_000)
const near = (a: number, b: number, what: string) => assert.ok(Math.abs(a - b) < 1e-9, `${what}: ${a} is not ${b}`)

test('a score of 0 stays 0 and a score of 1 stays 1', () => {
  assert.equal(calibrate(0), 0)
  near(calibrate(1), 1, 'calibrate(1)')
  assert.equal(nameScoreFor(0), 0)
  near(nameScoreFor(1), 1, 'nameScoreFor(1)')
})

test('a score above 1 is published as 1', () => {
  assert.equal(calibrate(1.0001), 1)
  assert.equal(nameScoreFor(1.0001), 1)
})

test('a better name score is always published as a better score', () => {
  STEPS.forEach((score, at) => {
    const before = STEPS[at - 1]
    if (before === undefined) return
    assert.ok(calibrate(score) > calibrate(before), `${before} to ${score}`)
    assert.ok(nameScoreFor(score) > nameScoreFor(before), `${before} to ${score}`)
  })
})

test('the calibration is continuous: a small step of the name score is a small step of the published score', () => {
  STEPS.forEach((score, at) => {
    const before = STEPS[at - 1]
    if (before !== undefined) assert.ok(calibrate(score) - calibrate(before) < 0.001, `${before} to ${score}`)
  })
})

test('published scores stay between 0 and 1', () => {
  for (const score of STEPS) assert.ok(calibrate(score) >= 0 && calibrate(score) <= 1, String(score))
})

test('calibrate and nameScoreFor are inverse functions', () => {
  for (const value of STEPS) {
    near(nameScoreFor(calibrate(value)), value, `nameScoreFor(calibrate(${value}))`)
    near(calibrate(nameScoreFor(value)), value, `calibrate(nameScoreFor(${value}))`)
  }
})

test('the default threshold of 0.95 needs a name score of 0.9', () => {
  near(nameScoreFor(0.95), 0.9, 'nameScoreFor(0.95)')
  near(calibrate(0.9), 0.95, 'calibrate(0.9)')
  assert.ok(calibrate(0.899) < 0.95)
})

test('one shared word, at most 0.6, is published as no more than 0.5', () =>
  near(calibrate(0.6), 0.5, 'calibrate(0.6)'))
