import * as codes from '@ostiary/contract/codes'

/** A head that turns away is lost for a shorter time than this; a person who has left, for longer. */
export const LOST_MS_MAX = 1_500
/** A pattern on the wall may be taken for a face for a moment. The engine counts again at every look. */
export const CROWD_MS_MAX = 1_000

/** On a slow device with two looks a second, two looks cannot distinguish a blur from an empty room. */
const LOST_LOOKS_MIN = 3

export interface Presence {
  /** Takes the number of faces of a look. Returns a session code if the try must end. */
  count(faces: number, atMs: number): number | undefined
  /** A face was measured. How many others there were is unknown. */
  meet(atMs: number): void
}

/** Checks during the movements that exactly one person is present. */
export function createPresence(): Presence {
  let lastMs = Number.NEGATIVE_INFINITY
  let lostSinceMs: number | undefined
  let lostLooks = 0
  let crowdSinceMs: number | undefined
  return {
    count(faces, atMs) {
      lastMs = atMs
      lostSinceMs = faces === 0 ? (lostSinceMs ?? atMs) : undefined
      lostLooks = faces === 0 ? lostLooks + 1 : 0
      crowdSinceMs = faces > 1 ? (crowdSinceMs ?? atMs) : undefined
      if (lostSinceMs !== undefined && atMs - lostSinceMs > LOST_MS_MAX && lostLooks >= LOST_LOOKS_MIN)
        return codes.NO_FACE
      if (crowdSinceMs !== undefined && atMs - crowdSinceMs > CROWD_MS_MAX) return codes.MULTIPLE_FACES
      return undefined
    },
    meet(atMs) {
      // A sample is measured after later pictures were looked at, so an older one changes nothing.
      if (atMs <= lastMs) return
      lostSinceMs = undefined
      lostLooks = 0
    },
  }
}
