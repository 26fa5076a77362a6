import type { Challenge, Movement } from '@ostiary/contract'
import type { SeenFace } from '@ostiary/faces'
import { type Rest, restOf, shows } from './movements.ts'

/** Reaction time: a movement seen sooner belongs to the previous request. */
export const ANSWER_FROM_MS = 200
/** The server does not count a movement after this time, unless the challenge says otherwise. */
export const ANSWER_UNTIL_MS = 2_500
/** A movement that the engine notices so long after the time for an answer is not logged as seen. */
const NOTICED_LATE_MS_MAX = 400
/** Only this many faces at rest are kept, the latest ones. */
const REST_FACES_MAX = 12

interface Step {
  movement: Movement
  shownAtMs: number | undefined
  /** When the picture that showed it was taken. */
  seenAtMs: number | undefined
}

/** A face, and when its picture was taken. */
export interface Observation {
  face: SeenFace
  atMs: number
}

/** The movements of one challenge: which were shown and which were seen. All times are of one clock. */
export function createSteps(
  steps: Challenge['steps'],
  restFaces: readonly SeenFace[],
  answerMs: number = ANSWER_UNTIL_MS,
) {
  const all: Step[] = steps.map(({ movement }) => ({ movement, shownAtMs: undefined, seenAtMs: undefined }))
  const resting = [...restFaces]
  let rest: Rest | undefined
  let lastSampleMs = Number.NEGATIVE_INFINITY

  /** A movement counts once a sample was taken after it was seen: only samples are sent, and users stop when it is confirmed. */
  const isDone = ({ seenAtMs }: Step) => seenAtMs !== undefined && lastSampleMs >= seenAtMs

  return {
    /** The next movement is on the screen. Returns its number, from 1. */
    show(atMs: number): number {
      rest ??= restOf(resting.slice(-REST_FACES_MAX))
      const index = all.findIndex(({ shownAtMs }) => shownAtMs === undefined)
      const step = all[index]
      if (step) step.shownAtMs = atMs
      return index + 1
    },
    /** Takes a face. Returns the number of a movement that is seen for the first time. */
    observe({ face, atMs }: Observation, nowMs: number): number | undefined {
      if (all[0]?.shownAtMs === undefined) {
        resting.push(face)
        return undefined
      }
      const index = all.findIndex(
        ({ movement, shownAtMs, seenAtMs }) =>
          shownAtMs !== undefined &&
          seenAtMs === undefined &&
          atMs - shownAtMs >= ANSWER_FROM_MS &&
          atMs - shownAtMs <= answerMs &&
          nowMs - shownAtMs <= answerMs + NOTICED_LATE_MS_MAX &&
          rest !== undefined &&
          shows(movement, face, rest),
      )
      const step = all[index]
      if (!step) return undefined
      step.seenAtMs = atMs
      return index + 1
    },
    sampled(atMs: number): void {
      lastSampleMs = atMs
    },
    /** Whether the page waits for a movement of the user. */
    awaits(nowMs: number): boolean {
      return all.some(
        ({ shownAtMs, seenAtMs }) => shownAtMs !== undefined && seenAtMs === undefined && nowMs - shownAtMs <= answerMs,
      )
    },
    /** What the screen shows. */
    view(): { movement: Movement | null; movementsSeen: number; movementsTotal: number } {
      const current = all.findLast(({ shownAtMs }) => shownAtMs !== undefined)
      return {
        movement: current && !isDone(current) ? current.movement : null,
        movementsSeen: all.filter(isDone).length,
        movementsTotal: all.length,
      }
    },
  }
}
export type Steps = ReturnType<typeof createSteps>
