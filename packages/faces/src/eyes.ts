import { distanceBetween, meshPoint, middleOf, type Square, squareTo } from './geometry.ts'
import type { Picture, Tensor } from './types.ts'
import { type Crop, mirrored, toGrey, warp } from './warp.ts'

const SIZE = 24
/**
 * The crops are this much wider than the eye; 1.6 as in the training of the net. One crop of one eye alone is too often misread, so
 * where the first leaves a doubt there are two more.
 */
export const EYE_LOOKS = [[1.6], [1.3, 1.9]] as const
/** Eyes that seem this far open at the first look are not looked at again (docs/accuracy/faces.md). */
export const SURELY_OPEN = 0.7

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

/** Height by width of an eye that is wide open; open eyes of portraits lie at 0.21 to 0.33 (docs/accuracy/faces.md). */
const WIDE_ASPECT = 0.33
/** The least factor that the net can apply to the openness: it is sometimes wrong. */
const DOUBT = 0.28
/** From the first yaw on the farther eye counts less, from the second not at all: the net takes it for shut, and now and then for open. */
const FAR_EYE_YAW = { from: 15, to: 30 }
/** The limit for the evidence of one look at an eye, so that no look overrules the others. */
const LOOK_MAX = 4
/** The net recognises open eyes better than shut ones, so its output is shifted towards shut by this much. */
const TOWARDS_SHUT = 1

export type BothEyes<T> = readonly [left: T, right: T]

/** The inputs for the eye on the left of the picture and for the one on the right: each crop as it is, and mirrored. */
export function eyeInputs(
  picture: Picture,
  mesh: Float32Array,
  margins: readonly number[],
): BothEyes<readonly Tensor[]> {
  const inputsOf = (eye: Eye) =>
    margins.flatMap((margin) => {
      const crop = warp(picture, squareTo(squareAroundEye(mesh, eye, margin), SIZE), SIZE)
      return [toInput(crop), toInput(mirrored(crop))]
    })
  return [inputsOf(EYES[0]), inputsOf(EYES[1])]
}

function toInput(crop: Crop): Tensor {
  return { dims: [1, 1, SIZE, SIZE], data: toGrey(crop).map((value) => value / 255) }
}

/** The evidence of one look: above 0 for a shut eye, below 0 for an open one. */
export function readShut(outputs: Readonly<Record<string, Tensor>>): number {
  const [shut = 0, open = 0] = Object.values(outputs)[0]?.data ?? []
  return Math.min(LOOK_MAX, Math.max(-LOOK_MAX, shut - open))
}

/** Height by width of the eye on the left of the picture and of the one on the right, by the mesh alone. */
export function eyeAspects(mesh: Float32Array): BothEyes<number> {
  const aspectOf = ({ corners, upper, lower }: Eye) => {
    const width = between(mesh, corners[0], corners[1])
    const height = (between(mesh, upper[0], lower[0]) + between(mesh, upper[1], lower[1])) / 2
    return width > 0 ? height / width : 0
  }
  return [aspectOf(EYES[0]), aspectOf(EYES[1])]
}

export interface EyesSeen {
  /** The evidence of each look. */
  shut: BothEyes<readonly number[]>
  aspects: BothEyes<number>
  /** Degrees. */
  yaw: number
}

/**
 * How far the better eye is open, 0 to 1: people with one eye, or with a patch over the other, see and blink with that one. Two
 * sources: the net sees lids but may be wrong, for example because of glasses; the mesh follows every eye, but its lids close only
 * halfway. Each source lowers the value of the other.
 */
export function openness({ shut, aspects, yaw }: EyesSeen): number {
  const { from, to } = FAR_EYE_YAW
  const farShare = Math.min(1, Math.max(0, (to - Math.abs(yaw)) / (to - from)))
  // A head turned to its own left shows the eye on the left of the picture.
  const left = opennessOf(shut[0], aspects[0]) * (yaw < 0 ? farShare : 1)
  const right = opennessOf(shut[1], aspects[1]) * (yaw > 0 ? farShare : 1)
  return Math.max(left, right)
}

function opennessOf(shut: readonly number[], aspect: number): number {
  const evidence = (2 * shut.reduce((sum, look) => sum + look, 0)) / shut.length
  const byNet = 1 / (1 + Math.exp(evidence + TOWARDS_SHUT))
  const byMesh = Math.min(1, aspect / WIDE_ASPECT)
  // To the third power, so that a blink is noticed even when the net misreads some of the crops.
  return byMesh * (DOUBT + (1 - DOUBT) * byNet ** 3)
}

/** Upright: the net was trained on eyes as they stand in the picture. */
function squareAroundEye(mesh: Float32Array, { corners, upper, lower }: Eye, margin: number): Square {
  return {
    centre: middleOf([...upper, ...lower].map((index) => meshPoint(mesh, index))),
    side: margin * between(mesh, corners[0], corners[1]),
    angle: 0,
  }
}

function between(mesh: Float32Array, one: number, other: number): number {
  return distanceBetween(meshPoint(mesh, one), meshPoint(mesh, other))
}
