import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNoise, createSway, lightUp } from './natural.ts'
import { AT_REST } from './script.ts'

const times = Array.from({ length: 300 }, (_, index) => index * 66)

test('the same seed sways the same way, another one otherwise', () => {
  const [one, same, other] = [createSway(3, 1), createSway(3, 1), createSway(4, 1)]
  assert.deepEqual(times.map(one), times.map(same))
  assert.notDeepEqual(times.map(one), times.map(other))
})

test('a living face moves by more than a still and less than a movement', () => {
  const stances = times.map(createSway(3, 1))
  for (const name of ['yaw', 'pitch'] as const) {
    const values = stances.map((stance) => stance[name])
    const range = Math.max(...values) - Math.min(...values)
    assert.ok(range > 1 && range < 6, `${name} ranges over ${range} degrees`)
  }
})

test('the picture always fills the frame and eyes are never wider than in the portrait', () => {
  for (const { zoom, eyes } of times.map(createSway(9, 1))) {
    assert.ok(zoom >= 1)
    assert.ok(eyes > 0.8 && eyes <= 1)
  }
})

test('a photograph does not move', () => {
  assert.ok(times.map(createSway(3, 0)).every((stance) => stance === AT_REST))
})

test('the sensor adds noise of the asked strength, another in each frame', () => {
  const addNoise = createNoise(1, 4)
  const frames = [0, 1].map((frame) => {
    const values = new Uint8ClampedArray(20_000).fill(128)
    addNoise(values, 1, frame)
    return values
  })
  const [first, second] = frames
  assert.ok(first && second)
  assert.notDeepEqual(first, second)
  const mean = first.reduce((sum, value) => sum + value, 0) / first.length
  const deviation = Math.sqrt(first.reduce((sum, value) => sum + (value - mean) ** 2, 0) / first.length)
  assert.ok(Math.abs(mean - 128) < 0.2, `mean ${mean}`)
  assert.ok(Math.abs(deviation - 4) < 0.3, `deviation ${deviation}`)
})

test('no noise leaves the picture alone', () => {
  const values = new Uint8ClampedArray(100).fill(77)
  createNoise(1, 0)(values, 1, 0)
  assert.ok(values.every((value) => value === 77))
})

test('less light darkens colours and leaves the picture opaque', () => {
  const picture = { width: 1, height: 1, data: Uint8ClampedArray.from([200, 100, 50, 255]) }
  lightUp(picture, 0.1)
  assert.deepEqual([...picture.data], [20, 10, 5, 255])
})
