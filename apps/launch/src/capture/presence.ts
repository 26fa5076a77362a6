import * as codes from '@ostiary/contract/codes'

/** A head that turns away is not found for a shorter time than this; a person who has left, for longer. */
export const NO_FACE_MS_MAX = 1_500
/** A pattern on the wall may be taken for a second face for a moment. */
export const EXTRA_FACE_MS_MAX = 1_000

/** A slow device looks only about twice a second: two looks without a face may both be blurred. */
const NO_FACE_LOOKS_MIN = 3

export interface Presence {
  /**
   * Adds the number of faces that a look found: the engine's quick detection in one picture. Returns a session code if the try
   * must end.
   */
  addLook(faces: number, atMs: number): number | undefined
  /** Adds a picture in which a face was measured in full. Measuring does not count other faces. */
  addMeasured(atMs: number): void
}

/** Checks during the movements that exactly one person is present. */
export function createPresence(): Presence {
  let lastLookMs = Number.NEGATIVE_INFINITY
  let noFaceSinceMs: number | undefined
  let noFaceLooks = 0
  let extraFaceSinceMs: number | undefined
  return {
    addLook(faces, atMs) {
      lastLookMs = atMs
      noFaceSinceMs = faces === 0 ? (noFaceSinceMs ?? atMs) : undefined
      noFaceLooks = faces === 0 ? noFaceLooks + 1 : 0
      extraFaceSinceMs = faces > 1 ? (extraFaceSinceMs ?? atMs) : undefined
      if (noFaceSinceMs !== undefined && atMs - noFaceSinceMs > NO_FACE_MS_MAX && noFaceLooks >= NO_FACE_LOOKS_MIN)
        return codes.NO_FACE
      if (extraFaceSinceMs !== undefined && atMs - extraFaceSinceMs > EXTRA_FACE_MS_MAX) return codes.MULTIPLE_FACES
      return undefined
    },
    addMeasured(atMs) {
      // Measuring is slow: if the picture is older than the last look, the look is what counts.
      if (atMs <= lastLookMs) return
      noFaceSinceMs = undefined
      noFaceLooks = 0
    },
  }
}
