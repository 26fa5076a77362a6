import type { Detection } from './detect.ts'
import { angleOf, applyTo, boxOf, invert, meshPoint, type Square, scaleOf, squareTo } from './geometry.ts'
import type { Box, Picture, Tensor } from './types.ts'
import { toTensor, warp } from './warp.ts'

export const MESH_POINTS = 468
const SIZE = 192
/** The crop is this much larger than the face. */
const MARGIN = 1.5
/** Outer corners of the eyes. */
const [LEFT_CORNER, RIGHT_CORNER] = [33, 263]

export interface MeshReading {
  /** The net's probability that this is a face. */
  probability: number
  mesh: Float32Array
}

export function squareOfDetection({ box, eyes }: Detection): Square {
  return squareAround(box, angleOf(...eyes))
}

/** Where the face will be in the next picture: where it was in this one. */
export function squareOfMesh(mesh: Float32Array): Square {
  return squareAround(boxOf(mesh), angleOf(meshPoint(mesh, LEFT_CORNER), meshPoint(mesh, RIGHT_CORNER)))
}

export function meshInput(picture: Picture, square: Square): Tensor {
  return toTensor(warp(picture, squareTo(square, SIZE), SIZE), {
    layout: 'NHWC',
    order: 'RGB',
    mean: [0, 0, 0],
    scale: 1 / 255,
  })
}

/** The mesh in pixels of the picture; depth in the same pixels, smaller is nearer. */
export function readMesh(outputs: Readonly<Record<string, Tensor>>, square: Square): MeshReading {
  const points = outputs.Identity_2
  if (!points || points.data.length !== MESH_POINTS * 3) throw new Error('The mesh net did not return a mesh')
  const back = invert(squareTo(square, SIZE))
  const scale = scaleOf(back)
  const mesh = new Float32Array(MESH_POINTS * 3)
  for (let at = 0; at < mesh.length; at += 3) {
    const { x, y } = applyTo(back, { x: points.data[at] ?? 0, y: points.data[at + 1] ?? 0 })
    mesh[at] = x
    mesh[at + 1] = y
    mesh[at + 2] = (points.data[at + 2] ?? 0) * scale
  }
  return { probability: outputs.Identity_1?.data[0] ?? 0, mesh }
}

function squareAround(box: Box, angle: number): Square {
  return {
    centre: { x: box.x + box.width / 2, y: box.y + box.height / 2 },
    side: MARGIN * Math.max(box.width, box.height),
    angle,
  }
}
