import type { ModelVersion } from '@ostiary/contract'

/**
 * The thresholds of each model version, and how a cosine becomes a score. docs/api/biometrics.md shows this table and how
 * it was measured. Never share a row between models: their cosines mean different things.
 */
export interface ModelThresholds {
  /** Predict: at least this cosine is the same person. */
  identifyMin: number
  /** Enrol: at least this cosine is a duplicate. */
  duplicateMin: number
  /** How fast the score rises: log-odds per unit of cosine. */
  slope: number
  /** Enrol: below this cosine with the others of its request a vector is bad. Samples of one person may lie below the match. */
  consistentMin: number
}

/**
 * Measured on 102 public-domain portraits of 64 adults (42 genuine and 5,099 other pairs), the slope by a logistic regression
 * with smoothed targets: with so few pairs a steeper one would claim more than is known.
 */
export const THRESHOLDS: Readonly<Record<ModelVersion, ModelThresholds>> = {
  // All faces of this model lie in a narrow cone; its very axis has a cosine of up to 0.943 with a face.
  FACE3_1: { identifyMin: 0.945, duplicateMin: 0.945, slope: 116, consistentMin: 0.936 },
  FACE3_3: { identifyMin: 0.5, duplicateMin: 0.5, slope: 13.7, consistentMin: 0.42 },
}

/** The score of the contract: 0.5 at the threshold, log-odds linear in the cosine. The cosine itself is never returned. */
export function scoreOf(version: ModelVersion, cosine: number): number {
  const { identifyMin, slope } = THRESHOLDS[version]
  const score = 1 / (1 + Math.exp(-slope * (cosine - identifyMin)))
  // Four digits: more carry no meaning, and would let a caller compute the vector from enough answers.
  return Math.round(score * 10_000) / 10_000
}
