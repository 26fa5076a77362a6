import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Picture } from './types.ts'
import { mirrored, toGrey, toTensor, warp } from './warp.ts'

/** A picture whose red grows to the right and whose green grows downwards, one step a pixel. */
function ramp(width: number, height: number): Picture {
  const data = new Uint8ClampedArray(width * height * 4)
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) data.set([x, y, 7, 255], (y * width + x) * 4)
  return { width, height, data }
}

const IDENTITY = { a: 1, b: 0, dx: 0, dy: 0 }

test('the identity copies a picture', () => {
  const crop = warp(ramp(8, 8), IDENTITY, 8)
  for (let y = 0; y < 8; y++)
    for (let x = 0; x < 8; x++)
      assert.deepEqual([...crop.data.subarray((y * 8 + x) * 3, (y * 8 + x) * 3 + 3)], [x, y, 7])
})

test('between pixels the values lie between', () => {
  const crop = warp(ramp(16, 16), { a: 1, b: 0, dx: -2.25, dy: -3.5 }, 4)
  assert.deepEqual([...crop.data.subarray(0, 3)], [2.25, 3.5, 7])
})

test('a quarter turn brings the right side down', () => {
  // x' = -y + 7, y' = x: a turn by 90 degrees, clockwise as it is drawn.
  const crop = warp(ramp(8, 8), { a: 0, b: 1, dx: 7, dy: 0 }, 8)
  const at = (x: number, y: number) => [...crop.data.subarray((y * 8 + x) * 3, (y * 8 + x) * 3 + 2)]
  assert.deepEqual(at(7, 0), [0, 0])
  assert.deepEqual(at(7, 7), [7, 0])
  assert.deepEqual(at(0, 7), [7, 7])
})

test('outside the picture it is black', () => {
  const white: Picture = { width: 4, height: 4, data: new Uint8ClampedArray(64).fill(255) }
  const crop = warp(white, { a: 1, b: 0, dx: 4, dy: 0 }, 8)
  const red = (x: number, y: number) => crop.data[(y * 8 + x) * 3]
  assert.equal(red(2, 0), 0)
  assert.equal(red(4, 0), 255)
  assert.equal(red(7, 3), 255)
  assert.equal(red(7, 4), 0)
})

for (const scale of [0.45, 0.3, 0.2, 0.1])
  test(`made smaller by ${scale}, every pixel still lies where it belongs`, () => {
    const crop = warp(ramp(200, 200), { a: scale, b: 0, dx: 0, dy: 0 }, 18)
    for (const [x, y] of [
      [3, 5],
      [9, 9],
      [14, 11],
    ] as const) {
      const at = (y * 18 + x) * 3
      assert.ok(Math.abs((crop.data[at] ?? 0) - x / scale) < 0.51, `${crop.data[at]} at ${x}`)
      assert.ok(Math.abs((crop.data[at + 1] ?? 0) - y / scale) < 0.51, `${crop.data[at + 1]} at ${y}`)
    }
  })

test('made much smaller, fine stripes become grey instead of one of the two', () => {
  const stripes: Picture = { width: 120, height: 120, data: new Uint8ClampedArray(120 * 120 * 4) }
  for (let n = 0; n < 120 * 120; n++) stripes.data.fill((n % 120) % 2 === 0 ? 0 : 200, n * 4, n * 4 + 4)
  const crop = warp(stripes, { a: 0.25, b: 0, dx: 0, dy: 0 }, 30)
  for (let x = 2; x < 28; x++) assert.ok(Math.abs((crop.data[(10 * 30 + x) * 3] ?? 0) - 100) < 1)
})

test('a face at the edge of a large picture is cut out where it is', () => {
  const crop = warp(ramp(250, 250), { a: 0.4, b: 0, dx: -80, dy: -80 }, 30)
  // Crop pixel 10 is picture pixel (10 + 80) / 0.4.
  assert.ok(Math.abs((crop.data[(10 * 30 + 10) * 3] ?? 0) - 225) < 0.51)
  assert.equal(crop.data[(10 * 30 + 29) * 3], 0)
})

test('the mirror image of the mirror image is the picture', () => {
  const crop = warp(ramp(5, 5), IDENTITY, 5)
  assert.deepEqual([...mirrored(crop).data.subarray(0, 3)], [4, 0, 7])
  assert.deepEqual(mirrored(mirrored(crop)), crop)
})

test('a tensor has its channels where the net wants them', () => {
  const crop = { size: 2, data: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) }
  const form = { mean: [0, 0, 0], scale: 1 } as const
  assert.deepEqual(
    [...toTensor(crop, { ...form, layout: 'NHWC', order: 'BGR' }).data],
    [3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10],
  )
  const planes = toTensor(crop, { ...form, layout: 'NCHW', order: 'RGB' })
  assert.deepEqual([...planes.data], [1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12])
  assert.deepEqual(planes.dims, [1, 3, 2, 2])
})

test('means are taken off in the order of the channels, then the scale is applied', () => {
  const crop = { size: 1, data: Float32Array.of(10, 20, 30) }
  const { data } = toTensor(crop, { layout: 'NHWC', order: 'BGR', mean: [30, 10, 0], scale: 0.5 })
  assert.deepEqual([...data], [0, 5, 5])
})

test('two crops make one batch, one after the other', () => {
  const one = { size: 1, data: Float32Array.of(1, 2, 3) }
  const two = { size: 1, data: Float32Array.of(4, 5, 6) }
  const batch = toTensor([one, two], { layout: 'NCHW', order: 'RGB', mean: [0, 0, 0], scale: 1 })
  assert.deepEqual(batch, { dims: [2, 3, 1, 1], data: Float32Array.of(1, 2, 3, 4, 5, 6) })
})

test('grey weighs green most and blue least', () => {
  const grey = toGrey({ size: 2, data: Float32Array.of(255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255) })
  assert.deepEqual([...grey].map(Math.round), [76, 150, 29, 255])
})
