import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Measured, SeenFace } from '@ostiary/faces'
import { CaptureFailure, type Sample } from './capture-types.ts'
import { assembleCapture, estimateOf, frameOf } from './payload.ts'
import { MODELS } from './testing/fixture.ts'
import { createPerson, seeded } from './testing/person.ts'

const person = createPerson({ random: seeded(5) })
const FACTS = { models: MODELS, ages: true }

function sample(tMs: number, face: Partial<SeenFace> = {}, measured: Partial<Measured> = {}): Sample {
  const whole = person.measuredAt(tMs)
  return { tMs, measured: { ...whole, ...measured, face: { ...whole.face, ...face } } }
}
const withScore = (score: number) => ({ quality: { ...person.faceAt(0).quality, score } })
const failsWith = (code: number) => (error: unknown) => error instanceof CaptureFailure && error.code === code

test('a frame has the units of the contract: tenths of degrees and years, thousandths of the rest', () => {
  const face = { pose: { yaw: -12.34, pitch: 5.06, roll: -0.02 }, eyes: 0.8761, size: 0.3333, ...withScore(0.7296) }
  assert.deepEqual(frameOf(sample(1234.6, face, { ageYears: 34.27, digest: 'abcdefghijk' })), {
    t: 1235,
    yaw: -123,
    pitch: 51,
    roll: 0,
    eyes: 876,
    size: 333,
    quality: 730,
    age: 343,
    digest: 'abcdefghijk',
  })
})

test('shares are clamped to 0 to 1', () => {
  const { eyes, quality } = frameOf(sample(0, { eyes: 1.2, ...withScore(-0.1) }))
  assert.deepEqual([eyes, quality], [1000, 0])
})

test('a frame of low quality has no age, nor has one with an impossible age', () => {
  const age = (score: number, ageYears: number | undefined) => frameOf(sample(0, withScore(score), { ageYears })).age
  assert.equal(age(0.3494, 30), undefined)
  assert.equal(age(0.3496, 30), 300)
  assert.equal(age(0.8, 0.4), undefined)
  assert.equal(age(0.8, 111), undefined)
  assert.equal(age(0.8, undefined), undefined)
})

test('the estimate is the mean and deviation of all frames with an age', () => {
  const frames = [30, 32, undefined, 37].map((ageYears, index) => frameOf(sample(index, {}, { ageYears })))
  assert.deepEqual(estimateOf(frames), { age: 330, spread: 29, frames: 3 })
})

test('frames of a blink lose their age where enough others have one', () => {
  const agesOf = (eyes: readonly number[]) =>
    assembleCapture(
      eyes.map((open, index) => sample(200 + 400 * index, { eyes: open }, { ageYears: 30 + index })),
      FACTS,
    ).frames.map(({ age }) => age)
  assert.deepEqual(agesOf([0.8, 0.2, 0.82, 0.81, 0.79, 0.83]), [300, undefined, 320, 330, 340, 350])
  assert.deepEqual(agesOf([0.8, 0.2, 0.82, 0.81, 0.79]), [300, 310, 320, 330, 340], 'four others are not enough')
  assert.ok(!agesOf([0.18, 0.17, 0.4, 0.19, 0.16, 0.2]).includes(undefined), 'a narrow eye at rest')
})

test('a capture has the names of the models and the score of the passive check', () => {
  const capture = assembleCapture(
    [200, 600, 1000, 1400, 1800].map((tMs) => sample(tMs, {}, { live: 0.9 })),
    FACTS,
  )
  assert.deepEqual(capture.model, { id: MODELS.id, hash: MODELS.hash })
  assert.equal(capture.live, 900)
  assert.equal(capture.frames.length, 5)
})

test('a frame with impossible landmarks is left out, like one without a face', () => {
  const odd = [
    { pose: { yaw: 71, pitch: 0, roll: 0 } },
    { pose: { yaw: 0, pitch: -56, roll: 0 } },
    { pose: { yaw: 0, pitch: 0, roll: 80 } },
    { pose: { yaw: Number.NaN, pitch: 0, roll: 0 } },
    { size: 0.99 },
    { size: 0.05 },
  ].map((face, index) => sample(1000 + index, face))
  const capture = assembleCapture([sample(100), ...odd, sample(2000)], FACTS)
  assert.deepEqual(
    capture.frames.map(({ t }) => t),
    [100, 2000],
  )
})

test('a repeated picture is left out, twice at most: more repetitions look like a still image', () => {
  const pictures = [100, 200, 300, 400, 500, 600].map((tMs) => sample(tMs))
  const again = (...at: number[]) =>
    pictures.map(({ tMs, measured }, index) => ({
      tMs,
      measured: at.includes(index) ? (pictures[index - 1]?.measured ?? measured) : measured,
    }))
  const timesOf = (samples: typeof pictures) => assembleCapture(samples, FACTS).frames.map(({ t }) => t)
  assert.deepEqual(timesOf(again(1)), [100, 300, 400, 500, 600])
  assert.deepEqual(timesOf(again(1, 4)), [100, 300, 400, 600])
  assert.deepEqual(timesOf(again(1, 3, 5)), [100, 200, 300, 400, 500, 600])
})

test('of two different pictures with equal numbers one is dropped; a picture that the camera repeated stays', () => {
  const [first, other] = [sample(100), sample(200)]
  const twin = { tMs: 300, measured: { ...first.measured, digest: 'another-one' } }
  const repeat = { tMs: 400, measured: first.measured }
  const timesOf = (samples: readonly Sample[]) => assembleCapture(samples, FACTS).frames.map(({ t }) => t)
  assert.deepEqual(timesOf([first, other, twin]), [100, 200])
  assert.deepEqual(timesOf([first, other, repeat]), [100, 200, 400])
})

test('a capture without any face fails with -12, one without any age with -39', () => {
  assert.throws(() => assembleCapture([], FACTS), failsWith(-12))
  assert.throws(() => assembleCapture([sample(1, { size: 0.99 })], FACTS), failsWith(-12))
  assert.throws(() => assembleCapture([sample(1, {}, { ageYears: undefined })], FACTS), failsWith(-39))
})

test('[D-022] if no age is wanted, no frame has one, the estimate is empty, and only the quality counts', () => {
  const facts = { models: MODELS, ages: false }
  const capture = assembleCapture([sample(100, {}, { ageYears: 30 }), sample(200)], facts)
  assert.deepEqual(capture.estimate, { age: 0, spread: 0, frames: 0 })
  assert.ok(capture.frames.every((frame) => !('age' in frame)))
  assert.throws(() => assembleCapture([sample(1, withScore(0.3))], facts), failsWith(-39))
})
