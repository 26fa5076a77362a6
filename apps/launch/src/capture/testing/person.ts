/** Simulates a person at the camera who does what the screen says. Only tests import this. */
import type { Movement } from '@ostiary/contract'
import type { Measured, SeenFace } from '@ostiary/faces'

export type Random = () => number

/** Random numbers that depend only on the seed. */
export function seeded(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d)
    return ((mixed ^ (mixed >>> 12)) >>> 0) / 2 ** 32
  }
}

interface Reaction {
  movement: Movement
  fromMs: number
  untilMs: number
}

export interface Person {
  /** The screen shows this movement, or none. */
  read(movement: Movement | null, nowMs: number): void
  faceAt(atMs: number): SeenFace
  measuredAt(atMs: number): Measured
}

export interface PersonOptions {
  random: Random
  ageYears?: number
  /** What the person does when a movement is shown. Default: that movement. */
  answer?: (asked: Movement) => Movement | undefined
}

const RAMP_MS = 150

export function createPerson({ random, ageYears = 34, answer = (asked) => asked }: PersonOptions): Person {
  const between = (min: number, max: number) => min + random() * (max - min)
  const noise = (deviation: number) => (random() + random() + random() - 1.5) * 2 * deviation
  const rest = { yaw: between(-4, 4), pitch: between(-3, 3), eyes: between(0.75, 0.95), size: between(0.3, 0.38) }
  const reactions: Reaction[] = []
  let asked: Movement | null = null
  let pictures = 0

  /** From 0 at rest to 1 at the peak. */
  const share = (movement: Movement, atMs: number) =>
    Math.max(
      0,
      ...reactions
        .filter((reaction) => reaction.movement === movement)
        .map(({ fromMs, untilMs }) => Math.min(1, (atMs - fromMs) / RAMP_MS, (untilMs - atMs) / RAMP_MS)),
    )

  function faceAt(atMs: number): SeenFace {
    const moved = Math.max(...(['turn_left', 'turn_right', 'look_up'] as const).map((one) => share(one, atMs)))
    const score = Math.max(0, Math.min(1, 0.85 - 0.25 * moved + noise(0.03)))
    return {
      mesh: new Float32Array(0),
      box: { x: 220, y: 120, width: 200, height: 260 },
      pose: {
        yaw: rest.yaw + 25 * share('turn_left', atMs) - 25 * share('turn_right', atMs) + noise(0.6),
        pitch: rest.pitch + 18 * share('look_up', atMs) + noise(0.6),
        roll: noise(0.8),
      },
      eyes: Math.max(0, rest.eyes * (1 - 0.9 * share('blink', atMs)) + noise(0.02)),
      size: rest.size * (1 + 0.35 * share('closer', atMs)) + noise(0.002),
      quality: {
        score,
        sharpness: 0.9,
        brightness: 0.5,
        signal: 0.4,
        contrast: 0.8,
        backlight: 0.9,
        frontal: 0.9,
        size: 0.9,
      },
      covered: null,
    }
  }

  return {
    read(movement, nowMs) {
      if (movement !== asked && movement !== null) {
        const done = answer(movement)
        const fromMs = nowMs + between(250, 700)
        if (done) reactions.push({ movement: done, fromMs, untilMs: fromMs + between(800, 950) })
      }
      asked = movement
    },
    faceAt,
    measuredAt(atMs) {
      const face = faceAt(atMs)
      pictures += 1
      return {
        face,
        ageYears: face.eyes > 0.4 && Math.abs(face.pose.yaw) < 15 ? ageYears + noise(1.5) : undefined,
        live: 0.95 + noise(0.02),
        sameness: pictures === 1 ? undefined : 0.8,
        digest: digestOf(random),
      }
    },
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

function digestOf(random: Random): string {
  return Array.from({ length: 11 }, () => ALPHABET.charAt(Math.floor(random() * 64))).join('')
}
