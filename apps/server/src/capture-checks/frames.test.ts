import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CaptureFrame } from '@ostiary/contract'
import { checkFrameTimes, checkRepeats, checkStillness } from './frames.ts'

const SAMPLES = [200, 600, 1000, 1120, 1600, 2000, 2400, 2800, 3200, 3600]
const DELAYS = [3, 17, 40, 8, 21, 33, 5, 12, 29, 14]

const frameAt = (t: number, more: Partial<CaptureFrame> = {}): CaptureFrame => ({
  t,
  yaw: t % 37,
  pitch: t % 23,
  roll: t % 7,
  eyes: 700 + (t % 41),
  size: 400 + (t % 13),
  quality: 800,
  digest: String(t).padStart(11, '0'),
  ...more,
})
const taken = (times: readonly number[]) => times.map((t) => frameAt(t))
const GOOD = SAMPLES.map((sample, index) => sample + (DELAYS[index] ?? 0))
const timesOf = (times: readonly number[]) => checkFrameTimes(taken(times), SAMPLES)

const FOREIGN = [{ flag: 'BH_CHALLENGE_MISMATCH', failure: 'VIDEO_SPOOF' }]
const TOO_FEW = [{ failure: 'LIVENESS_INCONCLUSIVE' }]

describe('the times of the frames', () => {
  test('are the sample times of the challenge, each a little later', () => {
    assert.deepEqual(timesOf(GOOD), [])
  })

  test('rise from frame to frame', () => {
    assert.deepEqual(timesOf(GOOD.with(1, GOOD[2] ?? 0).with(2, GOOD[1] ?? 0)), FOREIGN)
    assert.deepEqual(timesOf(GOOD.with(2, 1128).with(3, 1128)), FOREIGN)
  })

  test('are at most 250 ms after their sample time and 70 before it', () => {
    assert.deepEqual(timesOf(GOOD.with(9, 3850)), [])
    assert.deepEqual(timesOf(GOOD.with(9, 3851)), FOREIGN)
    assert.deepEqual(checkFrameTimes(taken(GOOD.with(9, 3930)), SAMPLES.with(9, 4000)), [])
    assert.deepEqual(checkFrameTimes(taken(GOOD.with(9, 3929)), SAMPLES.with(9, 4000)), FOREIGN)
  })

  test('belong to one sample time each, never two frames to the same', () => {
    assert.deepEqual(timesOf([...GOOD, 3700]), FOREIGN)
    assert.deepEqual(timesOf([...GOOD, 3700].filter((t) => t !== 3229)), FOREIGN)
    // The frames are close to each other, but each has a sample of its own.
    assert.deepEqual(timesOf(GOOD.with(2, 1130).with(3, 1140)), [])
  })

  test('may be missing for a fifth of the samples, and no more', () => {
    assert.deepEqual(timesOf(GOOD.toSpliced(4, 2)), [])
    assert.deepEqual(timesOf(GOOD.toSpliced(4, 3)), TOO_FEW)
    assert.deepEqual(timesOf([]), TOO_FEW)
  })

  test('are at least five, even if the challenge has fewer samples', () => {
    assert.deepEqual(checkFrameTimes(taken(GOOD.slice(0, 4)), SAMPLES.slice(0, 4)), TOO_FEW)
    assert.deepEqual(checkFrameTimes(taken(GOOD.slice(0, 5)), SAMPLES.slice(0, 5)), [])
  })

  test('do not all have the same delay; a single different delay is enough for a camera', () => {
    for (const delay of [0, 1, 130, 249, -69]) {
      const regular = SAMPLES.map((sample) => sample + delay)
      assert.deepEqual(timesOf(regular), [{ flag: 'BH_FPS_SYNTHETIC' }], String(delay))
      assert.deepEqual(timesOf(regular.toSpliced(3, 1)), [{ flag: 'BH_FPS_SYNTHETIC' }])
      assert.deepEqual(timesOf(regular.with(5, (regular[5] ?? 0) - 1)), [])
    }
  })
})

describe('a picture that comes twice', () => {
  const REPEATED = [{ flag: 'BH_FRAMES_REPEAT', failure: 'VIDEO_SPOOF' }]
  const frames = taken(GOOD)
  const [first = frameAt(0)] = frames

  test('is recognised by its digest at any place', () => {
    assert.deepEqual(checkRepeats(frames), [])
    assert.deepEqual(checkRepeats(frames.with(1, { ...frameAt(617), digest: first.digest })), REPEATED)
    assert.deepEqual(checkRepeats(frames.with(9, { ...frameAt(3614), digest: first.digest })), REPEATED)
  })

  test('is recognised by its measurements when its digest was changed', () => {
    const copy = { ...first, t: 3614, digest: 'another-one' }
    const twice = frames.with(8, { ...copy, t: 3229, digest: 'one-more-one' })
    assert.deepEqual(checkRepeats(twice.with(9, copy)), REPEATED)
    assert.deepEqual(checkRepeats(frames.with(9, copy)), TOO_FEW, 'once can be chance, and costs a try')
    for (const part of ['yaw', 'pitch', 'roll', 'eyes', 'size', 'quality'] as const) {
      assert.deepEqual(checkRepeats(frames.with(9, { ...copy, [part]: copy[part] + 1 })), [], part)
    }
  })

  test('is not reported as a repeat when the whole capture is a still picture', () => {
    const still = GOOD.map((t) => frameAt(t, { yaw: 1, pitch: 2, roll: 3, eyes: 700, size: 400 }))
    assert.deepEqual(checkRepeats(still), [])
    assert.deepEqual(checkStillness(still), [{ flag: 'BH_FRAMES_STATIC', failure: 'SPOOF' }])
  })
})

test('all measurements of a still picture hardly change; if one changes, it is not a still picture', () => {
  const still = (more: Partial<CaptureFrame>) =>
    checkStillness([
      frameAt(203, { yaw: 0, pitch: 0, eyes: 700, size: 400 }),
      frameAt(617, { yaw: 9, pitch: 9, eyes: 739, size: 409, ...more }),
    ])
  assert.deepEqual(still({}), [{ flag: 'BH_FRAMES_STATIC', failure: 'SPOOF' }])
  assert.deepEqual(still({ yaw: 10 }), [])
  assert.deepEqual(still({ pitch: 10 }), [])
  assert.deepEqual(still({ eyes: 740 }), [])
  assert.deepEqual(still({ size: 410 }), [])
  assert.deepEqual(still({ roll: 300, quality: 100 }), [{ flag: 'BH_FRAMES_STATIC', failure: 'SPOOF' }])
})
