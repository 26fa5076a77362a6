import {
  type CaptureFrame,
  type Challenge,
  type LaunchEventType,
  type Movement,
  SIMULATED_MODEL,
} from '@ostiary/contract'
import { encodeVector } from '@ostiary/crypto'
import type { Capture } from '../device.ts'
import { between, noise, type Random, randomDigest } from './randomness.ts'

export { SIMULATED_MODEL }

export interface SimulateOptions {
  challenge: Pick<Challenge, 'steps' | 'sampleAtMs'>
  /** Null: the device measures no age, as in sessions that do not want one. */
  ageYears: number | null
  random: Random
  model?: Capture['model']
  /** Score of the passive check, in thousandths. */
  live?: number
  indicators?: string
  browser?: Capture['browser']
  /** The feature vector of the face: 512 numbers. */
  vector?: ArrayLike<number>
}

/** A log entry, at its time after the start of the capture. */
export interface Moment {
  type: LaunchEventType
  n?: number
  atMs: number
}

export interface SimulatedCapture {
  capture: Capture
  moments: readonly Moment[]
}

/** One movement of the person: from rest to `peak` and back. */
interface Reaction {
  movement: Movement
  startMs: number
  endMs: number
  amount: number
}

/** From rest to the peak and back. */
const RAMP_MS = 150
/** No person reacts equally fast three times: one reaction is fast, one slow, one between. */
const REACTIONS_MS = [
  { min: 250, max: 450 },
  { min: 500, max: 800 },
  { min: 850, max: 1200 },
] as const
/** After the request; the next movement is requested 2,400 ms later at the earliest. */
const OVER_AFTER_MS = { min: 1900, max: 2150 }
/** A blink is shorter than other movements. */
const BLINK_MS = { min: 700, max: 800 }

/** How far each movement goes: degrees, share of the open eyes that stays open, times the size. */
const AMOUNTS: Record<Movement, { min: number; max: number }> = {
  turn_left: { min: 22, max: 28 },
  turn_right: { min: -28, max: -22 },
  look_up: { min: 16, max: 20 },
  blink: { min: 0.06, max: 0.16 },
  closer: { min: 1.3, max: 1.4 },
}

/** The measurements of a live person who follows the challenge, in the units of the contract. */
export function simulateCapture(options: SimulateOptions): SimulatedCapture {
  const { challenge, random, live, model = SIMULATED_MODEL, indicators, browser, vector } = options
  const first = Math.floor(random() * REACTIONS_MS.length)
  const reactions = challenge.steps.map((step, index) => react(step, first + index, random))
  const rest = {
    yaw: between(random, -4, 4),
    pitch: between(random, -3, 3),
    roll: between(random, -3, 3),
    eyes: between(random, 0.72, 0.88),
    size: between(random, 0.3, 0.4),
  }
  const frames = challenge.sampleAtMs.map((atMs) => {
    const t = Math.round(atMs + between(random, 3, 40))
    return measure(options, t, poseAt(t, rest, reactions))
  })
  const capture: Capture = {
    model,
    estimate: options.ageYears === null ? { age: 0, spread: 0, frames: 0 } : estimateOf(frames),
    live: live ?? Math.round(between(random, 930, 990)),
    frames,
    ...(indicators !== undefined && { indicators }),
    ...(browser !== undefined && { browser }),
    ...(vector !== undefined && { face: { version: 'FACE3_3', vector: encodeVector(vector) } }),
  }
  return { capture, moments: momentsOf(challenge, frames, reactions, random) }
}

/** The mean of the frames that have an age, and the spread among them, as a device reports them. */
export function estimateOf(frames: readonly CaptureFrame[]): Capture['estimate'] {
  const ages = frames.flatMap(({ age }) => (age === undefined ? [] : [age]))
  const mean = ages.reduce((sum, age) => sum + age, 0) / Math.max(ages.length, 1)
  const variance = ages.reduce((sum, age) => sum + (age - mean) ** 2, 0) / Math.max(ages.length, 1)
  return { age: Math.round(mean), spread: Math.round(Math.sqrt(variance)), frames: Math.max(ages.length, 1) }
}

function react({ movement, atMs }: Challenge['steps'][number], turn: number, random: Random): Reaction {
  const { min, max } = AMOUNTS[movement]
  const quickness = REACTIONS_MS[turn % REACTIONS_MS.length] ?? REACTIONS_MS[0]
  const startMs = atMs + between(random, quickness.min, quickness.max)
  const overMs = atMs + between(random, OVER_AFTER_MS.min, OVER_AFTER_MS.max)
  const blinkMs = between(random, BLINK_MS.min, BLINK_MS.max) + 2 * RAMP_MS
  const endMs = movement === 'blink' ? Math.min(startMs + blinkMs, overMs) : overMs
  return { movement, startMs, endMs, amount: between(random, min, max) }
}

interface Pose {
  yaw: number
  pitch: number
  roll: number
  eyes: number
  size: number
  /** 0 at rest, 1 at the peak of a movement. */
  moved: number
}

function poseAt(t: number, rest: Omit<Pose, 'moved'>, reactions: readonly Reaction[]): Pose {
  const pose: Pose = { ...rest, moved: 0 }
  for (const { movement, startMs, endMs, amount } of reactions) {
    const share = Math.max(0, Math.min(1, (t - startMs) / RAMP_MS, (endMs - t) / RAMP_MS))
    pose.moved = Math.max(pose.moved, share)
    if (movement === 'turn_left' || movement === 'turn_right') pose.yaw += share * amount
    else if (movement === 'look_up') pose.pitch += share * amount
    else if (movement === 'blink') pose.eyes *= 1 - share * (1 - amount)
    else pose.size *= 1 + share * (amount - 1)
  }
  return pose
}

/** A moved or half-lit face gives a lower quality, and closed eyes give no age. */
function measure({ random, ageYears }: SimulateOptions, t: number, pose: Pose): CaptureFrame {
  const thousandths = (value: number, deviation: number, max = 1000) =>
    Math.round(Math.max(0, Math.min(max, 1000 * (value + noise(random, deviation)))))
  const tenths = (value: number, deviation: number) => Math.round(10 * (value + noise(random, deviation)))
  const eyes = thousandths(pose.eyes, 0.02)
  const quality = thousandths(0.86 - 0.26 * pose.moved, 0.03)
  const age = ageYears === null ? undefined : Math.max(10, Math.min(1100, tenths(ageYears, 1.5)))
  return {
    t,
    yaw: tenths(pose.yaw, 0.8),
    pitch: tenths(pose.pitch, 0.8),
    roll: tenths(pose.roll, 0.8),
    eyes,
    size: thousandths(pose.size, 0.004),
    quality,
    ...(eyes > 400 && age !== undefined && { age }),
    digest: randomDigest(random),
  }
}

function momentsOf(
  { steps }: SimulateOptions['challenge'],
  frames: readonly CaptureFrame[],
  reactions: readonly Reaction[],
  random: Random,
): Moment[] {
  const moments: Moment[] = steps.map(({ atMs }, index) => ({
    type: 'movement_shown',
    n: index + 1,
    atMs: atMs + between(random, 5, 30),
  }))
  for (const [index, { startMs }] of reactions.entries()) {
    moments.push({ type: 'movement_seen', n: index + 1, atMs: startMs + between(random, 120, 170) })
  }
  const lastMs = Math.max(frames.at(-1)?.t ?? 0, ...reactions.map(({ endMs }) => endMs))
  moments.push({ type: 'capture_done', atMs: lastMs + between(random, 30, 90) })
  return moments.toSorted((a, b) => a.atMs - b.atMs)
}
