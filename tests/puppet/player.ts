import type { Movement } from '@ostiary/contract'
import { createNoise } from './natural.ts'
import { createRandom } from './random.ts'

/** What a live camera has to show, drawn beforehand. */
export interface Reel {
  rest: readonly Frame[]
  empty: Frame
  twoFaces: Frame
  moves: ReadonlyMap<Movement, readonly Frame[]>
}

/** What can stand before a live camera. `still`: not a pixel changes from now on. */
export const SCENES = ['rest', 'empty', 'two-faces', 'still'] as const
export type SceneName = (typeof SCENES)[number]

export type Frame = Uint8ClampedArray

export interface PlayerOptions {
  fps: number
  seed: number
  /** Milliseconds of a clock that only goes forward. */
  now: () => number
  show: (frame: Frame) => void
}

export interface Player {
  /** Resolves when the face is at rest again. */
  perform(movement: Movement): Promise<void>
  show(what: SceneName): void
  /** Shows other frames over and over, until `show` is called. Resolves when the first of them is shown. */
  hold(frames: readonly Frame[], fps: number): Promise<void>
  /** Slow motion from now on: the face moves and reacts this many times slower than a person. 1 is normal. */
  slowDown(factor: number): void
  stop(): void
}

/** Of the sensor, in levels of brightness. */
export const LIVE_NOISE = 2
/** The fastest and the slowest human reaction. */
const ANSWER_MS = { min: 350, max: 650 } as const

/** Plays a reel: the face at rest over and over, and a movement when one is asked for. No two frames are the same. */
export function createPlayer(reel: Reel, options: PlayerOptions): Player {
  const { fps, seed, show } = options
  const { now, slowDown, factor } = createSlowableClock(options.now)
  const random = createRandom(seed)
  const addNoise = createNoise(seed, LIVE_NOISE)
  const startedMs = now()
  let scene: SceneName = 'rest'
  let playing: { frames: readonly Frame[]; startedMs: number; done: () => void } | undefined
  let held: { frames: readonly Frame[]; fps: number; startedMs: number; begun: () => void } | undefined
  let shown = 0
  // By the clock and not by counting: on a busy machine frames are left out, but a movement takes as long as it should.
  const framesSince = (sinceMs: number, rate = fps) => Math.floor(((now() - sinceMs) * rate) / 1000)
  const pick = (): Frame => {
    const frame = playing?.frames[framesSince(playing.startedMs)]
    if (playing && !frame) {
      playing.done()
      playing = undefined
    }
    if (held) return backAndForth(held.frames, framesSince(held.startedMs, held.fps)) ?? reel.empty
    if (scene === 'empty') return reel.empty
    if (scene === 'two-faces') return reel.twoFaces
    return frame ?? backAndForth(reel.rest, framesSince(startedMs)) ?? reel.empty
  }
  const tick = () => {
    const picked = pick()
    if (scene === 'still' && !held) return
    const frame = new Uint8ClampedArray(picked)
    addNoise(frame.subarray(0, (frame.length * 2) / 3), 1, shown++)
    show(frame)
    held?.begun()
  }
  tick()
  const timer = setInterval(tick, 1000 / fps)
  return {
    async perform(movement) {
      const frames = reel.moves.get(movement)
      if (!frames) throw new Error(`This camera was not made to ${movement}`)
      const answerMs = ANSWER_MS.min + random() * (ANSWER_MS.max - ANSWER_MS.min)
      await new Promise((resolve) => setTimeout(resolve, answerMs * factor()))
      await new Promise<void>((done) => {
        playing?.done()
        playing = { frames, startedMs: now(), done }
      })
    },
    show(what) {
      scene = what
      held = undefined
    },
    hold: (frames, rate) =>
      new Promise((begun) => {
        held = { frames, fps: rate, startedMs: now(), begun }
      }),
    slowDown,
    stop() {
      clearInterval(timer)
      playing?.done()
    },
  }
}

/** A clock that never jumps when its speed changes. */
function createSlowableClock(realNow: () => number) {
  let factor = 1
  let sinceMs = realNow()
  let passedMs = 0
  const now = () => passedMs + (realNow() - sinceMs) / factor
  return {
    now,
    factor: () => factor,
    slowDown(next: number) {
      passedMs = now()
      sinceMs = realNow()
      factor = next
    },
  }
}

/** A loop without a seam. */
function backAndForth(frames: readonly Frame[], index: number): Frame | undefined {
  const place = index % (2 * frames.length)
  return frames[place < frames.length ? place : 2 * frames.length - 1 - place]
}
