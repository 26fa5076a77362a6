import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  angleOf,
  applyTo,
  boxOf,
  eyesAndMouthSquare,
  fitSimilarity,
  fivePointsOf,
  invert,
  type Similarity,
  scaleOf,
  squareTo,
} from './geometry.ts'
import type { Point } from './types.ts'

const POINTS: readonly Point[] = [
  { x: 3, y: 4 },
  { x: 10, y: 5 },
  { x: 6, y: 11 },
  { x: -2, y: 7 },
]
const SOME: Similarity = { a: 0.8, b: -1.1, dx: 14, dy: -3 }

function assertNear(actual: Point, expected: Point): void {
  assert.ok(
    Math.hypot(actual.x - expected.x, actual.y - expected.y) < 1e-9,
    `${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`,
  )
}

test('a similarity is found again from the points it moved', () => {
  const found = fitSimilarity(
    POINTS,
    POINTS.map((point) => applyTo(SOME, point)),
  )
  for (const key of ['a', 'b', 'dx', 'dy'] as const) assert.ok(Math.abs(found[key] - SOME[key]) < 1e-9, key)
})

test('with points that do not fit, the error is the least there is', () => {
  const goal = POINTS.map(({ x, y }, index) => ({ x: 2 * x + (index % 2), y: 2 * y - (index % 3) }))
  const error = (by: Similarity) =>
    POINTS.reduce((sum, point, index) => {
      const moved = applyTo(by, point)
      const target = goal[index] ?? moved
      return sum + (moved.x - target.x) ** 2 + (moved.y - target.y) ** 2
    }, 0)
  const found = fitSimilarity(POINTS, goal)
  for (const key of ['a', 'b', 'dx', 'dy'] as const)
    for (const step of [-1e-3, 1e-3]) assert.ok(error({ ...found, [key]: found[key] + step }) > error(found), key)
})

test('one point, or all points in one place, fit nothing', () => {
  const [point = { x: 0, y: 0 }] = POINTS
  assert.throws(() => fitSimilarity([point], [point]), /at least two/)
  assert.throws(() => fitSimilarity([point, point], POINTS.slice(0, 2)), /all equal/)
  assert.throws(() => fitSimilarity(POINTS, POINTS.slice(1)), /pairs/)
})

test('the inverse undoes a similarity', () => {
  for (const point of POINTS) assertNear(applyTo(invert(SOME), applyTo(SOME, point)), point)
  assert.ok(Math.abs(scaleOf(SOME) * scaleOf(invert(SOME)) - 1) < 1e-12)
})

test('a rotated square becomes upright', () => {
  const angle = 0.4
  const centre = { x: 50, y: 30 }
  const to = squareTo({ centre, side: 20, angle }, 100)
  assertNear(applyTo(to, centre), { x: 50, y: 50 })
  const alongTheEdge = { x: centre.x + 10 * Math.cos(angle), y: centre.y + 10 * Math.sin(angle) }
  assertNear(applyTo(to, alongTheEdge), { x: 100, y: 50 })
})

test('the centre of a square may be put elsewhere than in the middle', () => {
  const to = squareTo({ centre: { x: 7, y: 8 }, side: 10, angle: -0.2 }, 112, { x: 56, y: 41.44 })
  assertNear(applyTo(to, { x: 7, y: 8 }), { x: 56, y: 41.44 })
})

test('the box of a mesh touches its outermost points', () => {
  const mesh = Float32Array.of(5, 9, 0, 1, 4, 99, 8, 2, -99)
  assert.deepEqual(boxOf(mesh), { x: 1, y: 2, width: 7, height: 7 })
})

test('the square of eyes and mouth turns and grows with the face', () => {
  const face: readonly Point[] = [
    { x: 40, y: 40 },
    { x: 80, y: 40 },
    { x: 60, y: 60 },
    { x: 48, y: 80 },
    { x: 72, y: 80 },
  ]
  const squareOf = (points: readonly Point[]) => {
    const [a, b, c, d, e] = points
    assert.ok(a && b && c && d && e)
    return eyesAndMouthSquare([a, b, c, d, e])
  }
  const upright = squareOf(face)
  assertNear(upright.centre, { x: 60, y: 160 / 3 })
  assert.ok(Math.abs(upright.side - Math.hypot(20, 40) / 0.45) < 1e-9)
  const moved = squareOf(face.map((point) => applyTo(SOME, point)))
  assert.ok(Math.abs(moved.side / upright.side - scaleOf(SOME)) < 1e-9)
  assert.ok(Math.abs(moved.angle - Math.atan2(SOME.b, SOME.a)) < 1e-9)
})

test('an eye keeps its place when its lids meet', () => {
  const mesh = new Float32Array(468 * 3)
  const put = (index: number, x: number, y: number) => mesh.set([x, y, 0], index * 3)
  put(33, 10, 50)
  put(133, 30, 50)
  put(159, 20, 45)
  put(145, 20, 55)
  const open = fivePointsOf(mesh)[0]
  put(159, 20, 50)
  put(145, 20, 50)
  assertNear(fivePointsOf(mesh)[0], open)
  assertNear(open, { x: 20, y: 50 })
})

test('angles are counted as pictures are drawn: downwards is clockwise', () => {
  assert.ok(angleOf({ x: 0, y: 0 }, { x: 1, y: 1 }) > 0)
})
