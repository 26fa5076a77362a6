import type { Point } from '@ostiary/faces'
import { type Triangle, triangulate } from './delaunay.ts'
import type { Stance } from './script.ts'
import type { Size } from './stage.ts'

/** The outline of the face, as points of the mesh. */
const OUTLINE = [
  10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377, 152, 148, 176, 149, 150, 136,
  172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
] as const

/**
 * Hair, ears and neck: rings around the outline, in multiples of its distance from the middle of the face. The first is the
 * outline itself, because between its points the mesh has none and triangles would reach over it.
 */
const RINGS = [1, 1.05, 1.1, 1.16, 1.23, 1.31, 1.4, 1.5, 1.62, 1.76, 1.93, 2.15, 2.45, 2.8] as const

/** How far the surroundings of the face follow the head: fully up to the first distance, not at all from the second on. */
const FOLLOWS = { above: [1.3, 2.3], below: [1.02, 1.75] } as const

/** In widths of the face. */
const CAMERA_DISTANCE = 3.2
/** The axis of the neck lies so far behind the outline of the face, and nodding turns about a place so far below its middle. */
const AXIS = { behind: 0.12, below: 0.12 } as const
/** Meshes come out flatter than faces are. */
const RELIEF = 1.15
const BORDER_STEP = 40

/** A head on a stage: points, how far each follows the head, and the triangles between them. */
export interface Head {
  triangles: readonly Triangle[]
  /** Where the points are on the stage: x y. */
  from: Float32Array
  /** Where they are drawn in a stance: x y and nearness. */
  turned(stance: Stance): Float32Array
}

/** Builds the head from the mesh of a face on a stage (468 points, x y z in pixels of the stage). */
export function createHead(mesh: Float32Array, size: Size): Head {
  const face = measureFace(mesh)
  const vertices = apart([...faceVertices(mesh, face), ...ringVertices(face, size), ...borderVertices(size, face)])
  const triangles = triangulate(vertices)
  rounden(vertices, triangles, face)
  return {
    triangles,
    from: Float32Array.from(vertices.flatMap(({ x, y }) => [x, y])),
    turned(stance) {
      const turn = createTurn(face, stance)
      const to = new Float32Array(vertices.length * 3)
      for (const [index, vertex] of vertices.entries()) to.set(turn(vertex), index * 3)
      return to
    },
  }
}

interface Vertex extends Point {
  /** Towards the camera, in pixels, from the axis of the neck. */
  near: number
  /** 1 goes with the head, 0 stays. */
  follows: number
}

interface Face {
  middle: Point
  width: number
  /** The outline, with its nearness. */
  outline: readonly { x: number; y: number; near: number }[]
  /** Of the mesh's own numbers: what lies at the axis of the neck. */
  axisZ: number
}

function measureFace(mesh: Float32Array): Face {
  const at = (index: number) => ({ x: mesh[index * 3] ?? 0, y: mesh[index * 3 + 1] ?? 0, z: mesh[index * 3 + 2] ?? 0 })
  const rim = OUTLINE.map(at)
  const xs = rim.map(({ x }) => x)
  const ys = rim.map(({ y }) => y)
  const width = Math.max(...xs) - Math.min(...xs)
  const middle = { x: (Math.max(...xs) + Math.min(...xs)) / 2, y: (Math.max(...ys) + Math.min(...ys)) / 2 }
  const axisZ = RELIEF * (rim.reduce((sum, { z }) => sum + z, 0) / rim.length) + AXIS.behind * width
  const outline = rim.map(({ x, y, z }) => ({ x, y, near: axisZ - RELIEF * z }))
  return {
    middle,
    width,
    axisZ,
    outline: outline.flatMap((point, index) => [point, between(point, outline[index + 1] ?? outline[0] ?? point)]),
  }
}

type RimPoint = Face['outline'][number]

function between(one: RimPoint, other: RimPoint): RimPoint {
  return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, near: (one.near + other.near) / 2 }
}

function faceVertices(mesh: Float32Array, face: Face): Vertex[] {
  const vertices: Vertex[] = []
  for (let at = 0; at < mesh.length; at += 3) {
    const [x = 0, y = 0, z = 0] = mesh.subarray(at, at + 3)
    vertices.push({ x, y, near: face.axisZ - RELIEF * z, follows: 1 })
  }
  return vertices
}

/** Without points that fall together with an earlier one: at the rims of closed lips the mesh itself has such. */
function apart(vertices: readonly Vertex[]): Vertex[] {
  const places = new Set<string>()
  return vertices.filter(({ x, y }) => {
    const place = `${x.toFixed(1)} ${y.toFixed(1)}`
    return !places.has(place) && places.add(place)
  })
}

function ringVertices({ middle, width, outline }: Face, size: Size): Vertex[] {
  return RINGS.flatMap((ring) =>
    outline.map(({ x, y, near }) => {
      const place = { x: middle.x + (x - middle.x) * ring, y: middle.y + (y - middle.y) * ring }
      // A head is round: what is further out than the face lies further back, until it is the wall behind.
      return {
        ...place,
        near: near - width * 0.45 * (ring - 1),
        follows: followsOf(place, { middle, outline, size, ring }),
      }
    }),
  ).filter(({ x, y }) => x > 1 && y > 1 && x < size.width - 1 && y < size.height - 1)
}

/**
 * Meshes are steep at their outline. In a turned head the cheek would be jagged where triangles of different slopes meet, so
 * depths near the outline and beyond are smoothed with those of their neighbours.
 */
function rounden(vertices: readonly Vertex[], triangles: readonly Triangle[], { middle, outline }: Face): void {
  const neighbours = vertices.map(() => new Set<Vertex>())
  for (const triangle of triangles) {
    for (const corner of triangle) {
      for (const other of triangle) {
        const vertex = vertices[other]
        if (other !== corner && vertex) neighbours[corner]?.add(vertex)
      }
    }
  }
  const [rx, ry] = (['x', 'y'] as const).map((axis) => Math.max(...outline.map((point) => point[axis])) - middle[axis])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, vertex] of vertices.entries()) {
      const outwards = Math.hypot((vertex.x - middle.x) / (rx ?? 1), (vertex.y - middle.y) / (ry ?? 1))
      const share = 0.7 * soft((outwards - ROUNDEN_FROM.least) / (ROUNDEN_FROM.wholly - ROUNDEN_FROM.least))
      const near = [...(neighbours[index] ?? [])]
      const mean = near.reduce((sum, other) => sum + other.near, 0) / Math.max(1, near.length)
      vertex.near += share * (mean - vertex.near)
    }
  }
}

const ROUNDS = 8
/** In radii of the face. */
const ROUNDEN_FROM = { least: 0.7, wholly: 0.95 } as const

interface RingPlace extends Pick<Face, 'middle' | 'outline'> {
  size: Size
  ring: number
}

function followsOf({ x, y }: Point, { middle, outline, size, ring }: RingPlace): number {
  const height = Math.max(...outline.map((point) => point.y)) - middle.y
  // From 0 at the height of the mouth to 1 under the chin: there is the neck, which stays.
  const below = soft(((y - middle.y) / height - 0.5) / 0.6)
  const near = FOLLOWS.above[0] + (FOLLOWS.below[0] - FOLLOWS.above[0]) * below
  const far = FOLLOWS.above[1] + (FOLLOWS.below[1] - FOLLOWS.above[1]) * below
  const edge = Math.min(x, y, size.width - x, size.height - y)
  return (1 - soft((ring - near) / (far - near))) * soft(edge / BORDER_STEP)
}

function borderVertices({ width, height }: Size, face: Face): Vertex[] {
  const steps = (length: number) =>
    Array.from({ length: Math.ceil(length / BORDER_STEP) }, (_, step) => step * BORDER_STEP)
  const places = [
    ...steps(width).flatMap((x) => [
      { x, y: 0 },
      { x: width - x, y: height },
    ]),
    ...steps(height).flatMap((y) => [
      { x: width, y },
      { x: 0, y: height - y },
    ]),
  ]
  return places.map((place) => ({ ...place, near: -face.width, follows: 0 }))
}

type Turn = (vertex: Vertex) => [x: number, y: number, nearness: number]

/** Turns about the axis of the neck, seen through a lens; then the whole picture comes nearer. */
function createTurn({ middle, width }: Face, stance: Stance): Turn {
  const [yaw, pitch, roll] = [stance.yaw, stance.pitch, stance.roll].map((degrees) => (degrees * Math.PI) / 180)
  const [cosYaw, sinYaw] = [Math.cos(yaw ?? 0), Math.sin(yaw ?? 0)]
  const [cosPitch, sinPitch] = [Math.cos(pitch ?? 0), Math.sin(pitch ?? 0)]
  const [cosRoll, sinRoll] = [Math.cos(roll ?? 0), Math.sin(roll ?? 0)]
  const distance = CAMERA_DISTANCE * width
  const pivotY = AXIS.below * width
  return (vertex) => {
    const [px, py] = [vertex.x - middle.x, vertex.y - middle.y]
    // Back through the lens to where the point is in space, so that a stance at rest gives the portrait itself.
    const share = (distance - vertex.near) / distance
    const [x, y, z] = [px * share, py * share - pivotY, vertex.near]
    const [x1, z1] = [x * cosYaw + z * sinYaw, z * cosYaw - x * sinYaw]
    const [y2, z2] = [y * cosPitch - z1 * sinPitch, z1 * cosPitch + y * sinPitch]
    const [x3, y3] = [x1 * cosRoll - y2 * sinRoll, y2 * cosRoll + x1 * sinRoll + pivotY]
    const lens = distance / (distance - z2)
    const { follows } = vertex
    const toX = px + follows * (x3 * lens - px + stance.shiftX * width)
    const toY = py + follows * (y3 * lens - py + stance.shiftY * width)
    return [middle.x + toX * stance.zoom, middle.y + toY * stance.zoom, follows * z2 - (1 - follows) * 2 * width]
  }
}

function soft(share: number): number {
  const x = Math.min(1, Math.max(0, share))
  return x * x * (3 - 2 * x)
}
