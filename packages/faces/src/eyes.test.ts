import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BothEyes, eyeAspects, eyeInputs, openness, readShut } from './eyes.ts'

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
  for (const aspect of eyeAspects(mesh(12))) assert.ok(Math.abs(aspect - 0.3) < 1e-6)
  assert.deepEqual(eyeAspects(mesh(0)), [0, 0])
})

test('a face without width has no aspect', () => {
  assert.deepEqual(eyeAspects(new Float32Array(468 * 3)), [0, 0])
})

/** White from `x` on to the right. */
function whiteFrom(x: number) {
  const picture = { width: 300, height: 200, data: new Uint8ClampedArray(300 * 200 * 4).fill(0) }
  for (let y = 0; y < 200; y++) picture.data.fill(255, (y * 300 + x) * 4, (y * 300 + 300) * 4)
  return picture
}

test('each eye is cut out of its place, grey, from 0 to 1', () => {
  // Only the eye on the right of the picture lies on white.
  const both = eyeInputs(whiteFrom(150), mesh(12), [1.3, 1.9])
  for (const [side, inputs] of both.entries()) {
    assert.equal(inputs.length, 4)
    for (const { dims, data } of inputs) {
      assert.deepEqual(dims, [1, 1, 24, 24])
      assert.ok(data.every((value) => Math.abs(value - side) < 1e-6))
    }
  }
})

test('each eye is looked at as it is, and mirrored', () => {
  // White begins in the middle of the eye on the left.
  const [[asItIs, inTheMirror]] = eyeInputs(whiteFrom(100), mesh(12), [1.6])
  assert.deepEqual([asItIs?.data[2], inTheMirror?.data[21]], [0, 0])
  assert.ok((asItIs?.data[21] ?? 0) > 0.99 && (inTheMirror?.data[2] ?? 0) > 0.99)
})

test('the first of the two numbers is evidence for a shut eye, and the evidence of one look is at most four', () => {
  const shut = (first: number, second: number) =>
    readShut({ output: { dims: [1, 2], data: Float32Array.of(first, second) } })
  assert.equal(shut(2, 0.5), 1.5)
  assert.equal(shut(0.5, 2), -1.5)
  assert.equal(shut(20, -20), 4)
  assert.equal(shut(-20, 20), -4)
})

const open6 = [-4, -4, -4, -4, -4, -4]
const shut6 = [4, 4, 4, 4, 4, 4]
const seen = (shut: BothEyes<readonly number[]>, aspect: number, yaw = 0) =>
  openness({ shut, aspects: [aspect, aspect], yaw })
const OPEN = [open6, open6] as const
const SHUT = [shut6, shut6] as const
const LEFT_SHUT = [shut6, open6] as const
const RIGHT_SHUT = [open6, shut6] as const
const open = seen(OPEN, 0.3)

test('open eyes are near 1 and never above', () => {
  assert.ok(open > 0.85)
  assert.ok(seen(OPEN, 0.6) <= 1)
})

test('shut eyes fall far below a third of open ones, even when the mesh closes its lids only halfway', () => {
  assert.ok(seen(SHUT, 0.19) < open * 0.25)
})

test('one wrong look at each eye neither shuts open eyes nor hides a blink', () => {
  const but = (looks: readonly number[], wrong: number) => [wrong, ...looks.slice(1)]
  assert.ok(seen([but(open6, 4), but(open6, 4)], 0.3) > open * 0.8)
  assert.ok(seen([but(shut6, -4), but(shut6, -4)], 0.2) < open * 0.35)
})

test('the better eye counts, so an eye patch is neither shut eyes nor a blink', () => {
  for (const patched of [LEFT_SHUT, RIGHT_SHUT]) assert.ok(Math.abs(seen(patched, 0.3) - open) < 1e-9)
  assert.ok(seen(SHUT, 0.2) < seen(LEFT_SHUT, 0.3) * 0.35, 'a blink with the other eye')
})

test('of two eyes the mesh may see one narrower', () => {
  assert.ok(Math.abs(openness({ shut: OPEN, aspects: [0.1, 0.3], yaw: 0 }) - open) < 1e-9)
})

test('open eyes that the net takes for shut keep some openness, and it still falls when they close', () => {
  const mistaken = seen(SHUT, 0.3)
  assert.ok(mistaken >= 0.15)
  assert.ok(seen(SHUT, 0.1) < mistaken * 0.35)
})

test('of a turned head only the nearer eye counts', () => {
  assert.ok(Math.abs(seen(RIGHT_SHUT, 0.3, 30) - open) < 1e-9)
  assert.ok(Math.abs(seen(LEFT_SHUT, 0.3, -35) - open) < 1e-9)
  assert.ok(seen(LEFT_SHUT, 0.3, 30) < open * 0.35)
  assert.ok(seen(LEFT_SHUT, 0.3, 10) > open * 0.99, 'hardly turned')
})
