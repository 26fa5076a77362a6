import type { Movement } from '@ostiary/contract'

export interface Move {
  movement: Movement
  atMs: number
  riseMs?: number
  holdMs?: number
  fallMs?: number
  /** Degrees for a turn and for looking up, a factor for coming closer, how far the eyes stay open for a blink. */
  amount?: number
}

/** What a scene shows, and when. */
export interface Script {
  durationMs: number
  moves: readonly Move[]
  /** How much the head sways and the face lives: 0 is a photograph, 1 someone who tries to hold still. */
  life?: number
  /** Of the sensor: standard deviation in levels of 255. */
  noise?: number
  /** 1 is the light of the portrait. */
  light?: number
  faces?: 1 | 2
  seed?: number
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
}

export const AT_REST: Stance = { yaw: 0, pitch: 0, roll: 0, eyes: 1, zoom: 1, shiftX: 0, shiftY: 0 }

/** The stance at a moment of a script; `natural` is the stance without its moves. */
export function stanceAt(script: Script, tMs: number, natural: Stance = AT_REST): Stance {
  return script.moves.reduce((stance, move) => moved(stance, move, levelOf(move, tMs)), natural)
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

function soft(share: number): number {
  // A movement may take no time at all, which makes the share of it that is over 0 / 0.
  const x = Math.min(1, Math.max(0, share || 0))
  return x * x * (3 - 2 * x)
}
