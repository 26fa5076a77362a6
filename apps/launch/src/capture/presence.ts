import * as codes from '@ostiary/contract/codes'

/** A head that turns away is lost for a moment; a person who has left is gone for longer. */
export const LOST_MS_MAX = 1_500
/** A pattern on the wall may be taken for a face once; the engine counts again with every look until it is one. */
export const CROWD_MS_MAX = 1_000

/** A device that looks twice a second cannot tell a blur from an empty room by two looks. */
const LOST_LOOKS_MIN = 3

export interface Presence {
  /** So many faces were counted. Says the session code of what ends the try. */
  count(faces: number, atMs: number): number | undefined
  /** A face was measured; whether others were there is not known. */
  meet(atMs: number): void
}

/** Watches during the movements that one person is there. */
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
      // Samples are measured after later pictures were looked at: what is older than what we know is no news.
      if (atMs <= lastMs) return
      lostSinceMs = undefined
      lostLooks = 0
    },
  }
}
