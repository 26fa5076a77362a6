import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Picture } from '@ostiary/faces'
import { besides, blurred, buildStage, placeFace } from './stage.ts'

function picture(width: number, height: number, colour: (x: number, y: number) => [number, number, number]): Picture {
  const data = new Uint8ClampedArray(width * height * 4)
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) data.set([...colour(column, row), 255], (row * width + column) * 4)
  }
  return { width, height, data }
}

const redAt = ({ width, data }: Picture, x: number, y: number) => data[(y * width + x) * 4]
const waves = picture(64, 64, (x, y) => [128 + 100 * Math.sin(x / 4), 128 + 100 * Math.cos(y / 5), 90])

test('the face comes into the middle, in a good size', () => {
  const placement = placeFace({ x: 100, y: 50, width: 90, height: 110 }, { width: 640, height: 480 })
  assert.equal(145 * placement.scale + placement.x, 320)
  assert.equal(105 * placement.scale + placement.y, 0.48 * 480)
  const share = (90 * placement.scale) / 640
  assert.ok(share > 0.28 && share < 0.4, `the face takes ${share} of the width`)
})

test('a portrait that is neither moved nor scaled is on the stage as it is', () => {
  const { picture: stage } = buildStage(waves, { placement: { scale: 1, x: 0, y: 0 }, size: { width: 64, height: 64 } })
  assert.deepEqual(stage.data, waves.data)
})

test('a larger stage shows the portrait where it was placed and the wall further out', () => {
  const { picture: stage, empty } = buildStage(waves, {
    placement: { scale: 1, x: 168, y: 20 },
    size: { width: 400, height: 100 },
  })
  assert.equal(redAt(stage, 168 + 30, 20 + 30), redAt(waves, 30, 30))
  assert.equal(redAt(stage, 2, 50), redAt(empty, 2, 50))
  assert.ok(stage.data.every((value, at) => at % 4 !== 3 || value === 255))
})

test('an enlarged portrait keeps its colours', () => {
  const { picture: stage } = buildStage(waves, {
    placement: { scale: 2, x: 0, y: 0 },
    size: { width: 128, height: 128 },
  })
  for (const at of [20, 50, 90]) {
    const expected = 128 + 100 * Math.sin((at / 2 - 0.25) / 4)
    assert.ok(Math.abs((redAt(stage, at, 60) ?? 0) - expected) < 4)
  }
})

test('a portrait made smaller is averaged, not picked from', () => {
  const grain = picture(200, 200, (x, y) => ((x + y) % 2 ? [255, 255, 255] : [0, 0, 0]))
  const { picture: stage } = buildStage(grain, {
    placement: { scale: 0.3, x: 0, y: 0 },
    size: { width: 60, height: 60 },
  })
  assert.ok(Math.abs((redAt(stage, 30, 30) ?? 0) - 127) < 3)
})

test('blur takes the edges and leaves the brightness', () => {
  const edge = picture(60, 40, (x) => (x < 30 ? [0, 0, 0] : [200, 200, 200]))
  const soft = blurred(edge, 4)
  assert.ok(Math.abs((redAt(soft, 30, 20) ?? 0) - 105) < 10)
  assert.equal(redAt(soft, 0, 20), 0)
  assert.equal(redAt(soft, 59, 20), 200)
  assert.equal(blurred(edge, 0), edge)
})

test('two pictures stand side by side', () => {
  const both = besides(
    picture(3, 2, () => [1, 1, 1]),
    picture(2, 2, () => [2, 2, 2]),
  )
  assert.equal(both.width, 5)
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((x) => redAt(both, x, 1)),
    [1, 1, 1, 2, 2],
  )
})
