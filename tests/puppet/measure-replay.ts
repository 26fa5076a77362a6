/**
 * Measures how alike two captures of one face are, to set the bound of a replay (`replayMin` in apps/server/src/biometrics/models.ts).
 * The puppet enrols once per portrait and then signs in again and again: the same drawn frames as the live camera plays in the browser
 * tests, each time with other noise of the sensor, through the camera's format, the page's nets and the text form of a vector. One frame
 * stands for a capture. Prints lines for docs/accuracy/faces.md. Takes some minutes.
 *
 *   node tests/puppet/measure-replay.ts [--captures 1000] [--people 5]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { decodeVector, encodeVector } from '@ostiary/crypto'
import { cosine, createFaceEngine, type Picture } from '@ostiary/faces'
import { loadNetFromDisk } from '@ostiary/models/node-nets'
import { loadPortraits, missingPortraits, readPicture } from '@ostiary/testkit/samples/portraits'
import { toI420 } from './i420.ts'
import { y4mHeader } from './live.ts'
import { createNoise } from './natural.ts'
import { LIVE_NOISE } from './player.ts'
import { createRandom } from './random.ts'
import { CAMERA_FPS, CAMERA_SIZE, createScene, readPortrait } from './scene.ts'

const { values } = parseArgs({
  options: { captures: { type: 'string', default: '1000' }, people: { type: 'string', default: '5' } },
})
/** The live camera's frames at rest: four seconds, half as many as it plays. */
const REST_FRAMES = (4 * CAMERA_FPS) / 2

const folder = mkdtempSync(join(tmpdir(), 'puppet-'))
process.once('exit', () => rmSync(folder, { recursive: true }))
const frameFile = join(folder, 'frame.y4m')
const engine = createFaceEngine({ load: loadNetFromDisk(), agedMax: 0 })
const files = ['baseline', ...somePortraits(Number(values.people))]
const perFile = Math.ceil(Number(values.captures) / files.length)
/** Of each sign-in with the enrolment. */
const cosines: number[] = []
/** Of every two captures of one portrait. */
const pairs: number[] = []
/** Of two captures of the same drawn frame, which differ in nothing but the sensor's noise: the most alike that a puppet can be. */
const sameFrame: number[] = []

for (const [index, file] of files.entries()) {
  const scene = createScene(await readPortrait(file), {
    script: { durationMs: 4000, moves: [], life: 1, noise: 0 },
    size: CAMERA_SIZE,
  })
  const drawn = Array.from({ length: REST_FRAMES }, (_, frame) =>
    toI420(scene.draw((frame * 4000) / REST_FRAMES, frame)),
  )
  const earlier = [await capture(drawn, 1)]
  for (let n = 0; n < perFile; n++) {
    const again = await capture(drawn, 2 + n + index * perFile)
    for (const [at, { vector, frame }] of earlier.entries()) {
      const alike = cosine(vector, again.vector)
      pairs.push(alike)
      if (at === 0) cosines.push(alike)
      if (frame === again.frame) sameFrame.push(alike)
    }
    earlier.push(again)
  }
  console.log(`${index + 1} of ${files.length} portraits, ${cosines.length} sign-ins: ${summary(cosines)}`)
}
console.log(`every two captures of one portrait (${pairs.length}): ${summary(pairs)}`)
console.log(`the same drawn frame, other noise (${sameFrame.length}): ${summary(sameFrame)}`)

async function capture(drawn: readonly Uint8ClampedArray[], seed: number) {
  const frame = Math.floor(createRandom(seed)() * drawn.length)
  const planes = Uint8ClampedArray.from(drawn[frame] ?? [])
  createNoise(seed, LIVE_NOISE)(planes.subarray(0, (planes.length * 2) / 3), 1, 0)
  const picture = await asSeen(planes)
  engine.begin()
  const { face } = await engine.look(picture)
  if (!face) throw new Error('No face was found in a capture')
  return { vector: decodeVector(encodeVector(await engine.embedFace(picture, face, 'FACE3_3'))), frame }
}

async function asSeen(planes: Uint8ClampedArray): Promise<Picture> {
  writeFileSync(frameFile, Buffer.concat([Buffer.from(y4mHeader(CAMERA_SIZE)), Buffer.from(planes)]))
  return readPicture(frameFile)
}

function summary(all: readonly number[]): string {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(5)
  return `cosine least ${at(0)}, median ${at(0.5)}, 99 % ${at(0.99)}, most ${at(1)}`
}

/** Spread over the set, always the same ones, each person once. */
function somePortraits(count: number): string[] {
  if (missingPortraits() || count === 0) return []
  const one = new Map(loadPortraits().map(({ person, path }) => [person, path]))
  const paths = [...one.values()]
  return Array.from({ length: count }, (_, index) => paths[Math.floor((index * paths.length) / count)] ?? '')
}
