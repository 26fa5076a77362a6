import { existsSync, linkSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type LiveCamera, startLiveCamera } from './live-camera.ts'

const DATA = process.env.OSTIARY_DATA ?? fileURLToPath(new URL('../../../../shared/data', import.meta.url))
/** Portraits of people are not part of the repository. This one looks into the camera, with its eyes open. */
const PORTRAIT = join(DATA, 'faces/congress/B001273_2015-11-10_976ee1.jpg')

/** Why tests that need a second face cannot run here, or false. */
export const NOBODY_ELSE = existsSync(PORTRAIT) ? false : 'the portraits are not here: set OSTIARY_DATA'

/** A second puppet with another person's face. */
export const startOtherFace = (): Promise<LiveCamera> => startLiveCamera(PORTRAIT)

/** A person with an eye patch. */
const EYE_PATCH = join(DATA, 'faces/congress/C001120_2020-07-05_fc7bad.jpg')

/** Why tests with that person cannot run here, or false. */
export const NOBODY_WITH_A_PATCH = existsSync(EYE_PATCH) ? false : 'the portraits are not here: set OSTIARY_DATA'

export const startFaceWithPatch = (): Promise<LiveCamera> => startLiveCamera(EYE_PATCH)

/**
 * Shows the second face on the first one's camera from the next time that a page opens the camera. The two share one file,
 * because a browser gets the path of its camera only when it starts. Returns a function that changes back.
 */
export function takePlace(first: LiveCamera, other: LiveCamera): () => void {
  const [aside, next] = [`${first.file}.aside`, `${first.file}.next`]
  linkSync(first.file, aside)
  symlinkSync(other.file, next)
  renameSync(next, first.file)
  return () => renameSync(aside, first.file)
}
