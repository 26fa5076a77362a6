import { MODEL_NAME_CHARS, MODEL_VERSION_PATTERN, NODE_LIMITS, RESERVED_MODEL_PREFIX } from '@ostiary/contract'
import { invalid } from '../platform/errors.ts'
import type { FaceModel, ModelThresholds } from './models.ts'

/** What an operator says of a tenant's face model. Pure. */
export interface Declaration {
  name: string
  /** Entries of a vector. */
  length: number
  /** From this cosine on it is the same person, for predictions and for duplicates. */
  threshold: number
  /** Log-odds per unit of cosine. */
  slope: number
  near?: number | undefined
  consistent?: number | undefined
  replay?: number | undefined
}

export type Declared = Pick<FaceModel, 'version' | 'dimension'> & ModelThresholds

const NAME = new RegExp(MODEL_VERSION_PATTERN)
const THRESHOLD = { min: 0.01, max: 0.999 }
const SLOPE = { min: 1, max: 10_000 }
/** A vector that is sent again differs by the rounding of its stored copy only. */
const REPLAY = { byDefault: 0.9999, max: 0.99999 }

/**
 * Where the score has these log-odds lies what was not given. Close to what was measured for the built-in models: by this rule FACE3_3 would
 * have 0.3988 and 0.4198 (it has 0.40 and 0.42), FACE3_1 0.933 and 0.9355 (it has 0.93 and 0.936).
 */
const NEAR_LOG_ODDS = -Math.log(4)
const CONSISTENT_LOG_ODDS = -Math.log(3)

/** Checks a declaration and completes it. Throws what is wrong with it. */
export function readDeclaration({ name, length, threshold, slope, near, consistent, replay }: Declaration): Declared {
  checkName(name)
  if (!Number.isInteger(length) || length < NODE_LIMITS.vectorMin || length > NODE_LIMITS.vectorMax) {
    throw invalid('/length', `must be a whole number from ${NODE_LIMITS.vectorMin} to ${NODE_LIMITS.vectorMax}`)
  }
  const identifyMin = within('/threshold', threshold, THRESHOLD)
  const steepness = within('/slope', slope, SLOPE)
  const below = { min: 0, max: identifyMin }
  const derived = (logOdds: number) => Math.max(0, Math.round((identifyMin + logOdds / steepness) * 10_000) / 10_000)
  return {
    version: name,
    dimension: length,
    identifyMin,
    duplicateMin: identifyMin,
    slope: steepness,
    nearMin: near === undefined ? derived(NEAR_LOG_ODDS) : within('/near', near, below),
    consistentMin: consistent === undefined ? derived(CONSISTENT_LOG_ODDS) : within('/consistent', consistent, below),
    replayMin: within('/replay', replay ?? REPLAY.byDefault, { min: identifyMin, max: REPLAY.max }),
  }
}

function checkName(name: string): void {
  if (!NAME.test(name)) {
    throw invalid('/name', `must have 1 to ${MODEL_NAME_CHARS} letters, digits and underscores`)
  }
  if (name.toUpperCase().startsWith(RESERVED_MODEL_PREFIX)) {
    throw invalid('/name', `must not begin with ${RESERVED_MODEL_PREFIX}: such models are built in`)
  }
}

function within(pointer: string, value: number, { min, max }: { min: number; max: number }): number {
  if (!(value >= min && value <= max)) throw invalid(pointer, `must be a number from ${min} to ${max}`)
  return value
}

/** A declared model never changes: vectors were stored, and scores reported, by its numbers. */
export function isSame(a: Declared, b: Declared): boolean {
  return NUMBERS.every((field) => a[field] === b[field])
}
const NUMBERS = ['dimension', 'identifyMin', 'slope', 'nearMin', 'consistentMin', 'replayMin'] as const
