import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFaceEngine, type Sighting } from '@ostiary/faces'
import { loadNetFromDisk } from '@ostiary/models/node-nets'
import { eventually } from '@ostiary/testkit/eventually'
import { missingProgram } from '@ostiary/testkit/missing'
import { readPicture, toPam } from '@ostiary/testkit/samples/portraits'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { type LiveCamera, startLiveCamera } from './live.ts'

const skip = missingProgram('ffmpeg')
const engine = createFaceEngine({ load: loadNetFromDisk() })
const folder = temporaryFolder('puppet')
let camera: LiveCamera
/** A sample of a movement, not a wait. */
const KEEP_EVERY_MS = 250

before(async () => {
  if (skip) return
  camera = await startLiveCamera({ portrait: 'figure', out: join(folder, 'camera.y4m'), movements: ['turn_left'] })
})
after(() => camera?.stop())

async function lookAt(path: string): Promise<Sighting> {
  engine.begin()
  return engine.look(await readPicture(path))
}

const yawIn = async (path: string) => (await lookAt(path)).face?.pose.yaw ?? Number.NaN

test('the file is a clip of one frame, which changes all the time', { skip }, async () => {
  const first = readFileSync(camera.path)
  const second = await eventually(() => {
    const frame = readFileSync(camera.path)
    return !frame.equals(first) && frame
  }, 'another frame')
  const header = first.indexOf('FRAME\n') + 'FRAME\n'.length
  assert.equal(first.length, header + 640 * 480 * 1.5)
  assert.equal(second.length, first.length)
  assert.deepEqual(second.subarray(0, header), first.subarray(0, header))
})

test('a movement that is asked for is seen, and is over afterwards', { skip }, async () => {
  const rest = await yawIn(camera.path)
  let isDone = false
  camera.perform('turn_left').then(() => {
    isDone = true
  })
  // Looking takes long on a busy machine, so frames are kept and looked at later.
  const kept: string[] = []
  while (!isDone) {
    const copy = join(folder, `frame-${kept.length}.y4m`)
    copyFileSync(camera.path, copy)
    kept.push(copy)
    await sleep(KEEP_EVERY_MS)
  }
  const yaws: number[] = []
  for (const copy of kept) yaws.push(await yawIn(copy))
  assert.ok(Math.max(...yaws) - rest > 12, `from ${rest} over ${yaws}`)
  assert.ok(Math.abs((yaws[0] ?? 0) - rest) < 6, 'nobody moves at once')
  assert.ok(Math.abs((await yawIn(camera.path)) - rest) < 6)
})

test('the camera can show nobody, two people or a still', { skip }, async () => {
  const sees = (faces: number) =>
    eventually(async () => (await lookAt(camera.path)).faces === faces, `${faces} faces are seen`)
  camera.show('empty')
  await sees(0)
  camera.show('two-faces')
  await sees(2)
  camera.show('rest')
  await sees(1)
  camera.show('still')
  const first = readFileSync(camera.path)
  // The movement is played to its end, and none of its frames is shown.
  await camera.perform('turn_left')
  assert.deepEqual(readFileSync(camera.path), first)
})

test('a document is held before the camera from the moment that is said, until the face is shown again', {
  skip,
}, async () => {
  const file = join(folder, 'document.pam')
  const [width, height] = [300, 200]
  writeFileSync(file, toPam({ width, height, data: new Uint8ClampedArray(width * height * 4).fill(240) }))
  camera.show('rest')
  await camera.prepare({ file })
  await camera.hold({ file })
  const first = await readPicture(camera.path)
  const level = (x: number, y: number) => first.data[(y * first.width + x) * 4] ?? 0
  assert.ok(level(320, 240) > 225 && level(200, 150) > 225, 'the document')
  assert.ok(level(10, 10) < 110, 'the table')
  const bytes = readFileSync(camera.path)
  await eventually(() => !readFileSync(camera.path).equals(bytes), 'another frame')
  camera.show('rest')
  await eventually(async () => (await lookAt(camera.path)).faces === 1, 'the face is seen')
})

test('a document whose picture is missing is not held', { skip }, async () => {
  await assert.rejects(camera.hold({ file: join(folder, 'nothing.pam') }), /nothing\.pam/)
})
