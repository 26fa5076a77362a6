import { NODE_LIMITS } from '@ostiary/contract'
import type { ModelThresholds } from './models.ts'
import { dot } from './vector.ts'

export interface Judged {
  vector: Float64Array
  /** 0 is good, 1 is bad; filtered from 0.8 on. */
  badness: number
  reason: 'flat' | 'disagrees'
}

/**
 * How bad each embedding of one request is, 0 to 1. The specification names a threshold (0.8) and not what it is compared
 * with; this is our reading (docs/api/biometrics.md).
 *
 * flat: all entries of the vector are nearly equal, as for an empty or masked picture. Measured as the cosine with the
 * constant vector, which is low for every real face.
 * disagrees: the vector is not of the same person as the other vectors of the request. Measured as the cosine with the
 * middle vector of those that are not flat. If two vectors disagree, neither can be trusted.
 *
 * It cannot detect a blurred or covered face from a single vector: that would need examples of such vectors.
 */
export function judge(vectors: readonly Float64Array[], thresholds: ModelThresholds): Judged[] {
  const flat = vectors.map((vector) => logistic((flatnessOf(vector) - FLAT_HALF) / FLAT_WIDTH))
  const usable = vectors.filter((_, index) => (flat[index] ?? 1) < NODE_LIMITS.badEmbedding)
  const agreements = new Map(agreementOf(usable).map((agreement, index) => [usable[index], agreement]))
  // Four times as steep as the model's score; 0.8 is reached at the threshold.
  const steepness = thresholds.slope * 4
  return vectors.map((vector, index) => {
    const agreement = agreements.get(vector)
    const disagrees =
      agreement === undefined ? 0 : logistic(LOG_ODDS_BAD + steepness * (thresholds.consistentMin - agreement))
    const flatness = flat[index] ?? 1
    return { vector, badness: Math.max(flatness, disagrees), reason: flatness >= disagrees ? 'flat' : 'disagrees' }
  })
}

export function isGood({ badness }: Judged): boolean {
  return badness < NODE_LIMITS.badEmbedding
}

/** Level of evidence of an enrolment, by the number of good vectors that agree with each other. */
export function enrollLevelOf(goodVectors: number): 1 | 2 | 3 {
  return goodVectors >= 5 ? 3 : goodVectors >= 3 ? 2 : 1
}

// Badness is 0.5 at a cosine of 0.9 with the constant vector and reaches 0.8 at 0.914.
const FLAT_HALF = 0.9
const FLAT_WIDTH = 0.01

const LOG_ODDS_BAD = Math.log(NODE_LIMITS.badEmbedding / (1 - NODE_LIMITS.badEmbedding))

function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x))
}

/** The absolute cosine with the vector whose entries are all equal. */
export function flatnessOf(unit: Float64Array): number {
  return Math.abs(unit.reduce((sum, value) => sum + value, 0)) / Math.sqrt(unit.length)
}

/** For each vector the cosine with the middle vector; for the middle vector itself the cosine with its nearest one. */
function agreementOf(vectors: readonly Float64Array[]): (number | undefined)[] {
  if (vectors.length < 2) return vectors.map(() => undefined)
  const cosines = vectors.map((a) => vectors.map((b) => dot(a, b)))
  const sums = cosines.map((row) => row.reduce((sum, value) => sum + value, 0))
  const middle = sums.indexOf(Math.max(...sums))
  return cosines.map((row, index) =>
    index === middle ? Math.max(...row.filter((_, other) => other !== middle)) : row[middle],
  )
}
