import { MOVEMENTS, type Movement } from '@ostiary/contract'
import { CAPTURE_RULES } from './rules.ts'

export interface ChallengeStep {
  movement: Movement
  /** When it is asked for, in milliseconds after the start of the capture. */
  atMs: number
}

/** What a device is to ask of the user, and when it is to look. */
export interface ChallengePlan {
  steps: ChallengeStep[]
  sampleAtMs: number[]
}

export type RandomBytes = (count: number) => Uint8Array

interface Range {
  min: number
  max: number
}

/**
 * A challenge nobody could have prepared for: which movements, when, and when frames are sampled. The samples stand so that
 * no movement can fall between them, because an honest answer that nobody sees costs the user a try.
 */
export function createChallenge(random: RandomBytes): ChallengePlan {
  const steps = pickSteps(random)
  const sampleAtMs = [
    ...samplesBefore(steps[0]?.atMs ?? 0, random),
    ...steps.flatMap((step) => samplesOfStep(step, random)),
    ...samplesBetween(steps, random),
  ].toSorted((a, b) => a - b)
  return { steps, sampleAtMs }
}

function pickSteps(random: RandomBytes): ChallengeStep[] {
  const steps: ChallengeStep[] = []
  while (steps.length < CAPTURE_RULES.steps) {
    const last = steps.at(-1)
    // The same movement twice in a row could be one long movement.
    const choices = MOVEMENTS.filter((movement) => movement !== last?.movement)
    const movement = choices[below(choices.length, random)] ?? 'turn_left'
    const atMs = last ? last.atMs + within(CAPTURE_RULES.stepGapMs, random) : within(CAPTURE_RULES.firstStepMs, random)
    steps.push({ movement, atMs })
  }
  return steps
}

function samplesOfStep({ movement, atMs }: ChallengeStep, random: RandomBytes): number[] {
  const { count, firstMs, gapMs } = movement === 'blink' ? CAPTURE_RULES.blinkSamples : CAPTURE_RULES.stepSamples
  const times = [atMs + within(firstMs, random)]
  while (times.length < count) times.push((times.at(-1) ?? 0) + within(gapMs, random))
  return times
}

/** Two samples of the face at rest, one in each half of the time before the first step. */
function samplesBefore(firstStepMs: number, random: RandomBytes): number[] {
  const { sampleFirstMsMin: earliest, sampleGapMsMin: gap } = CAPTURE_RULES
  const middle = Math.floor((earliest + firstStepMs) / 2)
  return [within({ min: earliest, max: middle - gap }, random), within({ min: middle, max: firstStepMs - 1 }, random)]
}

/** One more sample before none, some or all of the later steps, when the answer to the step before is over. */
function samplesBetween(steps: readonly ChallengeStep[], random: RandomBytes): number[] {
  return steps.slice(1).flatMap(({ atMs }, index) => {
    const over = (steps[index]?.atMs ?? 0) + CAPTURE_RULES.tailMs + CAPTURE_RULES.sampleGapMsMin
    return below(2, random) === 0 ? [] : [within({ min: over, max: atMs }, random)]
  })
}

function within({ min, max }: Range, random: RandomBytes): number {
  return min + below(max - min + 1, random)
}

/** A whole number below `count`, each equally likely: numbers of the last, incomplete round are thrown again. */
function below(count: number, random: RandomBytes): number {
  const limit = RANGE - (RANGE % count)
  for (;;) {
    const [high = 0, low = 0] = random(2)
    const value = high * 256 + low
    if (value < limit) return value % count
  }
}

const RANGE = 2 ** 16
