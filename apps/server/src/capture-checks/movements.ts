import type { CaptureFrame, Movement } from '@ostiary/contract'
import type { ChallengePlan, ChallengeStep } from './challenge.ts'
import type { LogEntry } from './event-rules.ts'
import { type Finding, INCONCLUSIVE, injected, NOT_FOLLOWED } from './finding.ts'
import { CAPTURE_RULES } from './rules.ts'
import { isReduced, movementsLeft, type Timing, timingOf } from './timing.ts'

type Frames = readonly CaptureFrame[]
type Asked = Omit<ChallengePlan, 'sampleAtMs'>

/** The face at rest, looking into the camera as this person does: what movements are measured against. */
export type Baseline = Pick<CaptureFrame, 'yaw' | 'pitch' | 'eyes' | 'size'>

/** Checks that the face made each movement after it was asked for, and not before. */
export function checkMovements(frames: Frames, challenge: Asked): Finding[] {
  const { steps } = challenge
  const baseline = findBaseline(frames, steps)
  if (!baseline) return [INCONCLUSIVE]
  const timing = timingOf(challenge)
  const findings = steps.flatMap((step, index) =>
    checkStep(frames, { step, previous: steps[index - 1], baseline, timing }),
  )
  if (isShow(frames, challenge, baseline)) findings.push(NOT_FOLLOWED)
  return findings
}

/** Honest people who mistake left for right, or settle down late, do this too. It costs a try and raises a flag, but does not end the flow. */
const EARLY: Finding = { flag: 'BH_CHALLENGE_LATENCY', failure: 'LIVENESS_INCONCLUSIVE' }

interface StepContext {
  step: ChallengeStep
  previous: ChallengeStep | undefined
  baseline: Baseline
  timing: Timing
}

function checkStep(frames: Frames, context: StepContext): Finding[] {
  const findings: Finding[] = []
  if (isEarly(frames, context)) findings.push(EARLY)
  if (!isSeen(frames, context)) findings.push(NOT_FOLLOWED)
  return findings
}

/** The movement as a change of the numbers against the face at rest. */
export function shows(movement: Movement, { yaw, pitch, eyes, size }: CaptureFrame, rest: Baseline): boolean {
  switch (movement) {
    case 'turn_left':
      return yaw - rest.yaw > CAPTURE_RULES.turn
    case 'turn_right':
      return rest.yaw - yaw > CAPTURE_RULES.turn
    case 'look_up':
      return pitch - rest.pitch > CAPTURE_RULES.lookUp
    case 'blink':
      return eyes * 1000 < rest.eyes * CAPTURE_RULES.eyesShut
    case 'closer':
      return size * 1000 > rest.size * CAPTURE_RULES.closer
  }
}

/** From the frames before the first movement was asked for. Eyes: the widest, because people blink. */
export function findBaseline(frames: Frames, steps: readonly ChallengeStep[]): Baseline | undefined {
  const before = frames.filter(({ t }) => t < (steps[0]?.atMs ?? 0) + CAPTURE_RULES.earlyUntilMs)
  if (before.length === 0) return undefined
  return {
    yaw: medianOf(before.map(({ yaw }) => yaw)),
    pitch: medianOf(before.map(({ pitch }) => pitch)),
    eyes: Math.max(...before.map(({ eyes }) => eyes)),
    size: medianOf(before.map(({ size }) => size)),
  }
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
}

/** A frame in the time for an answer shows the movement, and an earlier frame since the previous step does not: the movement began. */
function isSeen(frames: Frames, context: StepContext): boolean {
  const { step, baseline, timing } = context
  const from = step.atMs + CAPTURE_RULES.seenFromMs
  const until = step.atMs + timing.seenUntilMs
  return frames.some(
    (frame) =>
      frame.t >= from && frame.t <= until && shows(step.movement, frame, baseline) && begins(frames, frame, context),
  )
}

/** Between two steps that ask for the same movement, the face must have come back to rest. */
function begins(frames: Frames, { t }: CaptureFrame, { step, previous, baseline, timing }: StepContext): boolean {
  const isRepeat = previous?.movement === step.movement
  const since = previous ? previous.atMs + (isRepeat ? timing.restFromMs : CAPTURE_RULES.seenFromMs) : 0
  return frames.some((frame) => frame.t >= since && frame.t < t && !shows(step.movement, frame, baseline))
}

/**
 * The movement was there before a person could answer. Between two steps only the time after the previous answer counts. Otherwise
 * people who mistake left for right would be taken for a recording.
 */
function isEarly(frames: Frames, context: StepContext): boolean {
  const { step, previous, baseline, timing } = context
  const from = previous ? previous.atMs + timing.restFromMs : 0
  const waiting = frames.filter(({ t }) => t >= from && t < step.atMs + CAPTURE_RULES.earlyUntilMs)
  const early = waiting.map((frame, index) =>
    previous
      ? shows(step.movement, frame, baseline) && begins(frames, frame, context)
      : // Before the first step the only baseline is the frames before this one.
        waiting.slice(0, index).some((rest) => shows(step.movement, frame, rest)),
  )
  // Everybody blinks now and then. Eyes that are shut in two frames in a row are not such a blink.
  return early.some((is, index) => is && (step.movement !== 'blink' || early[index + 1] === true))
}

const HEAD_MOVEMENTS = ['turn_left', 'turn_right', 'look_up'] as const satisfies readonly Movement[]

/**
 * A recording that turns in all directions meets every challenge sooner or later. Its movements that were not asked for give it
 * away. One such movement is allowed: people mistake left for right.
 */
function isShow(frames: Frames, { steps, cannot }: Asked, baseline: Baseline): boolean {
  const parts = steps.map(({ movement, atMs }, index): Part => {
    const end = steps[index + 1]?.atMs ?? Number.POSITIVE_INFINITY
    const isDuring = ({ t }: CaptureFrame) =>
      t >= atMs + CAPTURE_RULES.seenFromMs && t < end + CAPTURE_RULES.earlyUntilMs
    const last = frames[frames.findIndex(isDuring) - 1]
    return { movement, before: steps[index - 1]?.movement, during: frames.filter(isDuring), last }
  })
  if (isReduced({ cannot })) return isReducedShow(parts, cannot, baseline)
  const unasked = parts.filter(({ movement, before, during }) =>
    // The answer to the previous step may reach into this one.
    HEAD_MOVEMENTS.some(
      (other) => other !== movement && other !== before && during.some((frame) => shows(other, frame, baseline)),
    ),
  )
  return unasked.length > CAPTURE_RULES.unaskedStepsMax
}

/** A step, the one before it, its frames, and the last frame before those. */
interface Part {
  movement: Movement
  before: Movement | undefined
  during: Frames
  last: CaptureFrame | undefined
}

/**
 * With few movements left, a recording that always makes the same one, or two at once, would meet a third of the challenges. So no movement may begin
 * that was not asked for; one that goes on since the previous step may. And eyes that open and shut all the time answer every request to close them.
 */
function isReducedShow(parts: readonly Part[], cannot: Asked['cannot'], baseline: Baseline): boolean {
  const left = movementsLeft(cannot)
  const others = [...HEAD_MOVEMENTS, ...(left.includes('closer') ? (['closer'] as const) : [])]
  const hasUnasked = parts.some(({ movement, during, last }) =>
    others.some((other) => other !== movement && hasBegun(other, during, { last, baseline })),
  )
  const fluttering = parts.filter(({ movement, during }) => movement !== 'blink' && isFlutter(during, baseline))
  return hasUnasked || (left.includes('blink') && fluttering.length > CAPTURE_RULES.unaskedStepsMax)
}

function hasBegun(movement: Movement, during: Frames, { last, baseline }: Pick<Part, 'last'> & { baseline: Baseline }) {
  return during.some((frame, index) => {
    const previous = index === 0 ? last : during[index - 1]
    return shows(movement, frame, baseline) && !(previous && shows(movement, previous, baseline))
  })
}

/**
 * Everybody blinks now and then, but not in a third of the frames. Eyes may look shut in a head that moves, so only a head at rest
 * counts.
 */
function isFlutter(during: Frames, baseline: Baseline): boolean {
  const { turn, lookUp, flutter } = CAPTURE_RULES
  const shut = during.filter(
    (frame) =>
      Math.abs(frame.yaw - baseline.yaw) <= turn / 2 &&
      Math.abs(frame.pitch - baseline.pitch) <= lookUp / 2 &&
      shows('blink', frame, baseline),
  )
  return shut.length >= Math.max(flutter.framesMin, flutter.share * during.length)
}

/**
 * The movements by the log, where it says so: shown when they were due, answered after as long as people take, and not one
 * like the other.
 */
export function checkLatencies(started: readonly LogEntry[], challenge: Asked): Finding[] {
  const { steps } = challenge
  const shown = started.filter(({ type }) => type === 'movement_shown')
  const latencies = started
    .filter(({ type }) => type === 'movement_seen')
    .map((seen) => seen.t - (shown.find(({ n }) => n === seen.n)?.t ?? Number.POSITIVE_INFINITY))
  const { min } = CAPTURE_RULES.latencyMs
  const { latencyMsMax } = timingOf(challenge)
  const isHuman = latencies.every((latency) => latency >= min && latency <= latencyMsMax)
  if (!isHuman || shown.some((entry) => isShownEarly(entry, started, steps))) return [injected('BH_CHALLENGE_LATENCY')]
  // Two answers can take equally long.
  if (latencies.length < CAPTURE_RULES.latenciesMin) return []
  const spread = Math.max(...latencies) - Math.min(...latencies)
  if (spread <= CAPTURE_RULES.latencySpreadMs.program) return [injected('BH_CHALLENGE_LATENCY')]
  return spread <= CAPTURE_RULES.latencySpreadMs.doubtful ? [INCONCLUSIVE] : []
}

/** The capture starts when the challenge arrives, or later. So no step is shown earlier than its time after the challenge. */
function isShownEarly({ t, n }: LogEntry, started: readonly LogEntry[], steps: readonly ChallengeStep[]): boolean {
  const due = steps[(n ?? 0) - 1]?.atMs ?? 0
  return t - (started[0]?.t ?? 0) < due - CAPTURE_RULES.logSlackMs
}
