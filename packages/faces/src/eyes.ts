import { distanceBetween, meshPoint, middleOf, type Square, squareTo } from './geometry.ts'
import type { Picture, Tensor } from './types.ts'
import { type Crop, mirrored, toGrey, warp } from './warp.ts'

const SIZE = 24
/** The crop is this much wider than the eye, as in the training of the net. */
const MARGIN = 1.6

interface Eye {
  /** Outer and inner corner. */
  corners: readonly [number, number]
  /** Points of the upper lid, each above one of the lower. */
  upper: readonly [number, number]
  lower: readonly [number, number]
}

const EYES: readonly [Eye, Eye] = [
  { corners: [33, 133], upper: [159, 158], lower: [145, 153] },
  { corners: [263, 362], upper: [386, 385], lower: [374, 380] },
]

/** Height by width of an eye that is wide open; open eyes of portraits lie at 0.21 to 0.33 (docs/accuracy.md). */
const WIDE_ASPECT = 0.33
/** The least factor that the net can apply to the openness: it is sometimes wrong. */
const DOUBT = 0.28
/** Beyond this yaw only the nearer eye counts: the net takes the far one for shut. */
const ONE_EYE_YAW = 30
/** The limit for the evidence of one look at an eye, so that no look overrules the others. */
const LOOK_MAX = 4
/** The net recognises open eyes better than shut ones, so its output is shifted towards shut by this much. */
const TOWARDS_SHUT = 1

/** Two inputs for the eye on the left of the picture, two for the one on the right: as it is, and mirrored. */
export function eyeInputs(picture: Picture, mesh: Float32Array): readonly Tensor[] {
  return EYES.flatMap((eye) => {
    const crop = warp(picture, squareTo(squareAroundEye(mesh, eye), SIZE), SIZE)
    return [toInput(crop), toInput(mirrored(crop))]
  })
}

function toInput(crop: Crop): Tensor {
  return { dims: [1, 1, SIZE, SIZE], data: toGrey(crop).map((value) => value / 255) }
}

/** The evidence of one look: above 0 for a shut eye, below 0 for an open one. */
export function readShut(outputs: Readonly<Record<string, Tensor>>): number {
  const [shut = 0, open = 0] = Object.values(outputs)[0]?.data ?? []
  return Math.min(LOOK_MAX, Math.max(-LOOK_MAX, shut - open))
}

/** Height by width of the eyes, mean of both, by the mesh alone. */
export function eyeAspect(mesh: Float32Array): number {
  const aspectOf = ({ corners, upper, lower }: Eye) => {
    const width = between(mesh, corners[0], corners[1])
    const height = (between(mesh, upper[0], lower[0]) + between(mesh, upper[1], lower[1])) / 2
    return width > 0 ? height / width : 0
  }
  return (aspectOf(EYES[0]) + aspectOf(EYES[1])) / 2
}

export interface EyesSeen {
  /** The evidence of each of the four looks, in the order of the inputs. */
  shut: readonly number[]
  aspect: number
  /** Degrees. */
  yaw: number
}

/**
 * How far the eyes are open, 0 to 1. Two sources: the net sees lids but may be wrong, for example because of glasses; the mesh
 * follows every eye, but its lids close only halfway. Each source lowers the value of the other.
 */
export function openness({ shut, aspect, yaw }: EyesSeen): number {
  const [left = 0, leftMirrored = 0, right = 0, rightMirrored = 0] = shut
  // A head turned to its own left shows the eye on the left of the picture.
  const leftShare = Math.min(1, Math.max(0, 0.5 + yaw / ONE_EYE_YAW / 2))
  const evidence = leftShare * (left + leftMirrored) + (1 - leftShare) * (right + rightMirrored)
  const byNet = 1 / (1 + Math.exp(evidence + TOWARDS_SHUT))
  const byMesh = Math.min(1, aspect / WIDE_ASPECT)
  // To the third power, so that a blink is noticed even when the net misses one of the two eyes.
  return byMesh * (DOUBT + (1 - DOUBT) * byNet ** 3)
}

/** Upright: the net was trained on eyes as they stand in the picture. */
function squareAroundEye(mesh: Float32Array, { corners, upper, lower }: Eye): Square {
  return {
    centre: middleOf([...upper, ...lower].map((index) => meshPoint(mesh, index))),
    side: MARGIN * between(mesh, corners[0], corners[1]),
    angle: 0,
  }
}

function between(mesh: Float32Array, one: number, other: number): number {
  return distanceBetween(meshPoint(mesh, one), meshPoint(mesh, other))
}
