import type { CaptureFrame, CapturePayload } from '@ostiary/contract'
import { type Finding, INCONCLUSIVE, injected } from './finding.ts'
import { CAPTURE_RULES } from './rules.ts'

type AgedFrame = CaptureFrame & { age: number }

export interface Estimate {
  /** Cut to a tenth, never rounded up: 17.96 must not become 18. */
  ageYears: number
  unstable: boolean
}

/** The estimate that follows from the frames. The device's own estimate is only compared with it. */
export function estimateOf(frames: readonly CaptureFrame[]): Estimate {
  const ages = agedOf(frames).map(({ age }) => age)
  if (ages.length === 0) return { ageYears: 0, unstable: false }
  return { ageYears: Math.floor(meanOf(ages)) / 10, unstable: deviationOf(ages) > CAPTURE_RULES.spreadMax }
}

/** Checks the stated estimate against the frames. */
export function checkEstimate({ frames, estimate }: Pick<CapturePayload, 'frames' | 'estimate'>): Finding[] {
  const aged = agedOf(frames)
  const ages = aged.map(({ age }) => age)
  const agrees =
    estimate.frames === aged.length &&
    Math.abs(estimate.age - meanOf(ages)) <= CAPTURE_RULES.ageSlack &&
    Math.abs(estimate.spread - deviationOf(ages)) <= CAPTURE_RULES.spreadSlack
  if (!agrees || aged.some(({ quality }) => quality < CAPTURE_RULES.agedQualityMin)) return [injected(IMPLAUSIBLE)]
  if (aged.length < CAPTURE_RULES.agedFramesMin) return [INCONCLUSIVE]
  // No model gives the same age for frames that differ.
  return new Set(ages).size === 1 ? [injected(IMPLAUSIBLE)] : []
}

/** For sessions without an age: as many frames must be good enough as an estimate would need. */
export function checkQuality(frames: readonly CaptureFrame[]): Finding[] {
  const good = frames.filter(({ quality }) => quality >= CAPTURE_RULES.agedQualityMin)
  return good.length < CAPTURE_RULES.agedFramesMin ? [INCONCLUSIVE] : []
}

/** Checks that a face before a camera can have these measurements. */
export function checkRanges(frames: readonly CaptureFrame[]): Finding[] {
  const { human } = CAPTURE_RULES
  const plausible = frames.every(
    ({ yaw, pitch, roll, size, age }) =>
      Math.abs(yaw) <= human.yawMax &&
      Math.abs(pitch) <= human.pitchMax &&
      Math.abs(roll) <= human.rollMax &&
      size >= human.sizeMin &&
      size <= human.sizeMax &&
      (age === undefined || (age >= human.ageMin && age <= human.ageMax)),
  )
  if (!plausible) return [injected(IMPLAUSIBLE)]
  // Some open eyes measure little more than shut ones: of 102 portraits the narrowest had 178. That is not an attack.
  return Math.max(...frames.map(({ eyes }) => eyes)) >= human.openEyesMin ? [] : [INCONCLUSIVE]
}

/** Checks the score of the passive check on the device. */
export function checkLive(live: number): Finding[] {
  if (live < CAPTURE_RULES.liveSpoofBelow) return [{ failure: 'SPOOF' }]
  return live < CAPTURE_RULES.liveSureFrom ? [INCONCLUSIVE] : []
}

const IMPLAUSIBLE = 'BH_NUMERIC_IMPLAUSIBLE'

function agedOf(frames: readonly CaptureFrame[]): AgedFrame[] {
  return frames.filter((frame): frame is AgedFrame => frame.age !== undefined)
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The standard deviation of the population, not of a sample: the frames are all there are. */
function deviationOf(values: readonly number[]): number {
  const mean = meanOf(values)
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)))
}
