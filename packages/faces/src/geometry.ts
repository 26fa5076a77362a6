import type { Box, Point } from './types.ts'

/** A rotation, scale and translation: x' = a x - b y + dx, y' = b x + a y + dy. Faces undergo no other transformation. */
export interface Similarity {
  a: number
  b: number
  dx: number
  dy: number
}

/** A square in a picture, turned by `angle` (radians, clockwise as pictures are drawn). */
export interface Square {
  centre: Point
  side: number
  angle: number
}

/** Eyes, tip of the nose, corners of the mouth; "left" as seen in the picture, which is the person's right. */
export type FivePoints = readonly [leftEye: Point, rightEye: Point, nose: Point, leftMouth: Point, rightMouth: Point]

/** The least-squares similarity that maps `from` to `to`. */
export function fitSimilarity(from: readonly Point[], to: readonly Point[]): Similarity {
  if (from.length !== to.length || from.length < 2) throw new Error('A similarity needs pairs of points, at least two')
  const middleFrom = middleOf(from)
  const middleTo = middleOf(to)
  let along = 0
  let across = 0
  let square = 0
  for (const [index, point] of from.entries()) {
    const target = to[index] ?? middleTo
    const [x, y] = [point.x - middleFrom.x, point.y - middleFrom.y]
    const [u, v] = [target.x - middleTo.x, target.y - middleTo.y]
    along += x * u + y * v
    across += x * v - y * u
    square += x * x + y * y
  }
  if (square === 0) throw new Error('A similarity cannot be fitted to points that are all equal')
  const [a, b] = [along / square, across / square]
  return {
    a,
    b,
    dx: middleTo.x - a * middleFrom.x + b * middleFrom.y,
    dy: middleTo.y - b * middleFrom.x - a * middleFrom.y,
  }
}

export function applyTo({ a, b, dx, dy }: Similarity, { x, y }: Point): Point {
  return { x: a * x - b * y + dx, y: b * x + a * y + dy }
}

export function invert({ a, b, dx, dy }: Similarity): Similarity {
  const square = a * a + b * b
  const [p, q] = [a / square, -b / square]
  return { a: p, b: q, dx: -(p * dx - q * dy), dy: -(q * dx + p * dy) }
}

/** How much longer a distance becomes. */
export function scaleOf({ a, b }: Similarity): number {
  return Math.hypot(a, b)
}

/** Maps a square of a picture to an upright crop of `size` pixels. The square's centre goes to `at`, by default the middle. */
export function squareTo({ centre, side, angle }: Square, size: number, at?: Point): Similarity {
  const scale = size / side
  const a = Math.cos(-angle) * scale
  const b = Math.sin(-angle) * scale
  const target = at ?? { x: size / 2, y: size / 2 }
  return { a, b, dx: target.x - (a * centre.x - b * centre.y), dy: target.y - (b * centre.x + a * centre.y) }
}

export function middleOf(points: readonly Point[]): Point {
  let [x, y] = [0, 0]
  for (const point of points) {
    x += point.x
    y += point.y
  }
  return { x: x / points.length, y: y / points.length }
}

export function distanceBetween(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y)
}

/** The angle of the line from one point to another. */
export function angleOf(from: Point, to: Point): number {
  return Math.atan2(to.y - from.y, to.x - from.x)
}

/** One point of a mesh (x y z each). */
export function meshPoint(mesh: Float32Array, index: number): Point {
  return { x: mesh[index * 3] ?? 0, y: mesh[index * 3 + 1] ?? 0 }
}

export function boxOf(mesh: Float32Array): Box {
  let [left, top, right, bottom] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]
  for (let at = 0; at < mesh.length; at += 3) {
    const x = mesh[at] ?? 0
    const y = mesh[at + 1] ?? 0
    if (x < left) left = x
    if (x > right) right = x
    if (y < top) top = y
    if (y > bottom) bottom = y
  }
  return { x: left, y: top, width: right - left, height: bottom - top }
}

/** The points that faces are aligned by. An eye is the mean of its corners and lids, so that a blink does not move it. */
export function fivePointsOf(mesh: Float32Array): FivePoints {
  const mean = (...indices: number[]) => middleOf(indices.map((index) => meshPoint(mesh, index)))
  return [mean(33, 133, 159, 145), mean(362, 263, 386, 374), mean(1), mean(61), mean(291)]
}

/**
 * The square that FACE3_1 and one of the age nets expect: level with the eyes, scaled by the distance from eyes to mouth,
 * around the midpoint of eyes and mouth.
 */
export function eyesAndMouthSquare([leftEye, rightEye, , leftMouth, rightMouth]: FivePoints): Square {
  const mouth = middleOf([leftMouth, rightMouth])
  const reach = (distanceBetween(leftEye, mouth) + distanceBetween(rightEye, mouth)) / 2
  return {
    centre: middleOf([leftEye, rightEye, mouth]),
    side: reach / 0.45,
    angle: angleOf(leftEye, rightEye),
  }
}
