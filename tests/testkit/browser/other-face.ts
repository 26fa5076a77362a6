import { existsSync, linkSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawnFace } from '../samples/drawn-face.ts'
import { toPam } from '../samples/portraits.ts'
import { type LiveCamera, startLiveCamera } from './live-camera.ts'

const DATA = process.env.OSTIARY_DATA ?? fileURLToPath(new URL('../../../../shared/data', import.meta.url))
/** A second puppet with another face, which is drawn: portraits of people are not part of the repository. */
export async function startOtherFace(): Promise<LiveCamera> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-drawn-'))
  try {
    const file = join(folder, 'face.pam')
    writeFileSync(file, toPam(drawnFace()))
    return await startLiveCamera(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A person with an eye patch: a portrait, so not in the repository. */
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
