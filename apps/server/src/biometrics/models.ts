import { type BuiltInVersion, FACE_MODELS, type ModelVersion } from '@ostiary/contract'

/**
 * The thresholds of each model version, and how a cosine becomes a score. docs/api/biometrics.md shows this table and how
 * it was measured. Never share a row between models: their cosines mean different things.
 */
export interface ModelThresholds {
  /** Predict: at least this cosine is the same person. */
  identifyMin: number
  /**
   * From this cosine on a comparison counts against the budget of hits, though it is no match. A probe that just misses tells as much of
   * the enrolled vector as one that just hits; further away misses tell next to nothing.
   */
  nearMin: number
  /** From this cosine on it is the enrolled vector itself, sent again: two captures of a puppet never came so close (docs/accuracy/faces.md). */
  replayMin: number
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
export const THRESHOLDS: Readonly<Record<BuiltInVersion, ModelThresholds>> = {
  // All faces of this model lie in a narrow cone; its very axis has a cosine of up to 0.943 with a face.
  FACE3_1: {
    identifyMin: 0.945,
    nearMin: 0.93,
    // No captures were measured with this model: only a vector that differs by rounding counts.
    replayMin: 0.9999,
    duplicateMin: 0.945,
    slope: 116,
    consistentMin: 0.936,
  },
  FACE3_3: {
    identifyMin: 0.5,
    nearMin: 0.4,
    replayMin: 0.9995,
    duplicateMin: 0.5,
    slope: 13.7,
    consistentMin: 0.42,
  },
}

/** A model version with all that area E needs to know of it. */
export interface FaceModel extends ModelThresholds {
  version: ModelVersion
  /** The number of entries of its vectors. */
  dimension: number
  /** The id of its declaration; undefined for a model that every tenant has. */
  declarationId?: string
}

/** The models that every tenant has. declared-models.ts adds those of one tenant. */
export const BUILT_IN_MODELS: Readonly<Record<BuiltInVersion, FaceModel>> = {
  FACE3_1: { version: 'FACE3_1', ...FACE_MODELS.FACE3_1, ...THRESHOLDS.FACE3_1 },
  FACE3_3: { version: 'FACE3_3', ...FACE_MODELS.FACE3_3, ...THRESHOLDS.FACE3_3 },
}

export function findBuiltIn(version: string): FaceModel | undefined {
  return Object.hasOwn(BUILT_IN_MODELS, version) ? BUILT_IN_MODELS[version as BuiltInVersion] : undefined
}

/** The score of the contract: 0.5 at the threshold, log-odds linear in the cosine. Callers get its band (hit-budget.ts). */
export function scoreOf(
  { identifyMin, slope }: Pick<ModelThresholds, 'identifyMin' | 'slope'>,
  cosine: number,
): number {
  const score = 1 / (1 + Math.exp(-slope * (cosine - identifyMin)))
  // More than four digits carry no meaning. They hide nothing: the score is an invertible function of the cosine.
  return Math.round(score * 10_000) / 10_000
}
