import { MOVEMENTS, type Movement } from '@ostiary/contract'
import Type from 'typebox'
import Value from 'typebox/value'

const Milliseconds = Type.Number({ minimum: 0, maximum: 600_000 })

const Move = Type.Object(
  {
    movement: Type.Enum([...MOVEMENTS]),
    atMs: Milliseconds,
    riseMs: Type.Optional(Milliseconds),
    holdMs: Type.Optional(Milliseconds),
    fallMs: Type.Optional(Milliseconds),
    /** Degrees for a turn and for looking up, a factor for coming closer, how far the eyes stay open for a blink. */
    amount: Type.Optional(Type.Number({ minimum: 0, maximum: 90 })),
  },
  { additionalProperties: false },
)
export type Move = Type.Static<typeof Move>

/** What a clip shows, and when. */
export const Script = Type.Object(
  {
    durationMs: Type.Number({ minimum: 1, maximum: 600_000 }),
    moves: Type.Array(Move),
    /** When somebody is before the camera; all the time when it is left out. */
    present: Type.Optional(
      Type.Array(Type.Object({ fromMs: Milliseconds, untilMs: Milliseconds }, { additionalProperties: false })),
    ),
    /** How much the head sways and the face lives: 0 is a photograph, 1 someone who tries to hold still. */
    life: Type.Optional(Type.Number({ minimum: 0, maximum: 3 })),
    /** Of the sensor: standard deviation in levels of 255. */
    noise: Type.Optional(Type.Number({ minimum: 0, maximum: 60 })),
    /** 1 is the light of the portrait. */
    light: Type.Optional(Type.Number({ minimum: 0, maximum: 3 })),
    blurPx: Type.Optional(Type.Number({ minimum: 0, maximum: 40 })),
    faces: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)])),
    seed: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false },
)
export type Script = Type.Static<typeof Script>

/** A script that somebody wrote into a file. */
export function parseScript(text: string): Script {
  const value: unknown = JSON.parse(text)
  if (Value.Check(Script, value)) return value
  const [problem] = Value.Errors(Script, value)
  throw new Error(`This is no script: ${problem?.instancePath || 'it'} ${problem?.message ?? ''}`)
}

/** How far a movement goes, and how long it takes, when the script does not say. What our own mesh makes of it stands in README.md. */
export const USUAL: Record<Movement, Required<Omit<Move, 'movement' | 'atMs'>>> = {
  turn_left: { riseMs: 300, holdMs: 800, fallMs: 300, amount: 24 },
  turn_right: { riseMs: 300, holdMs: 800, fallMs: 300, amount: 24 },
  look_up: { riseMs: 300, holdMs: 800, fallMs: 300, amount: 13 },
  blink: { riseMs: 100, holdMs: 620, fallMs: 130, amount: 0 },
  closer: { riseMs: 300, holdMs: 800, fallMs: 300, amount: 1.32 },
}

/** What the puppet is to look like at a moment. Angles in degrees, with the signs of `Pose`. */
export interface Stance {
  yaw: number
  pitch: number
  roll: number
  /** How far the eyes are open, 0 to 1. */
  eyes: number
  /** How much nearer than at rest, as a factor. */
  zoom: number
  /** Of the head, in widths of the face. */
  shiftX: number
  shiftY: number
  /** 0 nobody, 1 somebody; between the two somebody is coming or going. */
  presence: number
}

export const AT_REST: Stance = { yaw: 0, pitch: 0, roll: 0, eyes: 1, zoom: 1, shiftX: 0, shiftY: 0, presence: 1 }

/** The stance at a moment of a script; `natural` is the stance without its moves. */
export function stanceAt(script: Script, tMs: number, natural: Stance = AT_REST): Stance {
  return script.moves.reduce((stance, move) => moved(stance, move, levelOf(move, tMs)), {
    ...natural,
    presence: presenceAt(script, tMs),
  })
}

function moved(stance: Stance, { movement, amount = USUAL[movement].amount }: Move, level: number): Stance {
  switch (movement) {
    case 'turn_left':
      return { ...stance, yaw: stance.yaw + amount * level }
    case 'turn_right':
      return { ...stance, yaw: stance.yaw - amount * level }
    case 'look_up':
      return { ...stance, pitch: stance.pitch + amount * level }
    case 'blink':
      return { ...stance, eyes: stance.eyes + (Math.min(amount, 1) - stance.eyes) * level }
    case 'closer':
      return { ...stance, zoom: stance.zoom * (1 + (amount - 1) * level) }
  }
}

/** How much of a movement there is, 0 to 1. Heads start and stop softly. */
export function levelOf(move: Move, tMs: number): number {
  const { riseMs, holdMs, fallMs } = { ...USUAL[move.movement], ...move }
  const since = tMs - move.atMs
  if (since < riseMs) return soft(since / riseMs)
  return 1 - soft((since - riseMs - holdMs) / fallMs)
}

export function lengthOf(move: Move): number {
  const { riseMs, holdMs, fallMs } = { ...USUAL[move.movement], ...move }
  return riseMs + holdMs + fallMs
}

/** Someone needs this long to come into the picture or to leave it. */
const COMING_MS = 250

function presenceAt({ present }: Script, tMs: number): number {
  if (!present) return 1
  return Math.max(
    0,
    ...present.map(({ fromMs, untilMs }) => soft((tMs - fromMs) / COMING_MS) * (1 - soft((tMs - untilMs) / COMING_MS))),
  )
}

function soft(share: number): number {
  // A movement may take no time at all, which makes the share of it that is over 0 / 0.
  const x = Math.min(1, Math.max(0, share || 0))
  return x * x * (3 - 2 * x)
}
