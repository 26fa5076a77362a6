import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALIGNED, EMBEDDING } from './embed.ts'
import type { Picture, Point } from './types.ts'

/** A mesh that has only the five points, each eye's four in one place. */
function meshOf(five: readonly Point[]): Float32Array {
  const mesh = new Float32Array(468 * 3)
  for (const [n, indices] of [[33, 133, 159, 145], [362, 263, 386, 374], [1], [61], [291]].entries())
    for (const index of indices) mesh.set([five[n]?.x ?? 0, five[n]?.y ?? 0, 0], index * 3)
  return mesh
}

/** Red at `point`, and a little around it. */
function dotted(width: number, height: number, point: Point): Picture {
  const data = new Uint8ClampedArray(width * height * 4)
  for (let y = -2; y <= 2; y++)
    for (let x = -2; x <= 2; x++) data[((Math.round(point.y) + y) * width + Math.round(point.x) + x) * 4] = 255
  return { width, height, data }
}

test('FACE3_3 sees every point of the five where it was trained to', () => {
  const five = ALIGNED.map(({ x, y }) => ({ x: x * 3 + 40, y: y * 3 + 20 }))
  for (const [index, point] of five.entries()) {
    const { size, data } = EMBEDDING.FACE3_3.crop(dotted(500, 400, point), meshOf(five))
    const { x, y } = ALIGNED[index] ?? { x: 0, y: 0 }
    assert.ok((data[(Math.round(y) * size + Math.round(x)) * 3] ?? 0) > 100, `point ${index}`)
  }
})

test('FACE3_3 is fed blue first and centred, FACE3_1 red first and raw', () => {
  const blue = { size: 1, data: Float32Array.of(0, 127.5, 255) }
  assert.deepEqual([...EMBEDDING.FACE3_3.input(blue).data], [127.5 / 128, 0, -127.5 / 128])
  assert.deepEqual([...EMBEDDING.FACE3_1.input(blue).data], [0, 127.5, 255])
})

test('FACE3_1 puts the middle of eyes and mouth above the middle', () => {
  const five = [
    { x: 200, y: 150 },
    { x: 300, y: 150 },
    { x: 250, y: 200 },
    { x: 220, y: 250 },
    { x: 280, y: 250 },
  ]
  const middle = { x: 250, y: (150 + 150 + 250) / 3 }
  const { size, data } = EMBEDDING.FACE3_1.crop(dotted(500, 400, middle), meshOf(five))
  assert.equal(size, 150)
  assert.ok((data[(Math.round(150 * 0.43) * size + 75) * 3] ?? 0) > 100)
})

test('FACE3_3 has length 1, FACE3_1 is left as its net gives it', () => {
  const outputs = { any: { dims: [1, 2], data: Float32Array.of(3, 4) } }
  assert.deepEqual([...EMBEDDING.FACE3_3.read(outputs)], [...Float32Array.of(0.6, 0.8)])
  assert.deepEqual([...EMBEDDING.FACE3_1.read(outputs)], [3, 4])
  assert.throws(() => EMBEDDING.FACE3_1.read({ ...outputs, more: outputs.any }), /exactly one/)
})
