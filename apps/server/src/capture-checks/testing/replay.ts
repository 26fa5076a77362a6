/** Recordings of one challenge that are played to others, and honest people who take their time. Only tests import this. */
import { type CaptureFrame, MOVEMENT_KINDS, type Movement, type MovementKind } from '@ostiary/contract'
import { createChallenge } from '../challenge.ts'
import { judgeCapture } from '../judge.ts'
import { checkMovements } from '../movements.ts'
import { type Needs, timingOf } from '../timing.ts'
import { bytesOf, captureOf, framesOf, type Random, reactions, seeded } from './person.ts'

/** Every set of kinds that a user may exclude. */
export const EXCLUSIONS: readonly MovementKind[][] = MOVEMENT_KINDS.flatMap((kind, at) => [
  [kind],
  ...MOVEMENT_KINDS.slice(at + 1).map((other) => [kind, other]),
])

/** Everything that a user may need: each exclusion at each pace, and the slow pace alone. */
export const EVERY_NEED: readonly Needs[] = [
  { pace: 'slow' },
  ...EXCLUSIONS.flatMap((cannot): Needs[] => [{ cannot }, { cannot, pace: 'slow' }]),
]

export const nameOf = ({ cannot = [], pace }: Needs): string =>
  `${pace ? `${pace}, ` : ''}without ${cannot.join(' and ') || 'any'}`

export interface Replays {
  seed: number
  played: number
  /** The recording starts so much later. */
  delayMs?: number
}

const PLAYED_EACH = 20

/** How many fresh challenges are passed by recordings of other challenges, each of which is played to twenty. */
export function passesOf(needs: Needs, { seed, played, delayMs = 0 }: Replays): number {
  const random = seeded(seed)
  let passes = 0
  for (let recording = 0; recording < played / PLAYED_EACH; recording++) {
    const play = recordingOf(needs, delayMs, random)
    for (let time = 0; time < PLAYED_EACH; time++) if (play()) passes++
  }
  return passes
}

/** A recording of one challenge, played to a page that asks for another one. Says whether it passes. */
function recordingOf(needs: Needs, delayMs: number, random: Random): () => boolean {
  const recorded = createChallenge(bytesOf(random), undefined, needs)
  const act = { reactionMs: reactions(recorded, random).map((reactionMs) => reactionMs + delayMs) }
  return () => {
    const asked = createChallenge(bytesOf(random), undefined, needs)
    const frames = framesOf({ ...recorded, sampleAtMs: asked.sampleAtMs }, random, act)
    // Most fail here. The rest of the judgement takes ten times as long.
    if (checkMovements(frames, asked).length > 0) return false
    // The page logs what it sees of the movements that it asks for.
    const reactionMs = asked.steps.map(({ movement, atMs }) =>
      recorded.steps
        .flatMap((step, at) => (step.movement === movement ? step.atMs + (act.reactionMs[at] ?? 0) - atMs : []))
        .find((sinceMs) => sinceMs >= 200 && sinceMs <= timingOf(needs).seenUntilMs),
    )
    return judgeCapture(captureOf(asked, random, { reactionMs }, () => frames)).failure === null
  }
}

/** What a prepared recording shows, in milliseconds: the other movement from and until, and eyes that are shut so long in every period. */
export interface Prepared {
  movement: Movement
  acts: readonly (readonly [fromMs: number, untilMs: number])[]
  shut: { everyMs: number; forMs: number }
}

/** How many of `played` fresh challenges a recording passes that answers none of them, but was made to fit as many as it can. */
export function preparedPassesOf(needs: Needs, recording: Prepared, { seed, played }: Replays): number {
  const { movement, acts, shut } = recording
  const random = seeded(seed)
  let passes = 0
  for (let time = 0; time < played; time++) {
    const asked = createChallenge(bytesOf(random), undefined, needs)
    const rest = framesOf(asked, random, { reactionMs: [] })
    const frames = rest.map((frame) => ({
      ...frame,
      ...(acts.some(([from, until]) => frame.t >= from && frame.t < until) && shownBy(movement, frame)),
      ...(frame.t % shut.everyMs < shut.forMs && { eyes: 60 }),
    }))
    if (checkMovements(frames, asked).length === 0) passes++
  }
  return passes
}

const shownBy = (movement: Movement, { pitch, size }: CaptureFrame): Partial<CaptureFrame> =>
  movement === 'closer' ? { size: Math.round(1.35 * size) } : { pitch: pitch + 180 }

/** As late as an answer of 0.7 seconds may begin and still be sampled. */
const LATEST_MS = { usual: 1350, slow: 5200 }

/** How many of `count` honest people are accepted who begin each movement at any time from quickly to as late as they may. */
export function acceptedOf(needs: Needs, { seed, count }: { seed: number; count: number }): number {
  const random = seeded(seed)
  const latestMs = LATEST_MS[needs.pace ?? 'usual']
  let accepted = 0
  for (let person = 0; person < count; person++) {
    const challenge = createChallenge(bytesOf(random), undefined, needs)
    const reactionMs = challenge.steps.map(() => Math.round(250 + random() * (latestMs - 250)))
    if (judgeCapture(captureOf(challenge, random, { reactionMs })).failure === null) accepted++
  }
  return accepted
}
