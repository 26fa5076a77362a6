import type { Point } from '@ostiary/faces'

/** Three indices into the points, in one turning sense for all triangles. */
export type Triangle = readonly [number, number, number]

/**
 * Delaunay triangulation of distinct points, by insertion: each new point removes the triangles whose circumcircle contains
 * it, and is connected to the border of the hole. Quadratic time, which is fast enough for a thousand points.
 */
export function triangulate(points: readonly Point[]): Triangle[] {
  const all = [...points, ...farAround(points)]
  const outer = points.length
  let triangles = [circled(all, [outer, outer + 1, outer + 2])]
  for (const [index, point] of points.entries()) {
    const hit = triangles.filter((triangle) => holds(triangle, point))
    const gone = new Set(hit)
    triangles = triangles.filter((triangle) => !gone.has(triangle))
    for (const [from, to] of rimOf(hit)) triangles.push(circled(all, [from, to, index]))
  }
  return triangles.map(({ corners }) => corners).filter((corners) => corners.every((corner) => corner < outer))
}

interface Circled {
  corners: Triangle
  x: number
  y: number
  radiusSquared: number
}

/** How much further than the points themselves the triangle reaches from which the work starts. */
const REACH = 40

function farAround(points: readonly Point[]): Point[] {
  const xs = points.map(({ x }) => x)
  const ys = points.map(({ y }) => y)
  const [x, y] = [Math.min(...xs), Math.min(...ys)]
  const size = Math.max(Math.max(...xs) - x, Math.max(...ys) - y, 1)
  return [
    { x: x - REACH * size, y: y - REACH * size },
    { x: x + 2 * REACH * size, y: y - REACH * size },
    { x, y: y + 2 * REACH * size },
  ]
}

function circled(points: readonly Point[], corners: Triangle): Circled {
  const [a, b, c] = corners.map((corner) => points[corner] ?? { x: 0, y: 0 })
  if (!a || !b || !c) throw new Error('A triangle has three corners')
  const [bx, by, cx, cy] = [b.x - a.x, b.y - a.y, c.x - a.x, c.y - a.y]
  const twice = 2 * (bx * cy - by * cx)
  const [b2, c2] = [bx * bx + by * by, cx * cx + cy * cy]
  const [ux, uy] = [(cy * b2 - by * c2) / twice, (bx * c2 - cx * b2) / twice]
  return { corners, x: a.x + ux, y: a.y + uy, radiusSquared: ux * ux + uy * uy }
}

function holds({ x, y, radiusSquared }: Circled, point: Point): boolean {
  return (point.x - x) ** 2 + (point.y - y) ** 2 < radiusSquared
}

/** The edges that only one of the triangles has, each in that triangle's sense. */
function rimOf(triangles: readonly Circled[]): [number, number][] {
  const edges = new Map<string, [number, number]>()
  for (const { corners } of triangles) {
    const [a, b, c] = corners
    for (const [from, to] of [
      [a, b],
      [b, c],
      [c, a],
    ] as const) {
      if (!edges.delete(`${to} ${from}`)) edges.set(`${from} ${to}`, [from, to])
    }
  }
  return [...edges.values()]
}
