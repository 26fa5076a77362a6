import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CaptureFrame, CapturePayload } from '@ostiary/contract'
import { checkEstimate, checkLive, checkRanges, estimateOf } from './numbers.ts'

const IMPLAUSIBLE = [{ flag: 'BH_NUMERIC_IMPLAUSIBLE', failure: 'VIDEO_SPOOF' }]
const INCONCLUSIVE = [{ failure: 'LIVENESS_INCONCLUSIVE' }]

const frame = (more: Partial<CaptureFrame> = {}): CaptureFrame => ({
  t: 0,
  yaw: 0,
  pitch: 0,
  roll: 0,
  eyes: 700,
  size: 400,
  quality: 800,
  digest: 'aaaaaaaaaaa',
  ...more,
})
const aged = (...ages: number[]) => ages.map((age) => frame({ age }))
// Mean 300, population standard deviation 20.
const AGES = [270, 290, 300, 310, 330]
const stated = (estimate: Partial<CapturePayload['estimate']>, frames = aged(...AGES)) =>
  checkEstimate({ frames, estimate: { age: 300, spread: 20, frames: 5, ...estimate } })

describe('the stated estimate', () => {
  test('is the mean of the frames, within half a year', () => {
    for (const age of [295, 300, 305]) assert.deepEqual(stated({ age }), [])
    for (const age of [294, 306, 0, 1200]) assert.deepEqual(stated({ age }), IMPLAUSIBLE)
  })

  test('states their spread, within a year', () => {
    for (const spread of [10, 20, 30]) assert.deepEqual(stated({ spread }), [])
    for (const spread of [9, 31, 0]) assert.deepEqual(stated({ spread }), IMPLAUSIBLE)
  })

  test('states how many frames it is based on, without those that have no age', () => {
    assert.deepEqual(stated({}, [...aged(...AGES), frame(), frame({ quality: 10 })]), [])
    for (const frames of [4, 6]) assert.deepEqual(stated({ frames }), IMPLAUSIBLE)
  })

  test('is based on frames of a quality of at least 0.35', () => {
    const withQuality = (quality: number) => [...aged(270, 290, 300, 310), frame({ age: 330, quality })]
    assert.deepEqual(stated({}, withQuality(350)), [])
    assert.deepEqual(stated({}, withQuality(349)), IMPLAUSIBLE)
  })

  test('is based on at least five frames; fewer are inconclusive, and not suspicious', () => {
    assert.deepEqual(stated({ frames: 4, age: 300, spread: 16 }, aged(280, 290, 310, 320)), INCONCLUSIVE)
    assert.deepEqual(stated({ frames: 1 }, [frame()]), IMPLAUSIBLE)
  })

  test('is implausible when every frame has the same age', () => {
    assert.deepEqual(stated({ spread: 0 }, aged(300, 300, 300, 300, 300)), IMPLAUSIBLE)
    assert.deepEqual(stated({ spread: 0 }, aged(300, 300, 300, 300, 301)), [])
  })
})

describe('the estimate of the frames', () => {
  test('is cut to a tenth of a year and never rounded up', () => {
    assert.deepEqual(estimateOf(aged(...AGES)), { ageYears: 30, unstable: false })
    assert.deepEqual(estimateOf(aged(179, 180, 180)), { ageYears: 17.9, unstable: false })
    assert.deepEqual(estimateOf([frame()]), { ageYears: 0, unstable: false })
  })

  test('is unstable when the frames spread by more than six years', () => {
    assert.equal(estimateOf(aged(240, 360)).unstable, false)
    assert.equal(estimateOf(aged(239, 361)).unstable, true)
  })
})

describe('a measurement', () => {
  const limits: [Partial<CaptureFrame>, Partial<CaptureFrame>][] = [
    [{ yaw: 750 }, { yaw: 751 }],
    [{ yaw: -750 }, { yaw: -751 }],
    [{ pitch: 600 }, { pitch: 601 }],
    [{ pitch: -600 }, { pitch: -601 }],
    [{ roll: 600 }, { roll: 601 }],
    [{ roll: -600 }, { roll: -601 }],
    [{ size: 80 }, { size: 79 }],
    [{ size: 980 }, { size: 981 }],
    [{ age: 10 }, { age: 9 }],
    [{ age: 1100 }, { age: 1101 }],
  ]
  for (const [human, inhuman] of limits) {
    test(`of ${JSON.stringify(human)} is possible for a face, one of ${JSON.stringify(inhuman)} is not`, () => {
      assert.deepEqual(checkRanges([frame(), frame(human)]), [])
      assert.deepEqual(checkRanges([frame(), frame(inhuman)]), IMPLAUSIBLE)
    })
  }

  test('of the eyes shows them open at least once', () => {
    assert.deepEqual(checkRanges([frame({ eyes: 0 }), frame({ eyes: 120 })]), [])
    assert.deepEqual(checkRanges([frame({ eyes: 0 }), frame({ eyes: 119 })]), [{ failure: 'LIVENESS_INCONCLUSIVE' }])
  })
})

test('the passive check: below 0.3 a spoof, from 0.5 on a living person, between them another try', () => {
  for (const live of [0, 299]) assert.deepEqual(checkLive(live), [{ failure: 'SPOOF' }])
  for (const live of [300, 499]) assert.deepEqual(checkLive(live), INCONCLUSIVE)
  for (const live of [500, 1000]) assert.deepEqual(checkLive(live), [])
})
