import { distanceBetween, meshPoint, middleOf, type Square, squareTo } from './geometry.ts'
import type { Picture, Tensor } from './types.ts'
import { type Crop, mirrored, toGrey, warp } from './warp.ts'

const SIZE = 24
/** What the net saw in training: this much wider than the eye. */
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
/** What remains of the openness when the net calls both eyes shut: it errs now and then. */
const DOUBT = 0.28
/** From this turn on only the nearer eye is looked at: the net takes the far one for shut. */
const ONE_EYE_YAW = 30
/** One look at an eye counts for no more than this, so that none overrules the others. */
const LOOK_MAX = 4
/** The net knows open eyes better than shut ones: what it says is moved this far towards shut. */
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

/** How strongly one look speaks for a shut eye: above 0 for shut, below for open. */
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
  /** What each of the four looks says, in the order of the inputs. */
  shut: readonly number[]
  aspect: number
  /** Degrees. */
  yaw: number
}

/**
 * How far the eyes are open, 0 to 1. Two witnesses: the net sees lids but may be wrong, for a pair of glasses say; the mesh
 * sees every eye, but its lids close only halfway. So each lowers what the other says.
 */
export function openness({ shut, aspect, yaw }: EyesSeen): number {
  const [left = 0, leftMirrored = 0, right = 0, rightMirrored = 0] = shut
  // A head turned to its own left shows the eye on the left of the picture.
  const leftShare = Math.min(1, Math.max(0, 0.5 + yaw / ONE_EYE_YAW / 2))
  const evidence = leftShare * (left + leftMirrored) + (1 - leftShare) * (right + rightMirrored)
  const byNet = 1 / (1 + Math.exp(evidence + TOWARDS_SHUT))
  const byMesh = Math.min(1, aspect / WIDE_ASPECT)
  // To the third power, so that a blink is seen even where the net overlooks one of the two eyes.
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
