import { MOVEMENTS, type Movement } from '@ostiary/contract'
import { createChallenge } from '@ostiary/server/capture-checks'
import { lengthOf, type Script } from './script.ts'

const ALIVE = { life: 1, noise: 2.2 } as const

/** One movement after the other, with time to rest between them. */
const SHOW_STEP_MS = 3000

/** Scripts that have a name. */
export const SCRIPTS = {
  /** A photograph in place of a camera: nothing moves, no pixel changes. */
  still: { durationMs: 4000, moves: [], life: 0, noise: 0 },
  /** A photograph in front of a real sensor. */
  photo: { durationMs: 10_000, moves: [], life: 0, noise: 2.2 },
  /** A person who holds still. */
  calm: { durationMs: 20_000, moves: [], ...ALIVE },
  show: {
    durationMs: (MOVEMENTS.length + 1) * SHOW_STEP_MS,
    moves: MOVEMENTS.map((movement, index) => ({ movement, atMs: (index + 0.7) * SHOW_STEP_MS })),
    ...ALIVE,
  },
  empty: { durationMs: 10_000, moves: [], present: [], ...ALIVE },
  'two-faces': { durationMs: 15_000, moves: [], faces: 2, ...ALIVE },
  dark: { durationMs: 15_000, moves: [], ...ALIVE, light: 0.09 },
  blurred: { durationMs: 15_000, moves: [], ...ALIVE, blurPx: 7 },
} as const satisfies Record<string, Script>

export type ScriptName = keyof typeof SCRIPTS

export function isScriptName(name: string): name is ScriptName {
  return Object.hasOwn(SCRIPTS, name)
}

export interface ChallengeClip {
  /** As the server asks: movements, and when after the start of the capture. */
  steps: readonly { movement: Movement; atMs: number }[]
  /** Nobody is there at first, so that a page which is still loading cannot start too early. */
  emptyMs?: number
  /** From the first sight of the face to the start of the capture: as long as the page wants to see it well placed. */
  settleMs?: number
  /** The average time from a request to its movement. */
  answerMs?: number
  /** A page that missed the first round gets others, with nobody there between them. */
  rounds?: number
  gapMs?: number
  seed?: number
}

/** The face stays this long after the last answer. */
const TAIL_MS = 1800

/** Three answers after exactly the same time are a program's. */
const ANSWER_SPREAD_MS = [-30, 30, 0] as const

/**
 * A clip that answers a challenge whose steps are known beforehand. The page decides when it begins, so the clip makes it
 * begin: somebody appears at a known moment, and a page that waits for a face starts a known time after that.
 */
export function challengeScript(clip: ChallengeClip): Script {
  const { steps, emptyMs = 15_000, settleMs = 1600, answerMs = 850, rounds = 3, gapMs = 6000, seed = 1 } = clip
  const answers = steps.map(({ movement, atMs }, index) => ({
    movement,
    atMs: settleMs + atMs + answerMs + (ANSWER_SPREAD_MS[index % ANSWER_SPREAD_MS.length] ?? 0),
  }))
  const roundMs = Math.max(...answers.map((answer) => answer.atMs + lengthOf(answer))) + TAIL_MS
  const starts = Array.from({ length: rounds }, (_, round) => emptyMs + round * (roundMs + gapMs))
  return {
    durationMs: emptyMs + rounds * (roundMs + gapMs),
    present: starts.map((fromMs) => ({ fromMs, untilMs: fromMs + roundMs })),
    moves: starts.flatMap((start) => answers.map(({ movement, atMs }) => ({ movement, atMs: start + atMs }))),
    ...ALIVE,
    seed,
  }
}

/** When the server asks for these movements in a test session whose challenge and times are pinned. */
export function pinnedSteps(movements: readonly Movement[]): ChallengeClip['steps'] {
  const noChance = () => {
    throw new Error('A challenge with fixed times must not use randomness')
  }
  return createChallenge(noChance, { movements, fixedTimes: true }).steps
}
