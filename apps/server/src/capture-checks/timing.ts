import { KIND_OF, MOVEMENT_KINDS, MOVEMENTS, type Movement, type MovementKind } from '@ostiary/contract'
import { CAPTURE_RULES } from './rules.ts'

export interface Range {
  min: number
  max: number
}

/** What the user has asked for, as far as it differs from what everybody gets. */
export interface Needs {
  /** Kinds of movement that the challenge must not ask for. */
  cannot?: readonly MovementKind[] | undefined
  /** Three times the time for each movement. */
  pace?: 'slow' | undefined
}

/** When a challenge asks for its movements, when frames are sampled, and until when an answer counts. */
export interface Timing {
  steps: number
  firstStepMs: Range
  stepGapMs: Range
  /** The samples of a step are over by then. */
  tailMs: number
  stepSamples: { count: number; firstMs: Range; gapMs: Range }
  seenUntilMs: number
  restFromMs: number
  latencyMsMax: number
}

const FULL: Timing = {
  steps: CAPTURE_RULES.steps,
  firstStepMs: CAPTURE_RULES.firstStepMs,
  stepGapMs: CAPTURE_RULES.stepGapMs,
  tailMs: CAPTURE_RULES.tailMs,
  stepSamples: CAPTURE_RULES.stepSamples,
  seenUntilMs: CAPTURE_RULES.seenUntilMs,
  restFromMs: CAPTURE_RULES.restFromMs,
  latencyMsMax: CAPTURE_RULES.latencyMs.max,
}

/**
 * Fewer movements make fewer sequences: two of them without repeats would have two. So there are four steps, a movement may come twice in a
 * row, and the times vary so much that a recording seldom meets them. `replay.test.ts` compares: a recording passes no more often than with
 * all movements. The gap is long enough to come back to rest.
 */
const REDUCED: Timing = {
  ...FULL,
  steps: 4,
  firstStepMs: { min: 800, max: 2000 },
  stepGapMs: { min: 2900, max: 4400 },
  restFromMs: 2500,
}

/** Two movements have 14 sequences, three have 64 and more. */
const TWO_LEFT: Timing = { ...REDUCED, firstStepMs: { min: 800, max: 3000 }, stepGapMs: { min: 2900, max: 6200 } }

/** Three times the time to read or hear, do and undo a movement. The samples are as close as the payload allows. */
const slowed = (timing: Timing, stepGapMs: Range, stepSamples: Timing['stepSamples']): Timing => ({
  steps: timing.steps,
  firstStepMs: { min: 2400, max: 4500 },
  stepGapMs,
  tailMs: 3 * timing.tailMs,
  stepSamples,
  seenUntilMs: 3 * timing.seenUntilMs,
  restFromMs: 3 * CAPTURE_RULES.restFromMs,
  latencyMsMax: 3 * timing.seenUntilMs + (timing.latencyMsMax - timing.seenUntilMs),
})
const { firstMs } = CAPTURE_RULES.stepSamples
const samples: Timing['stepSamples'] = { count: 11, firstMs, gapMs: { min: 580, max: 620 } }
const SLOW = slowed(FULL, { min: 7600, max: 9600 }, samples)
const SLOW_REDUCED = slowed(REDUCED, { min: 7600, max: 10_600 }, samples)

export const isReduced = ({ cannot = [] }: Needs): boolean => cannot.length > 0

/** The kinds that are left, in the order of the contract. */
export const kindsLeft = (cannot: readonly MovementKind[]): MovementKind[] =>
  MOVEMENT_KINDS.filter((kind) => !cannot.includes(kind))

export const movementsLeft = (cannot: readonly MovementKind[] = []): Movement[] =>
  MOVEMENTS.filter((movement) => !cannot.includes(KIND_OF[movement]))

export function timingOf(needs: Needs): Timing {
  if (needs.pace === 'slow') return isReduced(needs) ? SLOW_REDUCED : SLOW
  if (!isReduced(needs)) return FULL
  return movementsLeft(needs.cannot).length > 2 ? REDUCED : TWO_LEFT
}
