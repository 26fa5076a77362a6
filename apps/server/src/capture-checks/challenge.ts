import { MOVEMENTS, type Movement } from '@ostiary/contract'
import { CAPTURE_RULES } from './rules.ts'

export interface ChallengeStep {
  movement: Movement
  /** When it is asked for, in milliseconds after the start of the capture. */
  atMs: number
}

/** What a device has to ask of the user, and when it has to sample frames. */
export interface ChallengePlan {
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

interface Range {
  min: number
  max: number
}

/** A whole number out of a range, both ends included. */
type Choose = (range: Range) => number

/**
 * Creates a challenge that cannot be prepared for: which movements, when, and when frames are sampled. The samples are placed so
 * that no movement can fall between them: an honest answer that no frame shows would cost the user a try.
 */
export function createChallenge(random: RandomBytes, pinned?: PinnedChallenge): ChallengePlan {
  const atRandom: Choose = ({ min, max }) => min + below(max - min + 1, random)
  const when = pinned?.fixedTimes ? middleOf : atRandom
  const steps = pickSteps(when, (last, at) => pinned?.movements[at] ?? pickMovement(last, atRandom))
  const sampleAtMs = [
    ...samplesBefore(steps[0]?.atMs ?? 0, when),
    ...steps.flatMap((step) => samplesOfStep(step, when)),
    ...samplesBetween(steps, when),
  ].toSorted((a, b) => a - b)
  return { steps, sampleAtMs }
}

function pickSteps(when: Choose, next: (last: Movement | undefined, at: number) => Movement): ChallengeStep[] {
  const steps: ChallengeStep[] = []
  while (steps.length < CAPTURE_RULES.steps) {
    const last = steps.at(-1)
    const movement = next(last?.movement, steps.length)
    const atMs = last ? last.atMs + when(CAPTURE_RULES.stepGapMs) : when(CAPTURE_RULES.firstStepMs)
    steps.push({ movement, atMs })
  }
  return steps
}

/** The same movement twice in a row could be one long movement. */
function pickMovement(last: Movement | undefined, choose: Choose): Movement {
  const choices = MOVEMENTS.filter((movement) => movement !== last)
  return choices[choose({ min: 0, max: choices.length - 1 })] ?? 'turn_left'
}

function samplesOfStep({ atMs }: ChallengeStep, when: Choose): number[] {
  const { count, firstMs, gapMs } = CAPTURE_RULES.stepSamples
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

/** Adds at random one more sample before each later step, when the answer to the previous step is over. */
function samplesBetween(steps: readonly ChallengeStep[], when: Choose): number[] {
  return steps.slice(1).flatMap(({ atMs }, index) => {
    const over = (steps[index]?.atMs ?? 0) + CAPTURE_RULES.tailMs + CAPTURE_RULES.sampleGapMsMin
    return when({ min: 0, max: 1 }) === 0 ? [] : [when({ min: over, max: atMs })]
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
