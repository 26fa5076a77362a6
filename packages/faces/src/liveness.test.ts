import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStill, judgeLiveness, type LivenessSample, passiveInput, readPassive } from './liveness.ts'
import type { SeenFace } from './types.ts'

function sample({
  yaw = 0,
  pitch = 0,
  eyes = 1,
  size = 0.35,
  live = 0.9,
  sameness,
}: Partial<Record<'yaw' | 'pitch' | 'eyes' | 'size' | 'live' | 'sameness', number>>): LivenessSample {
  const face: SeenFace = {
    mesh: new Float32Array(),
    box: { x: 0, y: 0, width: 1, height: 1 },
    pose: { yaw, pitch, roll: 0 },
    eyes,
    size,
    quality: { score: 1, sharpness: 1, brightness: 0.5, signal: 0.4, contrast: 1, backlight: 1, frontal: 1, size: 1 },
    covered: null,
  }
  return { face, live, sameness }
}

/** A person at rest: a degree here and there. */
const AT_REST = [0, 0.8, -0.9, 0.3, 1.2, -0.4].map((yaw, n) =>
  sample({ yaw, pitch: yaw / 2, eyes: 0.95 + yaw / 40, size: 0.35 + yaw / 500, live: 0.8 + n / 50 }),
)

test('a person at rest is not a still', () => {
  assert.equal(isStill(AT_REST), false)
  const { live, still, samenessMin } = judgeLiveness(AT_REST)
  assert.equal(still, false)
  assert.ok(Math.abs(live - 0.85) < 1e-9)
  assert.equal(samenessMin, 1)
})

test('a picture that does not move at all is a still and not live, whatever the net says', () => {
  const still = Array.from({ length: 6 }, () => sample({ yaw: 3, live: 0.9999 }))
  assert.deepEqual(judgeLiveness(still), { live: 0, still: true, samenessMin: 1 })
})

test('the noise of a sensor does not bring a still to life', () => {
  const noise = [0.1, -0.3, 0.2, 0, -0.2, 0.25]
  const still = noise.map((part, n) =>
    sample({ yaw: 2 + part, pitch: -1 + (noise[(n + 2) % 6] ?? 0), eyes: 0.7 + part / 20, size: 0.2 + part / 500 }),
  )
  assert.equal(isStill(still), true)
})

test('with movement of any kind it is not a still', () => {
  for (const moved of [{ yaw: 2 }, { pitch: 2 }, { eyes: 0.9 }, { size: 0.36 }])
    assert.equal(isStill([sample({}), sample({}), sample({}), sample(moved)]), false, JSON.stringify(moved))
})

test('two samples are too few to tell', () => {
  assert.equal(isStill([sample({}), sample({})]), false)
})

test('another face among the samples is not live', () => {
  const swapped = [...AT_REST, sample({ yaw: 1, sameness: 0.1 })]
  assert.deepEqual(judgeLiveness(swapped), { live: 0, still: false, samenessMin: 0.1 })
})

test('samples that look into the camera decide, when there are any', () => {
  const turned = [25, -28, 30, 24].map((yaw) => sample({ yaw, live: 0.1, sameness: 0.6 }))
  assert.ok(judgeLiveness([...AT_REST.slice(0, 3), ...turned]).live > 0.8)
  assert.ok(Math.abs(judgeLiveness(turned).live - 0.1) < 1e-9)
})

test('one sample that the net misjudges does not decide', () => {
  assert.ok(judgeLiveness([...AT_REST, sample({ yaw: 0.5, live: 0.01 })]).live > 0.8)
})

test('the first of three classes is live', () => {
  const output = { output: { dims: [1, 3], data: Float32Array.of(2, 1, 0) } }
  const sum = Math.exp(2) + Math.exp(1) + 1
  assert.ok(Math.abs(readPassive(output) - Math.exp(2) / sum) < 1e-6)
})

test('the crop of the passive check is 1.5 times the face, blue first, unscaled values', () => {
  const picture = { width: 300, height: 300, data: new Uint8ClampedArray(300 * 300 * 4) }
  for (let n = 0; n < 300 * 300; n++) picture.data.set([10, 20, 30, 255], n * 4)
  const { dims, data } = passiveInput(picture, { x: 250, y: 100, width: 80, height: 100 })
  assert.deepEqual(dims, [1, 3, 128, 128])
  const plane = 128 * 128
  assert.deepEqual([data[64 * 128], data[plane + 64 * 128], data[2 * plane + 64 * 128]], [30, 20, 10])
  // The square of 150 pixels around 290 | 150 ends beyond the picture.
  assert.equal(data[64 * 128 + 127], 0)
})
