/** A seeded living person before a camera, for the tests of `judgeCapture`. Only tests import this. */
import { createHash } from 'node:crypto'
import type { CaptureFrame, CapturePayload, LaunchEvent, LaunchEventType } from '@ostiary/contract'
import { CHAIN_START, eventText } from '@ostiary/crypto'
import { type ChallengePlan, createChallenge } from '../challenge.ts'
import { appendEvents, emptyLog, type LogState } from '../event-log.ts'
import type { CaptureCase } from '../judge.ts'
import type { Needs } from '../timing.ts'

export const MODEL = { id: 'test-model', hash: 'm'.repeat(43) }

export type Random = () => number

export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export const bytesOf = (random: Random) => (count: number) =>
  Uint8Array.from({ length: count }, () => Math.floor(random() * 256))

const between = (random: Random, min: number, max: number) => Math.round(min + random() * (max - min))

/** Roughly normal: the mean of four random numbers. */
const noise = (random: Random, sd: number) =>
  Math.round((random() + random() + random() + random() - 2) * Math.sqrt(3) * sd)

export interface Moment {
  type: LaunchEventType
  t: number
  n?: number
}

/** Entries with the hash chain that a device makes. */
export function chain(moments: readonly Moment[], from = { seq: 0, hash: CHAIN_START }): LaunchEvent[] {
  let { seq, hash } = from
  return moments.map((moment) => {
    seq++
    hash = createHash('sha256')
      .update(eventText(hash, { seq, ...moment }))
      .digest('base64url')
    return { seq, ...moment, hash }
  })
}

export interface Reactions {
  /** From the moment when a step is shown to the start of its movement. Undefined for one that the page does not see. */
  reactionMs: readonly (number | undefined)[]
}

export function framesOf(challenge: ChallengePlan, random: Random, { reactionMs }: Reactions): CaptureFrame[] {
  const sizeAtRest = between(random, 300, 500)
  const lean = { yaw: noise(random, 30), pitch: noise(random, 40) }
  return challenge.sampleAtMs.map((sample) => {
    const t = sample + between(random, 3, 40)
    const doing = (movement: string) =>
      challenge.steps.some(({ movement: asked, atMs }, index) => {
        const since = t - atMs - (reactionMs[index] ?? Number.POSITIVE_INFINITY)
        return asked === movement && since >= 0 && since < 700
      })
    const yaw = doing('turn_left') ? 250 : doing('turn_right') ? -250 : 0
    return {
      t,
      yaw: lean.yaw + yaw + noise(random, 12),
      pitch: lean.pitch + (doing('look_up') ? 180 : 0) + noise(random, 12),
      roll: noise(random, 15),
      eyes: doing('blink') ? between(random, 20, 150) : 700 + noise(random, 25),
      size: Math.round(sizeAtRest * (doing('closer') ? 1.35 : 1)) + noise(random, 4),
      quality: 750 + noise(random, 40),
      digest: Buffer.from(bytesOf(random)(8)).toString('base64url'),
    }
  })
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** The estimate as an honest device states it for these frames. */
export function estimateFor(frames: readonly CaptureFrame[]): CapturePayload['estimate'] {
  const ages = frames.flatMap(({ age }) => age ?? [])
  const age = mean(ages)
  const spread = Math.sqrt(mean(ages.map((one) => (one - age) ** 2)))
  return { age: Math.round(age), spread: Math.round(spread), frames: ages.length }
}

const seenAt = (shownMs: number, n: number, reactionMs: number | undefined): Moment[] =>
  reactionMs === undefined ? [] : [{ type: 'movement_seen', t: shownMs + reactionMs + 60, n }]

export function momentsOf(challenge: ChallengePlan, attempt: number, { reactionMs }: Reactions): Moment[] {
  const start = 9000
  return [
    { type: 'page_open', t: 120 },
    { type: 'consent_shown', t: 900 },
    { type: 'consent_given', t: 4300 },
    { type: 'camera_requested', t: 4400 },
    { type: 'camera_ready', t: 7800 },
    { type: 'challenge_received', t: start, n: attempt },
    ...challenge.steps.flatMap(({ atMs }, index): Moment[] => [
      { type: 'movement_shown', t: start + atMs, n: index + 1 },
      ...seenAt(start + atMs, index + 1, reactionMs[index]),
    ]),
    { type: 'capture_done', t: start + (challenge.sampleAtMs.at(-1) ?? 0) + 60 },
    { type: 'submit', t: start + (challenge.sampleAtMs.at(-1) ?? 0) + 400 },
  ]
}

export function logOf(moments: readonly Moment[]): LogState {
  return appendEvents(emptyLog(), chain(moments), { maxEvents: 300 }).log
}

/** Human reaction times, but never all within 5 ms of each other: that case has a test of its own. */
export function reactions(challenge: ChallengePlan, random: Random): number[] {
  const times = challenge.steps.map(() => between(random, 250, 900))
  return Math.max(...times) - Math.min(...times) > 5 ? times : reactions(challenge, random)
}

export type TestCapture = CaptureCase & { moments: Moment[] }

/** The complete input of `judgeCapture` for an honest person. */
export function honestCapture(seed: number, attempt = 1, needs: Needs = {}): TestCapture {
  const random = seeded(seed)
  const challenge = createChallenge(bytesOf(random), undefined, needs)
  return captureOf(challenge, random, { reactionMs: reactions(challenge, random), attempt })
}

/** The same for a given challenge and person. `seen` is what the camera shows, if that is not the person. */
export function captureOf(
  challenge: ChallengePlan,
  random: Random,
  { attempt = 1, ...act }: Reactions & { attempt?: number },
  seen?: (act: Reactions) => CaptureFrame[],
): TestCapture {
  const ageYears = 14 + random() * 60
  const frames = (seen?.(act) ?? framesOf(challenge, random, act)).map((frame, index) =>
    index % 5 === 4 ? frame : { ...frame, age: Math.round(ageYears * 10) + noise(random, 15) },
  )
  const moments = momentsOf(challenge, attempt, act)
  const log = logOf(moments)
  const payload: CapturePayload = {
    v: 1,
    sessionId: '00000000-0000-4000-8000-000000000000',
    nonce: 'nonce',
    attempt,
    model: MODEL,
    estimate: estimateFor(frames),
    live: between(random, 650, 1000),
    frames,
    log: { seq: log.seq, hash: log.hash },
  }
  return {
    payload,
    challenge,
    log,
    attempt,
    mismatches: 0,
    wantsAge: true,
    acceptModel: ({ id }) => id === MODEL.id,
    moments,
  }
}
