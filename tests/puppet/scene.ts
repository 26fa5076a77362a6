import { createFaceEngine, type Picture } from '@ostiary/faces'
import { loadNetFromDisk } from '@ostiary/models/node-nets'
import { readPicture } from '@ostiary/testkit/samples/portraits'
import { createNoise, createSway, lightUp } from './natural.ts'
import { findPortrait } from './portrait-files.ts'
import { createPuppet } from './puppet.ts'
import { type Script, stanceAt } from './script.ts'
import { besides, type Size } from './stage.ts'

export const CAMERA_SIZE: Size = { width: 640, height: 480 }
/** Of the live camera. */
export const CAMERA_FPS = 15

/** A portrait with the mesh of its face. */
export interface Portrait {
  picture: Picture
  mesh: Float32Array
}

export async function readPortrait(name: string): Promise<Portrait> {
  const file = findPortrait(name)
  const picture = await readPicture(file)
  const { face } = await createFaceEngine({ load: loadNetFromDisk() }).look(picture)
  if (!face) throw new Error(`No face was found in ${file}`)
  return { picture, mesh: face.mesh }
}

export interface Scene {
  draw(tMs: number, frame: number): Picture
}

/** What the camera sees when a script is played. */
export function createScene({ picture, mesh }: Portrait, { script, size }: { script: Script; size: Size }): Scene {
  const { life = 1, noise = 0, light = 1, faces = 1, seed = 1 } = script
  const addNoise = createNoise(seed, noise)
  const puppet = createPuppet(picture, { mesh, size: { ...size, width: size.width / faces } })
  // Two faces are two people, so they do not sway in step.
  const sways = Array.from({ length: faces }, (_, index) => createSway(seed + 101 * index, life))
  const drawn = (tMs: number) =>
    sways.map((sway) => puppet.draw(stanceAt(script, tMs, sway(tMs)))).reduce((left, right) => besides(left, right))
  return {
    draw(tMs, frame) {
      const shown = drawn(tMs)
      lightUp(shown, light)
      for (let channel = 0; channel < 3; channel++) addNoise(shown.data.subarray(channel), 4, frame * 3 + channel)
      return shown
    },
  }
}
