import { ALIGNED } from './embed.ts'
import { eyesAndMouthSquare, fitSimilarity, fivePointsOf, squareTo } from './geometry.ts'
import type { Picture, Tensor } from './types.ts'
import { mirrored, type TensorForm, toTensor, warp } from './warp.ts'

const FA_SIZE = 112
/** Where this net expects the midpoint of eyes and mouth, from the top of the crop. */
const FA_MIDDLE = 0.37
const FA_FORM: TensorForm = { layout: 'NCHW', order: 'RGB', mean: [0, 0, 0], scale: 1 }

const DEEP_SIZE = 224
const DEEP_FORM: TensorForm = { layout: 'NHWC', order: 'BGR', mean: [103.939, 116.779, 123.68], scale: 1 }
/** The aligned face of 112 pixels, larger, and a little lower so that the forehead is in it. */
const DEEP_ALIGNED = ALIGNED.map(({ x, y }) => ({ x: (x - 56) * 1.75 + 112, y: (y - 56) * 1.75 + 118 }))

/** A batch of two for the first net: the face and its mirror image. The mean of both ages has a smaller error than either. */
export function faInput(picture: Picture, mesh: Float32Array): Tensor {
  const middle = { x: FA_SIZE / 2, y: FA_SIZE * FA_MIDDLE }
  const crop = warp(picture, squareTo(eyesAndMouthSquare(fivePointsOf(mesh)), FA_SIZE, middle), FA_SIZE)
  return toTensor([crop, mirrored(crop)], FA_FORM)
}

export function readFa(outputs: Readonly<Record<string, Tensor>>): number {
  const [face, mirror] = outputs.age?.data ?? []
  if (face === undefined || mirror === undefined) throw new Error('The first age net did not return two ages')
  return (face + mirror) / 2
}

export function deepInput(picture: Picture, mesh: Float32Array): Tensor {
  return toTensor(warp(picture, fitSimilarity(fivePointsOf(mesh), DEEP_ALIGNED), DEEP_SIZE), DEEP_FORM)
}

/** The expected value over the hundred ages of the second net. Its likeliest age has a larger error. */
export function readDeep(outputs: Readonly<Record<string, Tensor>>): number {
  const shares = outputs.Softmax_1?.data
  if (shares?.length !== 100) throw new Error('The second age net did not return a hundred probabilities')
  let years = 0
  for (const [age, share] of shares.entries()) years += age * share
  return years
}

/** The mean of both nets, uncorrected: a correction fitted on adults would raise the age of every young person. */
export function combineAges(fa: number, deep: number): number {
  return (fa + deep) / 2
}
