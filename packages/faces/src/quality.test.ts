import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALIGNED } from './embed.ts'
import { boxOf } from './geometry.ts'
import {
  detailOf,
  gradeBacklight,
  gradeBrightness,
  gradeContrast,
  gradeFrontal,
  gradeSharpness,
  measureQuality,
  USABLE_SCORE_MIN,
} from './quality.ts'
import type { Picture, Pose } from './types.ts'

const STRAIGHT: Pose = { yaw: 0, pitch: 0, roll: 0 }
const [WIDTH, HEIGHT] = [640, 480]
const SCALE = 2.2
const OFFSET = { x: 200, y: 90 }

/** A mesh of five points, as large as a face before a camera. */
function mesh(): Float32Array {
  const points = new Float32Array(468 * 3).fill(220)
  for (const [n, indices] of [[33, 133, 159, 145], [362, 263, 386, 374], [1], [61], [291]].entries())
    for (const index of indices) {
      const { x, y } = ALIGNED[n] ?? { x: 0, y: 0 }
      points.set([x * SCALE + OFFSET.x, y * SCALE + OFFSET.y, 0], index * 3)
    }
  points.set([OFFSET.x + 15 * SCALE, OFFSET.y + 15 * SCALE, 0], 10 * 3)
  points.set([OFFSET.x + 97 * SCALE, OFFSET.y + 110 * SCALE, 0], 152 * 3)
  return points
}

/** Shade by place: a face of soft spots with edges, on a plain ground. */
function draw(shade: (x: number, y: number) => number): Picture {
  const data = new Uint8ClampedArray(WIDTH * HEIGHT * 4)
  for (let y = 0; y < HEIGHT; y++)
    for (let x = 0, at = y * WIDTH * 4; x < WIDTH; x++, at += 4) data[at] = data[at + 1] = data[at + 2] = shade(x, y)
  return { width: WIDTH, height: HEIGHT, data }
}

const PERIODS = [9, 13, 21, 34, 55, 89]

/** One wave for each period along an axis; a blur (in pixels) takes away what is finer. */
function waves(length: number, blur: number, phase: number): Float64Array {
  return Float64Array.from({ length }, (_, at) =>
    PERIODS.reduce((sum, period) => {
      const kept = Math.exp(-2 * (Math.PI * (blur / period)) ** 2)
      return sum + kept * period ** 0.45 * Math.sin((2 * Math.PI * at) / period + phase * period)
    }, 0),
  )
}

const tables = new Map<number, readonly [Float64Array, Float64Array]>()

/** Spots of many sizes, as a face has them. */
function spots(x: number, y: number, blur = 0): number {
  const table = tables.get(blur) ?? [waves(WIDTH, blur, 0), waves(HEIGHT, blur, 1)]
  tables.set(blur, table)
  return (table[0][x] ?? 0) + (table[1][y] ?? 0)
}

const quality = (shade: (x: number, y: number) => number, pose = STRAIGHT) =>
  measureQuality({ picture: draw(shade), mesh: mesh(), box: boxOf(mesh()), pose })
const good = quality((x, y) => 130 + 1.5 * spots(x, y))

test('a sharp, evenly lit face that looks into the camera is good', () => {
  assert.ok(good.score > 0.8, JSON.stringify(good))
})

test('a blur lowers the score until the picture is of no use', () => {
  const scores = [0, 2, 3, 5].map((blur) => quality((x, y) => 130 + 1.5 * spots(x, y, blur)).score)
  for (const [index, score] of scores.entries()) if (index > 0) assert.ok(score <= (scores[index - 1] ?? 0))
  assert.ok((scores.at(-1) ?? 1) < USABLE_SCORE_MIN, scores.join())
})

test('noise does not make a blurred picture sharp', () => {
  const noisy = (x: number, y: number) => 130 + 1.5 * spots(x, y, 5) + ((x * 7919 + y * 104729 + x * y * 31) % 17) - 8
  assert.ok(quality(noisy).sharpness < 0.5)
})

test('how strong the contrast is makes no difference to how sharp it is', () => {
  const pale = quality((x, y) => 130 + 0.5 * spots(x, y))
  assert.ok(Math.abs(pale.sharpness - good.sharpness) < 0.15)
})

test('a plain surface has no detail', () => {
  assert.equal(detailOf(new Float32Array(112 * 112).fill(90)), 0)
  assert.equal(gradeSharpness(0), 0)
})

test('brightness is how light the face is, and both ends cost', () => {
  const dark = quality((x, y) => 15 + 0.2 * spots(x, y))
  assert.ok(dark.brightness < 0.08 && dark.score < USABLE_SCORE_MIN, JSON.stringify(dark))
  assert.ok(gradeBrightness(0.98) === 0 && gradeBrightness(0.5) === 1 && gradeBrightness(0.05) === 0)
})

test('skin of every shade is bright enough in ordinary light', () => {
  for (const brightness of [0.22, 0.35, 0.6, 0.8]) assert.equal(gradeBrightness(brightness), 1)
})

test('light behind the face counts against it only when the face is dark', () => {
  const { x, y, width, height } = boxOf(mesh())
  const isFace = (px: number, py: number) => px > x - width * 0.3 && px < x + width * 1.3 && py > y - height * 0.5
  const before = (shade: number, ground: number) =>
    quality((px, py) => (isFace(px, py) ? shade + 0.4 * spots(px, py) : ground))
  assert.ok(before(55, 250).backlight < 0.3)
  assert.equal(before(55, 60).backlight, 1)
  assert.equal(before(150, 250).backlight, 1)
  assert.equal(gradeBacklight(3, 0.5), 1)
})

test('a face half in the shade is worse than one that is evenly lit', () => {
  const middle = OFFSET.x + 56 * SCALE
  const halved = quality((x, y) => (x < middle ? 35 : 190) + 0.5 * spots(x, y))
  assert.ok(halved.contrast < good.contrast - 0.3)
  assert.ok(gradeContrast(0.02, 0) === 0)
})

test('a head that is turned away is worse the further it is turned', () => {
  const grades = [0, 15, 25, 40].map((yaw) => gradeFrontal({ ...STRAIGHT, yaw }))
  assert.deepEqual(
    grades,
    [...grades].sort((a, b) => b - a),
  )
  assert.equal(grades[0], 1)
  assert.equal(grades.at(-1), 0)
  assert.ok(gradeFrontal({ ...STRAIGHT, pitch: -30 }) < 0.5)
  assert.equal(gradeFrontal({ ...STRAIGHT, roll: 40 }), 1)
})

test('a face of few pixels is too small', () => {
  const small = mesh().map((value) => value * 0.15)
  const picture = draw((x, y) => 130 + 1.5 * spots(x, y))
  assert.equal(measureQuality({ picture, mesh: small, box: boxOf(small), pose: STRAIGHT }).size, 0)
  assert.equal(good.size, 1)
})
