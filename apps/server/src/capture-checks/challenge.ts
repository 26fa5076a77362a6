import { KIND_OF, MOVEMENT_KINDS_MIN, type Movement } from '@ostiary/contract'
import { CAPTURE_RULES } from './rules.ts'
import { isReduced, movementsLeft, type Needs, type Range, type Timing, timingOf } from './timing.ts'

export interface ChallengeStep {
  movement: Movement
  /** When it is asked for, in milliseconds after the start of the capture. */
  atMs: number
}

/** What a device has to ask of the user, when it has to sample frames, and which needs of the user it respects. */
export interface ChallengePlan extends Needs {
  steps: ChallengeStep[]
  sampleAtMs: number[]
}

export type RandomBytes = (count: number) => Uint8Array

/** A challenge that the host of a test session chooses in advance. Sessions of a live key have no such choice. */
export interface PinnedChallenge {
  movements: readonly Movement[]
  /** Whether the times are fixed too. */
  fixedTimes: boolean
}

/** A whole number out of a range, both ends included. */
type Choose = (range: Range) => number

/**
 * Creates a challenge that cannot be prepared for: which movements, when, and when frames are sampled. The samples are placed so
 * that no movement can fall between them: an honest answer that no frame shows would cost the user a try.
 */
export function createChallenge(random: RandomBytes, pinned?: PinnedChallenge, needs: Needs = {}): ChallengePlan {
  const atRandom: Choose = ({ min, max }) => min + below(max - min + 1, random)
  const when = pinned?.fixedTimes ? middleOf : atRandom
  const timing = timingOf(needs)
  const movements = isReduced(needs) ? pickReduced(needs, atRandom, pinned) : pickMovements(atRandom, pinned)
  const steps = placeSteps(movements, timing, when)
  const sampleAtMs = [
    ...samplesBefore(steps[0]?.atMs ?? 0, when),
    ...steps.flatMap((step) => samplesOfStep(step, timing, when)),
    ...samplesBetween(steps, needs, when),
  ].toSorted((a, b) => a - b)
  const { cannot = [], pace } = needs
  return { steps, sampleAtMs, ...(cannot.length > 0 && { cannot }), ...(pace && { pace }) }
}

/** The same movement twice in a row could be one long movement. */
function pickMovements(choose: Choose, pinned: PinnedChallenge | undefined): Movement[] {
  const movements: Movement[] = []
  while (movements.length < CAPTURE_RULES.steps) {
    const choices = movementsLeft().filter((movement) => movement !== movements.at(-1))
    movements.push(pinned?.movements[movements.length] ?? oneOf(choices, choose))
  }
  return movements
}

/** At least two kinds, each sequence equally likely. What a test session has pinned stays where the user can do it. */
function pickReduced({ cannot, ...needs }: Needs, choose: Choose, pinned: PinnedChallenge | undefined): Movement[] {
  const choices = movementsLeft(cannot)
  for (;;) {
    const movements = Array.from({ length: timingOf({ cannot, ...needs }).steps }, (_, at) => {
      const wanted = pinned?.movements[at]
      return wanted && choices.includes(wanted) ? wanted : oneOf(choices, choose)
    })
    if (new Set(movements.map((movement) => KIND_OF[movement])).size >= MOVEMENT_KINDS_MIN) return movements
  }
}

function oneOf(choices: readonly Movement[], choose: Choose): Movement {
  return choices[choose({ min: 0, max: choices.length - 1 })] ?? 'turn_left'
}

function placeSteps(movements: readonly Movement[], timing: Timing, when: Choose): ChallengeStep[] {
  const { firstStepMs, stepGapMs } = timing
  const pausesMs = placePauses(movements.length - 1, timing, when)
  let atMs = 0
  return movements.map((movement, index) => {
    atMs += index === 0 ? when(firstStepMs) : when(stepGapMs) + (pausesMs[index - 1] ?? 0)
    return { movement, atMs }
  })
}

/** How much longer each gap is. Every choice of gaps is equally likely: no recording has a better chance than another. */
function placePauses(gaps: number, { pauses: { max, ms } }: Timing, when: Choose): number[] {
  if (max === 0) return []
  for (;;) {
    const pausesMs = Array.from({ length: gaps }, () => ms * when({ min: 0, max: 1 }))
    if (pausesMs.filter((pauseMs) => pauseMs > 0).length <= max) return pausesMs
  }
}

function samplesOfStep({ atMs }: ChallengeStep, { stepSamples }: Timing, when: Choose): number[] {
  const { count, firstMs, gapMs } = stepSamples
  const times = [atMs + when(firstMs)]
  while (times.length < count) times.push((times.at(-1) ?? 0) + when(gapMs))
  return times
}

/** Two samples of the face at rest, one in each half of the time before the first step. */
function samplesBefore(firstStepMs: number, when: Choose): number[] {
  const { sampleFirstMsMin: earliest, sampleGapMsMin: gap } = CAPTURE_RULES
  const middle = Math.floor((earliest + firstStepMs) / 2)
  return [when({ min: earliest, max: middle - gap }), when({ min: middle, max: firstStepMs - 1 })]
}

/**
 * One more sample before a later step, when the answer to the previous step is over: at random, and always between two steps that ask for
 * the same movement, to show that the face came back to rest.
 */
function samplesBetween(steps: readonly ChallengeStep[], needs: Needs, when: Choose): number[] {
  const { tailMs, restFromMs } = timingOf(needs)
  return steps.slice(1).flatMap(({ movement, atMs }, index) => {
    const before = steps[index]
    if (before?.movement === movement) return [when({ min: before.atMs + restFromMs, max: atMs })]
    const over = (before?.atMs ?? 0) + tailMs + CAPTURE_RULES.sampleGapMsMin
    return isReduced(needs) || when({ min: 0, max: 1 }) === 0 ? [] : [when({ min: over, max: atMs })]
  })
}

const middleOf: Choose = ({ min, max }) => Math.floor((min + max) / 2)

/** A whole number below `count`, each equally likely: values of the last, incomplete range are drawn again. */
function below(count: number, random: RandomBytes): number {
  const limit = RANGE - (RANGE % count)
  for (;;) {
    const [high = 0, low = 0] = random(2)
    const value = high * 256 + low
    if (value < limit) return value % count
  }
}

const RANGE = 2 ** 16
