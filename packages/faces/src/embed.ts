import { eyesAndMouthSquare, fitSimilarity, fivePointsOf, squareTo } from './geometry.ts'
import type { EmbeddingId, NetId, Picture, Point, Tensor } from './types.ts'
import { normalise } from './vectors.ts'
import { type Crop, type TensorForm, toTensor, warp } from './warp.ts'

/** How a face becomes a feature vector. Cropping is a separate step because the engine keeps the crop instead of the picture. */
export interface Embedding {
  net: NetId
  /** How two vectors are compared. */
  metric: 'cosine' | 'euclidean'
  crop(picture: Picture, mesh: Float32Array): Crop
  input(crop: Crop): Tensor
  read(outputs: Readonly<Record<string, Tensor>>): Float32Array
}

/** Positions of eyes, nose and mouth in a face that is aligned to 112 pixels. */
export const ALIGNED: readonly Point[] = [
  { x: 38.2946, y: 51.6963 },
  { x: 73.5318, y: 51.5014 },
  { x: 56.0252, y: 71.7366 },
  { x: 41.5493, y: 92.3655 },
  { x: 70.7299, y: 92.2041 },
]
const ALIGNED_SIZE = 112
const SQUARE_SIZE = 150
/** Position of the midpoint of eyes and mouth, from the top of the crop. */
const SQUARE_MIDDLE = 0.43

const ALIGNED_FORM: TensorForm = { layout: 'NCHW', order: 'BGR', mean: [127.5, 127.5, 127.5], scale: 1 / 128 }
const SQUARE_FORM: TensorForm = { layout: 'NCHW', order: 'RGB', mean: [0, 0, 0], scale: 1 }

export const EMBEDDING: Readonly<Record<EmbeddingId, Embedding>> = {
  FACE3_3: {
    net: 'fr_feature',
    metric: 'cosine',
    crop: (picture, mesh) => warp(picture, fitSimilarity(fivePointsOf(mesh), ALIGNED), ALIGNED_SIZE),
    input: (crop) => toTensor(crop, ALIGNED_FORM),
    read: (outputs) => normalise(only(outputs)),
  },
  FACE3_1: {
    net: 'dlib',
    metric: 'euclidean',
    crop: (picture, mesh) => {
      const middle = { x: SQUARE_SIZE / 2, y: SQUARE_SIZE * SQUARE_MIDDLE }
      return warp(picture, squareTo(eyesAndMouthSquare(fivePointsOf(mesh)), SQUARE_SIZE, middle), SQUARE_SIZE)
    },
    input: (crop) => toTensor(crop, SQUARE_FORM),
    // Not normalised: the thresholds of this net are distances between its vectors as they are.
    read: only,
  },
}

function only(outputs: Readonly<Record<string, Tensor>>): Float32Array {
  const [output, ...others] = Object.values(outputs)
  if (!output || others.length > 0) throw new Error('An embedding net gives exactly one output')
  return output.data
}
