/** Coverings painted on a portrait: what people wear before a camera. Paint is not cloth; it is what can be had without pictures of people. */
import { meshPoint, type Picture, type Point } from '@ostiary/faces'

export const COVERINGS = [
  'eye patch',
  'black sunglasses',
  'brown sunglasses',
  'mirror sunglasses',
  'black mask',
  'white mask',
  'light blue mask',
  'patterned mask',
  'skin-like mask',
  'black headscarf',
  'white headscarf',
] as const
export type Covering = (typeof COVERINGS)[number]

type Colour = readonly [red: number, green: number, blue: number]
/** The colour at a place; both run from -1 to 1 over the painted thing. */
type Dye = (across: number, down: number) => Colour

const plain =
  (colour: Colour): Dye =>
  () =>
    colour
/** A lens lets a little light through at its lower edge. */
const lens =
  ([red, green, blue]: Colour): Dye =>
  (_, down) => {
    const light = 12 * (1 + down)
    return [red + light, green + light, blue + light]
  }

/** A mask has pleats, and its sides turn away from the light. */
const cloth =
  (dye: Dye): Dye =>
  (across, down) => {
    const fromPleat = (((down + 1) * 2) % 1) - 0.5
    const light = (1 - 0.25 * across * across) * (1 - 0.1 * Math.exp(-100 * fromPleat * fromPleat))
    const [red, green, blue] = dye(across, down)
    return [red * light, green * light, blue * light]
  }

const DYES: Readonly<Record<Covering, Dye>> = {
  'eye patch': plain([20, 20, 22]),
  'black sunglasses': lens([14, 14, 16]),
  'brown sunglasses': lens([58, 36, 24]),
  'mirror sunglasses': (across, down) => [70 - 40 * down + 20 * across, 95 - 50 * down, 130 - 60 * down - 20 * across],
  'black mask': cloth(plain([28, 28, 30])),
  'white mask': cloth(plain([232, 232, 230])),
  'light blue mask': cloth(plain([150, 195, 222])),
  'patterned mask': cloth((across, down) =>
    (Math.floor(across * 6 + 20) + Math.floor(down * 6 + 20)) % 2 === 0 ? [170, 40, 50] : [235, 225, 205],
  ),
  'skin-like mask': cloth(plain([205, 165, 140])),
  'black headscarf': plain([24, 24, 27]),
  'white headscarf': plain([228, 226, 222]),
}

const MASK = [
  93, 123, 117, 101, 197, 330, 346, 352, 323, 361, 288, 397, 365, 379, 378, 400, 377, 152, 148, 176, 149, 150, 136, 172,
  58, 132,
]
const FACE = [
  10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377, 152, 148, 176, 149, 150, 136,
  172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
]
/** Outer and inner corner. */
const EYES = [
  [33, 133],
  [263, 362],
] as const

/** A copy of the portrait with a covering over the face of the mesh. */
export function wearing(portrait: Picture, mesh: Float32Array, covering: Covering): Picture {
  const picture = { ...portrait, data: new Uint8ClampedArray(portrait.data) }
  const dye = DYES[covering]
  const points = (indices: readonly number[]) => indices.map((index) => meshPoint(mesh, index))
  if (covering.endsWith('mask')) paint(picture, polygon(points(MASK)), dye)
  else if (covering.endsWith('headscarf')) paint(picture, around(points(FACE)), dye)
  else if (covering === 'eye patch') {
    paint(picture, lensOver(mesh, EYES[0], 1), dye)
    paint(picture, band(meshPoint(mesh, 127), meshPoint(mesh, 284), mesh), dye)
  } else {
    for (const eye of EYES) paint(picture, lensOver(mesh, eye, 1.1), dye)
    paint(picture, band(meshPoint(mesh, 193), meshPoint(mesh, 417), mesh), dye)
    paint(picture, band(meshPoint(mesh, 127), meshPoint(mesh, 33), mesh), dye)
    paint(picture, band(meshPoint(mesh, 263), meshPoint(mesh, 356), mesh), dye)
  }
  return picture
}

interface Shape {
  left: number
  top: number
  right: number
  bottom: number
  /** How far a place is inside, in pixels; negative outside. */
  inside(x: number, y: number): number
}

function paint(picture: Picture, shape: Shape, dye: Dye): void {
  const { width, height, data } = picture
  const [spanX, spanY] = [(shape.right - shape.left) / 2, (shape.bottom - shape.top) / 2]
  for (let y = Math.max(0, Math.floor(shape.top)); y < Math.min(height, shape.bottom); y++)
    for (let x = Math.max(0, Math.floor(shape.left)); x < Math.min(width, shape.right); x++) {
      const cover = Math.min(1, Math.max(0, shape.inside(x, y) + 0.5))
      if (cover === 0) continue
      const at = (y * width + x) * 4
      const grain = (((x * 7919 + y * 104729 + x * y * 31) % 13) - 6) / 3
      for (const [channel, colour] of dye((x - shape.left) / spanX - 1, (y - shape.top) / spanY - 1).entries())
        data[at + channel] = cover * (colour + grain) + (1 - cover) * (data[at + channel] ?? 0)
    }
}

function polygon(points: readonly Point[]): Shape {
  return { ...boundsOf(points), inside: (x, y) => depthIn(points, { x, y }) }
}

/** What a headscarf covers: hair, ears and neck, up to the edge of the face. */
function around(face: readonly Point[]): Shape {
  const { left, top, right, bottom } = boundsOf(face)
  const [wide, high] = [right - left, bottom - top]
  const [x0, y0] = [(left + right) / 2, (top + bottom) / 2]
  const inner = face.map(({ x, y }) => ({ x: x0 + (x - x0) * 0.94, y: y0 + (y - y0) * 0.94 }))
  const outer = {
    left: left - wide * 0.35,
    top: top - high * 0.35,
    right: right + wide * 0.35,
    bottom: bottom + high * 0.7,
  }
  return {
    ...outer,
    inside(x, y) {
      const [dx, dy] = [(x - x0) / (wide * 0.85), (y - y0) / (high * (y < y0 ? 0.85 : 1.2))]
      const within = (1 - Math.hypot(dx, dy)) * wide * 0.85
      return Math.min(within, -depthIn(inner, { x, y }))
    },
  }
}

function lensOver(mesh: Float32Array, [outer, inner]: readonly [number, number], size: number): Shape {
  const [one, other] = [meshPoint(mesh, outer), meshPoint(mesh, inner)]
  const length = Math.hypot(one.x - other.x, one.y - other.y)
  const [x0, y0] = [one.x * 0.54 + other.x * 0.46, (one.y + other.y) / 2 + length * 0.08]
  const [rx, ry] = [length * 0.88 * size, length * 0.7 * size]
  return {
    left: x0 - rx,
    right: x0 + rx,
    top: y0 - ry,
    bottom: y0 + ry,
    inside: (x, y) => (1 - (Math.abs((x - x0) / rx) ** 3 + Math.abs((y - y0) / ry) ** 3) ** (1 / 3)) * ry,
  }
}

/** A straight band, such as the frame between two lenses. */
function band(from: Point, to: Point, mesh: Float32Array): Shape {
  const half = Math.abs(meshPoint(mesh, 454).x - meshPoint(mesh, 234).x) * 0.018
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  const bounds = boundsOf([from, to])
  return {
    left: bounds.left - half,
    top: bounds.top - half,
    right: bounds.right + half,
    bottom: bounds.bottom + half,
    inside(x, y) {
      const share = ((x - from.x) * (to.x - from.x) + (y - from.y) * (to.y - from.y)) / length ** 2
      const near = Math.min(1, Math.max(0, share))
      return half - Math.hypot(x - from.x - near * (to.x - from.x), y - from.y - near * (to.y - from.y))
    },
  }
}

function boundsOf(points: readonly Point[]) {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) }
}

/** The distance to the edge of a polygon, negative outside. Called for every pixel: squares first, one root at the end. */
function depthIn(points: readonly Point[], { x, y }: Point): number {
  let [isInside, nearest] = [false, Number.POSITIVE_INFINITY]
  for (let index = 0, before = points.length - 1; index < points.length; before = index++) {
    const [one, other] = [points[before] as Point, points[index] as Point]
    const [dx, dy] = [other.x - one.x, other.y - one.y]
    if (one.y > y !== other.y > y && x < one.x + ((y - one.y) / dy) * dx) isInside = !isInside
    const share = ((x - one.x) * dx + (y - one.y) * dy) / Math.max(dx * dx + dy * dy, 1e-9)
    const near = Math.min(1, Math.max(0, share))
    const [offX, offY] = [x - one.x - near * dx, y - one.y - near * dy]
    nearest = Math.min(nearest, offX * offX + offY * offY)
  }
  return isInside ? Math.sqrt(nearest) : -Math.sqrt(nearest)
}
