/** Well-formed submissions that no living person before a camera can produce. Only tests import this. */
import type { CaptureFrame, CapturePayload, Challenge, RiskFlagCode } from '@ostiary/contract'
import {
  estimateOf,
  type SimulatedCapture,
  SPOOFS,
  type Spoof,
  seededRandom,
  simulateCapture,
} from '@ostiary/device/simulated'
import type { Changes } from './capture.ts'

/** A changed submission, and how the server must judge it. */
export interface FalseSubmission extends Changes {
  name: string
  /** The session code of the reply. Several when the random challenge decides which rule applies first. */
  codes: readonly number[]
  /** All of these are raised. */
  flags: readonly RiskFlagCode[]
  /** The challenges that the change applies to. */
  fits?: (challenge: Challenge) => boolean
}

type Frames = readonly CaptureFrame[]

/** Changes the frames and computes the estimate again, as a careful forger does. */
const frames = (change: (frames: Frames, challenge: Challenge) => Frames): Changes => ({
  made: ({ capture, moments }, challenge) => {
    const changed = [...change(capture.frames, challenge)]
    return { capture: { ...capture, frames: changed, estimate: estimateOf(changed) }, moments }
  },
})
const frame = (at: number, change: Partial<CaptureFrame>) =>
  frames((all) => all.map((one, index) => (index === at ? { ...one, ...change } : one)))
const payload = (change: (payload: CapturePayload) => Partial<CapturePayload>): Changes => ({
  payload: (claimed) => ({ ...claimed, ...change(claimed) }),
})
const estimate = (change: (estimate: CapturePayload['estimate']) => Partial<CapturePayload['estimate']>) =>
  payload((claimed) => ({ estimate: { ...claimed.estimate, ...change(claimed.estimate) } }))
export const spoof = ({ plan, change }: Spoof): Changes => ({
  made: (honest, challenge) => {
    const other = plan && simulateCapture({ challenge: plan(challenge), ageYears: 42, random: seededRandom(3) })
    const made: SimulatedCapture = other ?? honest
    return change ? change(made, challenge) : made
  },
})

export const injected = (name: string, flag: RiskFlagCode, changes: Changes): FalseSubmission => ({
  name,
  codes: [2],
  flags: [flag],
  ...changes,
})
export const inconclusive = (name: string, changes: Changes): FalseSubmission => ({
  name,
  codes: [-32],
  flags: [],
  ...changes,
})

const TIMES: FalseSubmission[] = [
  injected(
    'frames in reverse',
    'BH_CHALLENGE_MISMATCH',
    frames((all) => all.toReversed()),
  ),
  injected(
    'two frames exchanged',
    'BH_CHALLENGE_MISMATCH',
    frames(([a, b, ...rest]) => (a && b ? [b, a, ...rest] : [])),
  ),
  injected(
    'a frame twice',
    'BH_CHALLENGE_MISMATCH',
    frames((all) => all.flatMap((one, at) => (at === 3 ? [one, one] : [one]))),
  ),
  injected(
    'frames of one moment',
    'BH_CHALLENGE_MISMATCH',
    frames((all) => all.map((one) => ({ ...one, t: 500 }))),
  ),
  injected(
    'frames 300 ms late',
    'BH_CHALLENGE_MISMATCH',
    frames((all) => all.map((one) => ({ ...one, t: one.t + 300 }))),
  ),
  injected(
    'frames twice as slow',
    'BH_CHALLENGE_MISMATCH',
    frames((all) => all.map((one) => ({ ...one, t: one.t * 2 }))),
  ),
  injected(
    'a last frame after the end',
    'BH_CHALLENGE_MISMATCH',
    frames((all) => [...all.slice(0, -1), ...all.slice(-1).map((one) => ({ ...one, t: one.t + 400 }))]),
  ),
  injected('a first frame from long after', 'BH_CHALLENGE_MISMATCH', frame(0, { t: 100_000 })),
  injected(
    'more frames than were asked for',
    'BH_CHALLENGE_MISMATCH',
    frames((all) =>
      all.flatMap((one, at) =>
        at > 0 && at < 6
          ? [one, { ...one, t: one.t + 1, yaw: one.yaw + 1, digest: `more-frame-${at}`.slice(-11) }]
          : [one],
      ),
    ),
  ),
]

const PICTURES: FalseSubmission[] = [
  injected(
    'one digest twice',
    'BH_FRAMES_REPEAT',
    frames((all) => all.map((one, at) => (at === 5 ? { ...one, digest: all[2]?.digest ?? '' } : one))),
  ),
  injected(
    'one digest for all',
    'BH_FRAMES_REPEAT',
    frames((all) => all.map((one) => ({ ...one, digest: 'AAAAAAAAAAA' }))),
  ),
  injected('a loop', 'BH_FRAMES_REPEAT', spoof(SPOOFS.loop)),
  injected(
    'one picture three times under three digests',
    'BH_FRAMES_REPEAT',
    frames((all) =>
      all.map((one, at) => (at === 1 || at === 2 ? { ...(all[0] ?? one), t: one.t, digest: one.digest } : one)),
    ),
  ),
  inconclusive(
    'one picture twice under two digests',
    frames((all) => all.map((one, at) => (at === 1 ? { ...(all[0] ?? one), t: one.t, digest: one.digest } : one))),
  ),
  { name: 'a photograph', codes: [1], flags: ['BH_FRAMES_STATIC'], ...spoof(SPOOFS.still) },
  {
    name: 'one and the same pose',
    codes: [1],
    flags: ['BH_FRAMES_STATIC'],
    ...frames((all) => all.map((one) => ({ ...one, yaw: 5, pitch: -9, roll: 3, eyes: 800, size: 350, quality: 860 }))),
  },
  {
    name: 'a still that trembles',
    codes: [1],
    flags: ['BH_FRAMES_STATIC'],
    ...frames((all) =>
      all.map((one, at) => ({ ...one, yaw: at % 9, pitch: -(at % 7), eyes: 780 + (at % 30), size: 350 + (at % 8) })),
    ),
  },
]

const FEW: FalseSubmission[] = [
  inconclusive(
    'every third frame missing',
    frames((all) => all.filter((_, at) => at % 3 !== 2)),
  ),
  inconclusive(
    'every second frame missing',
    frames((all) => all.filter((_, at) => at % 2 === 0)),
  ),
  inconclusive(
    'ages for four frames only',
    frames((all) => all.map((one, at) => ageless(one, at >= 4))),
  ),
]

function ageless(one: CaptureFrame, isOne: boolean): CaptureFrame {
  const { age: _none, ...rest } = one
  return isOne ? rest : one
}

function early(name: string, changes: Changes): FalseSubmission {
  return { ...inconclusive(name, changes), flags: ['BH_CHALLENGE_LATENCY'] }
}

/** What the face did. */
const POSES: FalseSubmission[] = [
  { name: 'other movements than asked for', codes: [-32, 2], flags: [], ...spoof(SPOOFS.recording) },
  { name: 'movements 900 ms before they are asked for', codes: [-32, 2], flags: [], ...spoof(SPOOFS.early) },
  {
    name: 'no movement but a blink',
    codes: [-32],
    flags: [],
    ...frames((all) =>
      all.map((one, at) => ({
        ...one,
        yaw: 4 + (at % 9),
        pitch: 2 + (at % 5),
        roll: at % 7,
        size: 350 + (at % 6),
        eyes: at === 1 ? 700 : 790 - at,
      })),
    ),
  },
  {
    name: 'the movements of the first step only',
    codes: [-32],
    flags: [],
    ...frames((all, { steps }) =>
      all.map((one, at) =>
        one.t < (steps[1]?.atMs ?? 0) ? one : { ...one, yaw: at, pitch: at, eyes: 800 - at, size: 350 + at },
      ),
    ),
  },
  {
    ...early(
      'a pose before it was asked for',
      frames((all) => all.map((one, at) => (at === 1 ? { ...one, yaw: one.yaw + 260 } : one))),
    ),
    fits: ({ steps }) => steps[0]?.movement === 'turn_left',
  },
  {
    ...early(
      'a face that is near before it was asked for',
      frames((all) => all.map((one, at) => (at === 1 ? { ...one, size: Math.round(one.size * 1.4) } : one))),
    ),
    fits: ({ steps }) => steps[0]?.movement === 'closer',
  },
  {
    name: 'the capture of another challenge',
    codes: [-32, 2],
    flags: [],
    fits: ({ steps }) => steps.every(({ movement }) => movement !== 'blink'),
    made: (_, { steps, sampleAtMs }) => {
      const blinks = steps.map(({ atMs }) => ({ movement: 'blink' as const, atMs }))
      return simulateCapture({ challenge: { steps: blinks, sampleAtMs }, ageYears: 42, random: seededRandom(5) })
    },
  },
]

const IMPLAUSIBLE = 'BH_NUMERIC_IMPLAUSIBLE'
const withAges = (age: (age: number, at: number) => number) => (all: Frames) =>
  all.map((one, at) => (one.age === undefined ? one : { ...one, age: age(one.age, at) }))
const sameEstimate = ({ made }: Changes): Changes => ({
  made: (honest, challenge) => {
    const changed = made?.(honest, challenge) ?? honest
    return { ...changed, capture: { ...changed.capture, estimate: honest.capture.estimate } }
  },
})

const NUMBERS: FalseSubmission[] = [
  injected('an age written over the estimate', IMPLAUSIBLE, spoof(SPOOFS.forged)),
  injected(
    'a younger age written over it',
    IMPLAUSIBLE,
    estimate(({ age }) => ({ age: age - 150 })),
  ),
  injected(
    'an age that is too high by seven months',
    IMPLAUSIBLE,
    estimate(({ age }) => ({ age: age + 7 })),
  ),
  injected(
    'the highest age there is',
    IMPLAUSIBLE,
    estimate(() => ({ age: 1200 })),
  ),
  injected(
    'no age',
    IMPLAUSIBLE,
    estimate(() => ({ age: 0 })),
  ),
  injected(
    'a spread that is too large',
    IMPLAUSIBLE,
    estimate(({ spread }) => ({ spread: spread + 100 })),
  ),
  injected('no spread', IMPLAUSIBLE, {
    ...frames(withAges((age, at) => age + (at % 2 === 0 ? 40 : -40))),
    ...estimate(() => ({ spread: 0 })),
  }),
  injected(
    'one frame more than there is',
    IMPLAUSIBLE,
    estimate((all) => ({ frames: all.frames + 1 })),
  ),
  injected(
    'one frame less than there is',
    IMPLAUSIBLE,
    estimate((all) => ({ frames: all.frames - 1 })),
  ),
  injected(
    'frames twenty years older than the estimate',
    IMPLAUSIBLE,
    sameEstimate(frames(withAges((age) => age + 200))),
  ),
  injected(
    'one frame thirty years older',
    IMPLAUSIBLE,
    sameEstimate(frames(withAges((age, at) => (at === 0 ? age + 300 : age)))),
  ),
  injected('one age for all frames', IMPLAUSIBLE, frames(withAges(() => 420))),
  injected(
    'ages and no frame that has one',
    IMPLAUSIBLE,
    frames((all) => all.map((one) => ageless(one, true))),
  ),
  injected('an age from a frame too poor for one', IMPLAUSIBLE, frame(0, { quality: 349, age: 420 })),
  injected('an age of half a year', IMPLAUSIBLE, frame(0, { age: 5 })),
  injected('an age of 115 years', IMPLAUSIBLE, frame(0, { age: 1150 })),
  ...(['yaw', 'pitch', 'roll'] as const).flatMap((angle) =>
    [800, -800].map((tenths) =>
      injected(`${angle} of ${tenths / 10} degrees`, IMPLAUSIBLE, frame(1, { [angle]: tenths })),
    ),
  ),
  injected('a face of 5 % of the picture', IMPLAUSIBLE, frame(0, { size: 50 })),
  injected('a face larger than the picture', IMPLAUSIBLE, frame(0, { size: 990 })),
  inconclusive(
    'eyes that are never open',
    frames((all) => all.map((one, at) => ({ ...one, eyes: 100 + at }))),
  ),
]

const MODEL: FalseSubmission[] = [
  { id: 'home-made', hash: 'B'.repeat(43) },
  { id: 'simulated-1', hash: 'B'.repeat(43) },
  { id: 'SIMULATED-1', hash: 'AyzSMIsiZbDlq9TDuA805-g-0L-D61SSd1eE58NRFJA' },
  { id: '', hash: 'AyzSMIsiZbDlq9TDuA805-g-0L-D61SSd1eE58NRFJA' },
].map((model) => ({
  name: `the model ${model.id} ${model.hash.slice(0, 3)}`,
  codes: [-20],
  flags: ['BH_MODEL_MISMATCH'],
  ...payload(() => ({ model })),
}))

const LIVE: FalseSubmission[] = [
  ...[0, 120, 299].map(
    (live): FalseSubmission => ({ name: `a mask: ${live}`, codes: [1], flags: [], ...payload(() => ({ live })) }),
  ),
  ...[300, 499].map((live) =>
    inconclusive(
      `hardly a living face: ${live}`,
      payload(() => ({ live })),
    ),
  ),
]

export const CAPTURE_MUTATIONS: readonly FalseSubmission[] = [TIMES, PICTURES, FEW, POSES, NUMBERS, MODEL, LIVE].flat()
