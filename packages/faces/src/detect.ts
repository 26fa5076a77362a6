import { applyTo, distanceBetween, invert, type Similarity, scaleOf } from './geometry.ts'
import type { Box, Picture, Point, Tensor } from './types.ts'
import { toTensor, warp } from './warp.ts'

/** A face as the detector sees it, in pixels of the picture. */
export interface Detection {
  score: number
  box: Box
  /** The left one in the picture comes first. */
  eyes: readonly [Point, Point]
}

const SIZE = 256
const SCORE_MIN = 0.5
/** Boxes with a larger overlap than this are one face. */
const OVERLAP_MAX = 0.3
/** A face that is narrower than this share of the largest is a picture on the wall or a person far behind. */
const SMALL_SHARE = 0.25

/** Numbers per anchor: box (4) and six points (12). */
const STRIDE = 16

/** The whole picture, centred in a square with black beside it. */
export function letterbox({ width, height }: Picture): Similarity {
  const scale = SIZE / Math.max(width, height)
  return { a: scale, b: 0, dx: (SIZE - width * scale) / 2, dy: (SIZE - height * scale) / 2 }
}

export function detectorInput(picture: Picture): Tensor {
  return toTensor(warp(picture, letterbox(picture), SIZE), {
    layout: 'NHWC',
    order: 'RGB',
    mean: [127.5, 127.5, 127.5],
    scale: 1 / 127.5,
  })
}

/** The faces in the output of the detector, the largest first. */
export function readDetections(outputs: Readonly<Record<string, Tensor>>, picture: Picture): Detection[] {
  const back = invert(letterbox(picture))
  // The finer grid comes first, in the outputs and in the anchors.
  const found = [
    ...decode({ logits: outputs.Identity, boxes: outputs.Identity_2, cells: 16, perCell: 2 }, back),
    ...decode({ logits: outputs.Identity_1, boxes: outputs.Identity_3, cells: 8, perCell: 6 }, back),
  ]
  const faces = withoutOverlaps(found).sort((one, other) => other.box.width - one.box.width)
  const widest = faces[0]?.box.width ?? 0
  return faces.filter(({ box }) => box.width >= widest * SMALL_SHARE)
}

interface Grid {
  logits: Tensor | undefined
  boxes: Tensor | undefined
  cells: number
  perCell: number
}

/** Each anchor is the middle of a cell; box and points are given as offsets from it, in pixels of the detector. */
function decode({ logits, boxes, cells, perCell }: Grid, back: Similarity): Detection[] {
  if (!logits || !boxes) throw new Error('The detector lacks an output')
  const step = SIZE / cells
  const found: Detection[] = []
  const logitMin = Math.log(SCORE_MIN / (1 - SCORE_MIN))
  for (let anchor = 0; anchor < cells * cells * perCell; anchor++) {
    const logit = logits.data[anchor] ?? Number.NEGATIVE_INFINITY
    if (!(logit >= logitMin)) continue
    const cell = Math.floor(anchor / perCell)
    const middle = { x: ((cell % cells) + 0.5) * step, y: (Math.floor(cell / cells) + 0.5) * step }
    const at = (index: number) => boxes.data[anchor * STRIDE + index] ?? 0
    const point = (index: number) => applyTo(back, { x: at(index) + middle.x, y: at(index + 1) + middle.y })
    const centre = point(0)
    const scale = scaleOf(back)
    const [width, height] = [at(2) * scale, at(3) * scale]
    const score = 1 / (1 + Math.exp(-logit))
    const box = { x: centre.x - width / 2, y: centre.y - height / 2, width, height }
    if (width > 0 && height > 0) found.push({ score, box, eyes: [point(4), point(6)] })
  }
  return found
}

/** Keeps the box with the highest score of those that overlap. */
export function withoutOverlaps(found: readonly Detection[]): Detection[] {
  const kept: Detection[] = []
  for (const one of found.toSorted((a, b) => b.score - a.score))
    if (kept.every((other) => !isSameFace(one, other))) kept.push(one)
  return kept
}

function isSameFace(one: Detection, other: Detection): boolean {
  if (overlapOf(one.box, other.box) > OVERLAP_MAX) return true
  // One of two boxes around a face may be much larger. Their eyes are still at the same place.
  const eyeDistance = Math.max(distanceBetween(...one.eyes), distanceBetween(...other.eyes))
  return one.eyes.every((eye, index) => distanceBetween(eye, other.eyes[index] ?? eye) < eyeDistance / 2)
}

/** Intersection over union of two boxes. */
export function overlapOf(one: Box, other: Box): number {
  const width = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x)
  const height = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y)
  if (width <= 0 || height <= 0) return 0
  const shared = width * height
  return shared / (one.width * one.height + other.width * other.height - shared)
}
