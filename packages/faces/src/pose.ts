import type { Pose } from './types.ts'

/** Pairs of points at the same height in every face, from left to right in the picture. */
const ACROSS: readonly (readonly [number, number])[] = [
  [33, 263],
  [133, 362],
  [61, 291],
  [127, 356],
  [234, 454],
  [132, 361],
  [50, 280],
  [105, 334],
]

/** Pairs from below to above, near the middle of the face. Cheeks and forehead: a mouth that opens moves only the chin. */
const UPWARDS: readonly (readonly [number, number])[] = [
  [152, 10],
  [0, 9],
  [2, 151],
  [50, 105],
  [280, 334],
  [172, 54],
  [397, 284],
]

/**
 * The pitch that the pairs give for a face that looks straight ahead, because foreheads recede. Measured on frontal portraits
 * (docs/accuracy/faces.md). People differ by some degrees, so movements are measured from each person's own rest.
 */
const STRAIGHT_PITCH = -10

const DEGREES = 180 / Math.PI

type Vector = readonly [number, number, number]

/**
 * How a head is turned, from the depth in the mesh. The mesh shows turns smaller than they are (about two thirds), and it
 * shows nodding less well than turning.
 */
export function poseOf(mesh: Float32Array): Pose {
  const across = unit(sum(mesh, ACROSS))
  const upwards = sum(mesh, UPWARDS)
  // Faces are not quite symmetric, so the two directions are not quite perpendicular: keep the horizontal one.
  const up = unit(minus(upwards, across, dot(upwards, across)))
  // The head was first turned (about the upright axis), then nodded, then leant over: undone in this order.
  const yaw = Math.asin(clampUnit(across[2]))
  const roll = Math.atan2(across[1], across[0])
  const forward = cross(across, up)
  const pitch = Math.atan2(up[2], -forward[2])
  return { yaw: yaw * DEGREES, pitch: pitch * DEGREES - STRAIGHT_PITCH, roll: roll * DEGREES }
}

function sum(mesh: Float32Array, pairs: readonly (readonly [number, number])[]): Vector {
  let [x, y, z] = [0, 0, 0]
  for (const [from, to] of pairs) {
    x += (mesh[to * 3] ?? 0) - (mesh[from * 3] ?? 0)
    y += (mesh[to * 3 + 1] ?? 0) - (mesh[from * 3 + 1] ?? 0)
    z += (mesh[to * 3 + 2] ?? 0) - (mesh[from * 3 + 2] ?? 0)
  }
  return [x, y, z]
}

function dot(one: Vector, other: Vector): number {
  return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]
}

function minus(one: Vector, other: Vector, times: number): Vector {
  return [one[0] - other[0] * times, one[1] - other[1] * times, one[2] - other[2] * times]
}

function cross(one: Vector, other: Vector): Vector {
  return [
    one[1] * other[2] - one[2] * other[1],
    one[2] * other[0] - one[0] * other[2],
    one[0] * other[1] - one[1] * other[0],
  ]
}

function unit(vector: Vector): Vector {
  const length = Math.sqrt(dot(vector, vector)) || 1
  return [vector[0] / length, vector[1] / length, vector[2] / length]
}

function clampUnit(value: number): number {
  return Math.min(1, Math.max(-1, value))
}
