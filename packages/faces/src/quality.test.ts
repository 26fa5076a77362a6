import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALIGNED } from './embed.ts'
import { boxOf } from './geometry.ts'
import {
  detailOf,
  gradeBacklight,
  gradeContrast,
  gradeFrontal,
  gradeGlare,
  gradeSharpness,
  gradeSignal,
  measureQuality,
  USABLE_SCORE_MIN,
} from './quality.ts'
import type { Picture, Pose } from './types.ts'

const STRAIGHT: Pose = { yaw: 0, pitch: 0, roll: 0 }
const [WIDTH, HEIGHT] = [640, 480]
const SCALE = 2.2
const OFFSET = { x: 200, y: 90 }

const POINT_COUNT = 468
/** The points of the mesh that faces are aligned by, in the order of ALIGNED: both eyes (corners and lids), nose, corners of the mouth. */
const ALIGNED_POINTS = [[33, 133, 159, 145], [362, 263, 386, 374], [1], [61], [291]]
const FOREHEAD = 10
const CHIN = 152

/** From a place in the aligned face (112 pixels wide) to the larger face in the picture. */
const placed = (x: number, y: number) => [x * SCALE + OFFSET.x, y * SCALE + OFFSET.y, 0]

/**
 * A mesh as large as a face before a camera. Only the points that the code reads are at their places: those for the alignment, and two that
 * span the box. All others are in the middle of the face.
 */
function mesh(): Float32Array {
  const points = new Float32Array(POINT_COUNT * 3)
  for (let index = 0; index < POINT_COUNT; index++) points.set(placed(56, 60), index * 3)
  for (const [n, { x, y }] of ALIGNED.entries())
    for (const index of ALIGNED_POINTS[n] ?? []) points.set(placed(x, y), index * 3)
  points.set(placed(15, 15), FOREHEAD * 3)
  points.set(placed(97, 110), CHIN * 3)
  return points
}

/** The grey level of a pixel: 0 is black, 255 is white. */
type GreyAt = (x: number, y: number) => number

function draw(greyAt: GreyAt): Picture {
  const data = new Uint8ClampedArray(WIDTH * HEIGHT * 4)
  for (let y = 0; y < HEIGHT; y++)
    for (let x = 0, at = y * WIDTH * 4; x < WIDTH; x++, at += 4) data[at] = data[at + 1] = data[at + 2] = greyAt(x, y)
  return { width: WIDTH, height: HEIGHT, data }
}

const PERIODS = [9, 13, 21, 34, 55, 89]

/** A sum of sine waves along an axis. A Gaussian blur (sigma in pixels) weakens the short periods most. */
function waves(length: number, blur: number, phase: number): Float64Array {
  return Float64Array.from({ length }, (_, at) =>
    PERIODS.reduce((sum, period) => {
      const gain = Math.exp(-2 * (Math.PI * (blur / period)) ** 2)
      return sum + gain * period ** 0.45 * Math.sin((2 * Math.PI * at) / period + phase * period)
    }, 0),
  )
}

const wavesByBlur = new Map<number, readonly [Float64Array, Float64Array]>()

/** Detail of many sizes, as a face has it; positive and negative grey levels around 0. */
function detail(x: number, y: number, blur = 0): number {
  const [across, down] = wavesByBlur.get(blur) ?? [waves(WIDTH, blur, 0), waves(HEIGHT, blur, 1)]
  wavesByBlur.set(blur, [across, down])
  return (across[x] ?? 0) + (down[y] ?? 0)
}

const quality = (greyAt: GreyAt, pose = STRAIGHT) =>
  measureQuality({ picture: draw(greyAt), mesh: mesh(), box: boxOf(mesh()), pose })
const good = quality((x, y) => 130 + 1.5 * detail(x, y))

test('a sharp, evenly lit face that looks into the camera is good', () => {
  assert.ok(good.score > 0.8, JSON.stringify(good))
})

test('a blur lowers the score until the picture is of no use', () => {
  const scores = [0, 2, 3, 5].map((blur) => quality((x, y) => 130 + 1.5 * detail(x, y, blur)).score)
  for (const [index, score] of scores.entries()) if (index > 0) assert.ok(score <= (scores[index - 1] ?? 0))
  assert.ok((scores.at(-1) ?? 1) < USABLE_SCORE_MIN, scores.join())
})

test('noise does not make a blurred picture sharp', () => {
  const noisy = (x: number, y: number) => 130 + 1.5 * detail(x, y, 5) + ((x * 7919 + y * 104729 + x * y * 31) % 17) - 8
  assert.ok(quality(noisy).sharpness < 0.5)
})

test('a low contrast hardly changes the sharpness', () => {
  const lowContrast = quality((x, y) => 130 + 0.5 * detail(x, y))
  assert.ok(Math.abs(lowContrast.sharpness - good.sharpness) < 0.15)
})

test('a plain surface has no detail', () => {
  assert.equal(detailOf(new Float32Array(112 * 112).fill(90)), 0)
  assert.equal(gradeSharpness(0), 0)
})

test('brightness is the mean grey level of the face, and glare is graded 0', () => {
  const dark = quality((x, y) => 15 + 0.2 * detail(x, y))
  assert.ok(dark.brightness < 0.08, JSON.stringify(dark))
  assert.ok(gradeGlare(0.98) === 0 && gradeGlare(0.8) === 1)
})

test('a face with hardly any differences between light and dark is of no use, however bright it is', () => {
  for (const brightness of [15, 60, 130]) {
    const flat = quality((x, y) => brightness + 0.12 * detail(x, y))
    assert.ok(flat.signal < 0.06 && flat.score < USABLE_SCORE_MIN, JSON.stringify(flat))
  }
  assert.ok(gradeSignal(0.03) === 0 && gradeSignal(0.2) === 1)
})

test('equal differences count alike on a dark and on a light face', () => {
  const [dark, light] = [60, 150].map((brightness) => quality((x, y) => brightness + 1.8 * detail(x, y)))
  assert.ok(dark && light && Math.abs(dark.signal - light.signal) < 0.03)
  assert.ok(dark.score > 0.8 && light.score > 0.8, JSON.stringify([dark, light]))
})

test('a bright background lowers the backlight grade only if it leaves the face without differences', () => {
  const { x, y, width, height } = boxOf(mesh())
  const isFace = (px: number, py: number) => px > x - width * 0.3 && px < x + width * 1.3 && py > y - height * 0.5
  const backlightGrade = (face: number, background: number, differences = 0.4) =>
    quality((px, py) => (isFace(px, py) ? face + differences * detail(px, py) : background)).backlight
  const noFault = 1
  assert.ok(backlightGrade(55, 250) < 0.3)
  assert.equal(backlightGrade(55, 60), noFault)
  assert.equal(backlightGrade(150, 250), noFault)
  assert.equal(backlightGrade(70, 250, 2.2), noFault, 'dark skin in good light')
  assert.equal(gradeBacklight(3, 0.3), noFault)
})

test('a face half in shadow has a lower contrast grade than an evenly lit one; a flat picture has 0', () => {
  const middle = OFFSET.x + 56 * SCALE
  const halfInShadow = quality((x, y) => (x < middle ? 35 : 190) + 0.5 * detail(x, y))
  assert.ok(halfInShadow.contrast < good.contrast - 0.3)
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

test('a face of few pixels has the size grade 0', () => {
  const small = mesh().map((value) => value * 0.15)
  const picture = draw((x, y) => 130 + 1.5 * detail(x, y))
  assert.equal(measureQuality({ picture, mesh: small, box: boxOf(small), pose: STRAIGHT }).size, 0)
  assert.equal(good.size, 1)
})
