import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Point } from '@ostiary/faces'
import { type Triangle, triangulate } from './delaunay.ts'
import { createRandom } from './random.ts'

const random = createRandom(5)
const scattered: Point[] = Array.from({ length: 300 }, () => ({ x: random() * 640, y: random() * 480 }))
const inFrame: Point[] = [
  ...Array.from({ length: 17 }, (_, step) => [
    { x: step * 40, y: 0 },
    { x: step * 40, y: 480 },
  ]).flat(),
  ...Array.from({ length: 11 }, (_, step) => [
    { x: 0, y: 40 + step * 40 },
    { x: 640, y: 40 + step * 40 },
  ]).flat(),
  ...scattered,
]

for (const [kind, points] of [
  ['scattered points', scattered],
  ['points in a frame', inFrame],
] as const) {
  const triangles = triangulate(points)

  test(`${kind}: every point is a corner of some triangle`, () => {
    assert.equal(new Set(triangles.flat()).size, points.length)
  })

  test(`${kind}: no triangle's circumcircle holds another point`, () => {
    for (const triangle of triangles) {
      const corners = cornersOf(points, triangle)
      const centre = centreOf(corners)
      const radius = Math.hypot(corners[0].x - centre.x, corners[0].y - centre.y)
      const inside = points.filter(
        ({ x, y }, index) => !triangle.includes(index) && Math.hypot(x - centre.x, y - centre.y) < radius * (1 - 1e-7),
      )
      assert.deepEqual(inside, [])
    }
  })

  test(`${kind}: all triangles turn the same way`, () => {
    const senses = new Set(triangles.map((triangle) => Math.sign(areaOf(cornersOf(points, triangle)))))
    assert.equal(senses.size, 1)
  })
}

test('the triangles of a frame cover it once', () => {
  const area = triangulate(inFrame).reduce((sum, triangle) => sum + Math.abs(areaOf(cornersOf(inFrame, triangle))), 0)
  assert.ok(Math.abs(area - 640 * 480) < 1, `${area} of ${640 * 480}`)
})

function cornersOf(points: readonly Point[], triangle: Triangle): [Point, Point, Point] {
  const [a, b, c] = triangle.map((corner) => points[corner])
  assert.ok(a && b && c)
  return [a, b, c]
}

function areaOf([a, b, c]: [Point, Point, Point]): number {
  return ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)) / 2
}

/** By the crossing of two perpendicular bisectors. */
function centreOf([a, b, c]: [Point, Point, Point]): Point {
  const rhs = (p: Point, q: Point) => (q.x ** 2 - p.x ** 2 + q.y ** 2 - p.y ** 2) / 2
  const determinant = (b.x - a.x) * (c.y - b.y) - (c.x - b.x) * (b.y - a.y)
  const [first, second] = [rhs(a, b), rhs(b, c)]
  return {
    x: (first * (c.y - b.y) - second * (b.y - a.y)) / determinant,
    y: ((b.x - a.x) * second - (c.x - b.x) * first) / determinant,
  }
}
