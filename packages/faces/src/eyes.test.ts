import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eyeAspect, eyeInputs, openness, readShut } from './eyes.ts'

/** Two eyes 40 wide, the lids `gap` apart. */
function mesh(gap: number): Float32Array {
  const points = new Float32Array(468 * 3)
  const put = (index: number, x: number, y: number) => points.set([x, y, 0], index * 3)
  for (const [middle, outer, inner, upper, lower] of [
    [100, 33, 133, [159, 158], [145, 153]],
    [200, 263, 362, [386, 385], [374, 380]],
  ] as const) {
    put(outer, middle - 20, 100)
    put(inner, middle + 20, 100)
    for (const index of upper) put(index, middle, 100 - gap / 2)
    for (const index of lower) put(index, middle, 100 + gap / 2)
  }
  return points
}

test('the aspect of an eye is its height by its width', () => {
  assert.ok(Math.abs(eyeAspect(mesh(12)) - 0.3) < 1e-6)
  assert.equal(eyeAspect(mesh(0)), 0)
})

test('a face without width has no aspect', () => {
  assert.equal(eyeAspect(new Float32Array(468 * 3)), 0)
})

test('each eye is cut out of its place, grey, from 0 to 1', () => {
  const picture = { width: 300, height: 200, data: new Uint8ClampedArray(300 * 200 * 4).fill(0) }
  // Only the eye on the right of the picture lies on white.
  for (let y = 0; y < 200; y++) picture.data.fill(255, (y * 300 + 150) * 4, (y * 300 + 300) * 4)
  const [left, right] = eyeInputs(picture, mesh(12))
  assert.deepEqual(left.dims, [1, 1, 24, 24])
  assert.ok(left.data.every((value) => value === 0))
  assert.ok(right.data.every((value) => Math.abs(value - 1) < 1e-6))
})

test('the eye on the left is mirrored, because the net knows shut eyes better from the other side', () => {
  const picture = { width: 300, height: 200, data: new Uint8ClampedArray(300 * 200 * 4).fill(0) }
  // White begins in the middle of the eye on the left.
  for (let y = 0; y < 200; y++) picture.data.fill(255, (y * 300 + 100) * 4, (y * 300 + 300) * 4)
  const [left] = eyeInputs(picture, mesh(12))
  assert.ok((left.data[2] ?? 0) > 0.99)
  assert.equal(left.data[21], 0)
})

test('the first of the two numbers speaks for a shut eye', () => {
  const shut = (first: number, second: number) =>
    readShut({ output: { dims: [1, 2], data: Float32Array.of(first, second) } })
  assert.ok(shut(4, -4) > 0.999)
  assert.ok(shut(-4, 4) < 0.001)
  assert.equal(shut(1, 1), 0.5)
})

const seen = (shut: readonly [number, number], aspect: number, yaw = 0) => openness({ shut, aspect, yaw })
const open = seen([0.02, 0.03], 0.3)

test('open eyes are near 1 and never above', () => {
  assert.ok(open > 0.8)
  assert.ok(seen([0, 0], 0.6) <= 1)
})

test('shut eyes fall far below a third of open ones, even when the mesh closes its lids only halfway', () => {
  assert.ok(seen([0.97, 0.99], 0.19) < open * 0.25)
})

test('one eye about which the net is wrong does not hide a blink', () => {
  assert.ok(seen([0.97, 0.02], 0.2) < open * 0.35)
})

test('open eyes that the net takes for shut can still be told from nothing, and still close', () => {
  const mistaken = seen([1, 1], 0.3)
  assert.ok(mistaken >= 0.15)
  assert.ok(seen([1, 1], 0.1) < mistaken * 0.35)
})

test('of a head that is turned the nearer eye counts', () => {
  assert.ok(Math.abs(seen([0, 1], 0.3, 30) - seen([0, 0], 0.3)) < 1e-9)
  assert.ok(Math.abs(seen([1, 0], 0.3, -35) - seen([0, 0], 0.3)) < 1e-9)
  assert.ok(seen([1, 0], 0.3, 30) < open * 0.35)
})
