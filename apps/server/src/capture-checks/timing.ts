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
  /** Gaps that are longer by a whole answer, at most so many. Which ones is left to chance. */
  pauses: { max: number; ms: number }
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
  pauses: { max: 0, ms: 0 },
  tailMs: CAPTURE_RULES.tailMs,
  stepSamples: CAPTURE_RULES.stepSamples,
  seenUntilMs: CAPTURE_RULES.seenUntilMs,
  restFromMs: CAPTURE_RULES.restFromMs,
  latencyMsMax: CAPTURE_RULES.latencyMs.max,
}

/**
 * Fewer movements make fewer sequences: two of them without repeats would have two. So there are four steps, a movement may come twice in a
 * row, and there are pauses: a pause at which nothing is asked moves all later steps out of the reach of a recording that was made without it,
 * however late the recording starts. `replay.test.ts` compares: a recording passes less often than with all movements. The gap is long
 * enough to come back to rest.
 */
const REDUCED: Timing = {
  ...FULL,
  steps: 4,
  firstStepMs: { min: 800, max: 2000 },
  stepGapMs: { min: 2900, max: 3900 },
  pauses: { max: 1, ms: CAPTURE_RULES.seenUntilMs },
  restFromMs: 2500,
}

/** Two movements have 14 sequences, three have 64 and more. */
const TWO_LEFT: Timing = { ...REDUCED, stepGapMs: { min: 2900, max: 4400 }, pauses: { ...REDUCED.pauses, max: 2 } }

/**
 * Three times the time to read or hear, do and undo a movement. The samples are as close as the payload allows. An answer has so much time that
 * gaps of random length alone stop no recording, so there are pauses with every set.
 */
const slowed = (timing: Timing, pausesMax: number): Timing => ({
  steps: timing.steps,
  firstStepMs: { min: 2400, max: 4500 },
  stepGapMs: { min: 7600, max: 8600 },
  pauses: { max: pausesMax, ms: 3 * timing.seenUntilMs },
  tailMs: 3 * timing.tailMs,
  stepSamples: { count: 11, firstMs: CAPTURE_RULES.stepSamples.firstMs, gapMs: { min: 580, max: 620 } },
  seenUntilMs: 3 * timing.seenUntilMs,
  restFromMs: 3 * CAPTURE_RULES.restFromMs,
  latencyMsMax: 3 * timing.seenUntilMs + (timing.latencyMsMax - timing.seenUntilMs),
})
const SLOW = slowed(FULL, 1)
const SLOW_REDUCED = slowed(REDUCED, 1)
const SLOW_TWO_LEFT = slowed(TWO_LEFT, 3)

export const isReduced = ({ cannot = [] }: Needs): boolean => cannot.length > 0

/** The kinds that are left, in the order of the contract. */
export const kindsLeft = (cannot: readonly MovementKind[]): MovementKind[] =>
  MOVEMENT_KINDS.filter((kind) => !cannot.includes(kind))

export const movementsLeft = (cannot: readonly MovementKind[] = []): Movement[] =>
  MOVEMENTS.filter((movement) => !cannot.includes(KIND_OF[movement]))

export function timingOf(needs: Needs): Timing {
  const isSlow = needs.pace === 'slow'
  if (!isReduced(needs)) return isSlow ? SLOW : FULL
  if (movementsLeft(needs.cannot).length > 2) return isSlow ? SLOW_REDUCED : REDUCED
  return isSlow ? SLOW_TWO_LEFT : TWO_LEFT
}
