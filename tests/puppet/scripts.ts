import { MOVEMENTS } from '@ostiary/contract'
import type { Script } from './script.ts'

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
  'two-faces': { durationMs: 15_000, moves: [], faces: 2, ...ALIVE },
  dark: { durationMs: 15_000, moves: [], ...ALIVE, light: 0.09 },
} as const satisfies Record<string, Script>
