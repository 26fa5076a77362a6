import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createFaceEngine, type Sighting } from '@ostiary/faces'
import { readPicture } from '@ostiary/testkit/samples/portraits'
import { loadNetFromDisk } from '@ostiary/models/node-nets'
import { type LiveCamera, startLiveCamera } from './live.ts'

const engine = createFaceEngine({ load: loadNetFromDisk() })
const folder = mkdtempSync(join(tmpdir(), 'puppet-'))
let camera: LiveCamera

before(async () => {
  camera = await startLiveCamera({ portrait: 'figure', out: join(folder, 'camera.y4m'), movements: ['turn_left'] })
})
after(async () => {
  await camera?.stop()
  rmSync(folder, { recursive: true })
})

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function lookAt(path: string): Promise<Sighting> {
  engine.begin()
  return engine.look(await readPicture(path))
}

const yawIn = async (path: string) => (await lookAt(path)).face?.pose.yaw ?? Number.NaN

test('the file is a clip of one frame, which changes all the time', async () => {
  const first = readFileSync(camera.path)
  await wait(300)
  const second = readFileSync(camera.path)
  const header = first.indexOf('FRAME\n') + 'FRAME\n'.length
  assert.equal(first.length, header + 640 * 480 * 1.5)
  assert.equal(second.length, first.length)
  assert.deepEqual(second.subarray(0, header), first.subarray(0, header))
  assert.notDeepEqual(second, first)
})

test('a movement that is asked for is seen, and is over afterwards', async () => {
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
    await wait(250)
  }
  const yaws: number[] = []
  for (const copy of kept) yaws.push(await yawIn(copy))
  assert.ok(Math.max(...yaws) - rest > 12, `from ${rest} over ${yaws}`)
  assert.ok(Math.abs((yaws[0] ?? 0) - rest) < 6, 'nobody moves at once')
  assert.ok(Math.abs((await yawIn(camera.path)) - rest) < 6)
})

test('nobody, two people and a still can stand before it', async () => {
  camera.show('empty')
  await wait(200)
  assert.equal((await lookAt(camera.path)).faces, 0)
  camera.show('two-faces')
  await wait(200)
  assert.equal((await lookAt(camera.path)).faces, 2)
  camera.show('rest')
  await wait(200)
  camera.show('still')
  const first = readFileSync(camera.path)
  await wait(300)
  assert.deepEqual(readFileSync(camera.path), first)
})
