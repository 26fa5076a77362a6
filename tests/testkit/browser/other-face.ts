import { existsSync, linkSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type LiveCamera, startLiveCamera } from './live-camera.ts'

const DATA = process.env.OSTIARY_DATA ?? fileURLToPath(new URL('../../../../shared/data', import.meta.url))
/** Portraits of people are not part of the repository. This one looks into the camera, with its eyes open. */
const PORTRAIT = join(DATA, 'faces/congress/B001273_2015-11-10_976ee1.jpg')

/** For tests that need somebody else: why they cannot run here, or false. */
export const NOBODY_ELSE = existsSync(PORTRAIT) ? false : 'the portraits are not here: set OSTIARY_DATA'

/** Another person than the one of the stage. */
export const startOtherFace = (): Promise<LiveCamera> => startLiveCamera(PORTRAIT)

/**
 * Lets the other one stand before the first one's camera from the next time that a page opens it: a browser is told once, when
 * it starts, where its camera is. Returns how to change back.
 */
export function takePlace(first: LiveCamera, other: LiveCamera): () => void {
  const [aside, next] = [`${first.file}.aside`, `${first.file}.next`]
  linkSync(first.file, aside)
  symlinkSync(other.file, next)
  renameSync(next, first.file)
  return () => renameSync(aside, first.file)
}
