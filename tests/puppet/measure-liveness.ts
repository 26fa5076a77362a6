/**
 * Measures our liveness check on the puppet, which is also an attack: a picture of a person that is made to move. Prints a
 * table for docs/accuracy/faces.md. Frames are processed as for the browser (halved colours, the live camera's noise), because drawn
 * frames score differently: the figure 0.997 without noise and 0.08 with it. Takes some minutes.
 *
 *   node tests/puppet/measure-liveness.ts [--people 6]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createFaceEngine, type FaceEngine, judgeLiveness, type Measured, type Picture } from '@ostiary/faces'
import { loadNetFromDisk } from '@ostiary/models/node-nets'
import { loadPortraits, missingPortraits, readPicture } from '@ostiary/testkit/samples/portraits'
import { toI420 } from './i420.ts'
import { y4mHeader } from './live.ts'
import { createNoise } from './natural.ts'
import { LIVE_NOISE } from './player.ts'
import { CAMERA_SIZE, createScene, type Portrait, readPortrait } from './scene.ts'
import type { Script } from './script.ts'
import { SCRIPTS } from './scripts.ts'

const { values } = parseArgs({ options: { people: { type: 'string', default: '6' } } })
const FRAMES = 11
const addNoise = createNoise(1, LIVE_NOISE)
const folder = mkdtempSync(join(tmpdir(), 'puppet-'))
process.once('exit', () => rmSync(folder, { recursive: true }))
const frameFile = join(folder, 'frame.y4m')

// Ages cost the most time and say nothing here.
const engine = createFaceEngine({ load: loadNetFromDisk(), agedMax: 0 })
const files = ['figure', 'baseline', ...somePortraits(Number(values.people))]
console.log(
  `${'portrait'.padEnd(16)} ${'shown as'.padEnd(10)} faces  passive: least median  share >= .5   judged live  still`,
)
for (const [index, file] of files.entries()) {
  const portrait = await readPortrait(file)
  const name = file.includes('/') ? `person ${index - 1}` : file
  report(name, 'picture', [await measureOne(engine, portrait.picture)])
  for (const script of ['still', 'photo', 'calm', 'show'] as const) {
    report(name, script, await measureScript(engine, portrait, SCRIPTS[script]))
  }
}

/** Spread over the set, always the same ones, each person once. */
function somePortraits(count: number): string[] {
  if (missingPortraits() || count === 0) return []
  const one = new Map(loadPortraits().map(({ person, path }) => [person, path]))
  const paths = [...one.values()]
  return Array.from({ length: count }, (_, index) => paths[Math.floor((index * paths.length) / count)] ?? '')
}

async function measureOne(face: FaceEngine, picture: Picture): Promise<Measured | null> {
  face.begin()
  return face.measure(picture)
}

async function measureScript(face: FaceEngine, portrait: Portrait, script: Script): Promise<(Measured | null)[]> {
  const { noise = 0, ...quiet } = script
  const scene = createScene(portrait, { script: quiet, size: CAMERA_SIZE })
  const measured: (Measured | null)[] = []
  face.begin()
  for (let frame = 0; frame < FRAMES; frame++) {
    // In the show a movement is held at each other of these times and the face is at rest at the ones between.
    const tMs = ((frame + 0.8) * script.durationMs) / (FRAMES + 1)
    const planes = toI420(scene.draw(tMs, frame))
    if (noise > 0) addNoise(planes.subarray(0, (planes.length * 2) / 3), 1, frame)
    measured.push(await face.measure(await asSeen(planes)))
  }
  return measured
}

async function asSeen(planes: Uint8ClampedArray): Promise<Picture> {
  writeFileSync(frameFile, Buffer.concat([Buffer.from(y4mHeader(CAMERA_SIZE)), Buffer.from(planes)]))
  return readPicture(frameFile)
}

function report(name: string, shownAs: string, measured: readonly (Measured | null)[]): void {
  const found = measured.filter((sample) => sample !== null)
  const lives = found.map(({ live }) => live).sort((a, b) => a - b)
  const sure = lives.filter((live) => live >= 0.5).length / Math.max(1, lives.length)
  const { live, still } = judgeLiveness(found)
  const numbers = [lives[0] ?? 0, lives[Math.floor(lives.length / 2)] ?? 0, sure].map((value) =>
    value.toFixed(3).padStart(8),
  )
  const count = `${found.length}/${measured.length}`.padEnd(14)
  console.log(
    `${name.padEnd(16)} ${shownAs.padEnd(10)} ${count} ${numbers.join(' ')} ${live.toFixed(3).padStart(12)}  ${still}`,
  )
}
