import type { Challenge, Movement } from '@ostiary/contract'
import { estimateOf, type SimulatedCapture, type SimulateOptions } from './person.ts'

/** A dishonest device: what it changes in an honest capture or in the flow. */
export interface Spoof {
  /** A sentence for the help of the command line. */
  meaning: string
  /** What the person does instead of the requested movement. */
  plan?: (challenge: Challenge) => SimulateOptions['challenge']
  change?: (made: SimulatedCapture, challenge: Challenge) => SimulatedCapture
  /** Waits this long between capture and submit. */
  waitMs?: number
  /** Submits the same sealed text again. */
  repeats?: boolean
}

const AHEAD_MS = 900
const ANOTHER: Record<Movement, Movement> = {
  turn_left: 'turn_right',
  turn_right: 'turn_left',
  look_up: 'blink',
  blink: 'closer',
  closer: 'look_up',
}

export const SPOOFS = {
  still: {
    meaning: 'a photograph before the camera: the pose never changes',
    change: changeFrames((frame, index, [first = frame]) => ({
      ...frame,
      yaw: first.yaw + (index % 3),
      pitch: first.pitch + (index % 2),
      roll: first.roll,
      eyes: first.eyes + (index % 5),
      size: first.size,
    })),
  },
  loop: {
    meaning: 'a short video played again and again: frames repeat',
    change: changeFrames((frame, index, frames) => ({ ...frame, digest: frames[index % 4]?.digest ?? frame.digest })),
  },
  early: {
    meaning: 'a prepared video: movements are there before they are asked for',
    plan: ({ steps, sampleAtMs }) => ({
      steps: steps.map(({ movement, atMs }) => ({ movement, atMs: Math.max(0, atMs - AHEAD_MS) })),
      sampleAtMs,
    }),
  },
  recording: {
    meaning: 'a video of another flow: other movements than those asked for',
    plan: ({ steps, sampleAtMs }) => ({
      steps: steps.map(({ movement, atMs }) => ({ movement: ANOTHER[movement], atMs })),
      sampleAtMs,
    }),
  },
  robot: {
    meaning: 'a program that answers each movement after exactly 400 ms',
    change: (made, { steps }) => ({
      ...made,
      moments: made.moments.map((moment) => {
        const step = steps[(moment.n ?? 0) - 1]
        if (!step || moment.type === 'capture_done') return moment
        return { ...moment, atMs: step.atMs + (moment.type === 'movement_seen' ? 400 : 0) }
      }),
    }),
  },
  forged: {
    meaning: 'an honest capture with another age written over it',
    change: ({ capture, moments }) => ({
      capture: { ...capture, estimate: { ...capture.estimate, age: Math.min(1200, capture.estimate.age + 150) } },
      moments,
    }),
  },
  nocapture: {
    meaning: 'a result that no capture led to: the log has none',
    change: ({ capture }) => ({ capture, moments: [] }),
  },
  mask: {
    meaning: 'a mask: the passive check says it is no living face',
    change: ({ capture, moments }) => ({ capture: { ...capture, live: 120 }, moments }),
  },
  model: {
    meaning: 'numbers of a model that the server does not know',
    change: ({ capture, moments }) => ({
      capture: { ...capture, model: { id: 'home-made', hash: 'B'.repeat(43) } },
      moments,
    }),
  },
  late: { meaning: 'a capture submitted after its challenge has run out (waits 95 seconds)', waitMs: 95_000 },
  replay: { meaning: 'the same sealed capture submitted twice', repeats: true },
} as const satisfies Record<string, Spoof>
export type SpoofName = keyof typeof SPOOFS

type Frame = SimulatedCapture['capture']['frames'][number]

function changeFrames(change: (frame: Frame, index: number, frames: readonly Frame[]) => Frame) {
  return ({ capture, moments }: SimulatedCapture): SimulatedCapture => {
    const frames = capture.frames.map((frame, index) => change(frame, index, capture.frames))
    const estimate = capture.estimate.frames === 0 ? capture.estimate : estimateOf(frames)
    return { capture: { ...capture, frames, estimate }, moments }
  }
}
