import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Picture } from '@ostiary/faces'
import { missingProgram } from '@ostiary/testkit/missing'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createScene, makeClip } from './clip.ts'
import type { Script } from './script.ts'
import { SCRIPTS } from './scripts.ts'
import { drawnFace } from './testing/drawn-face.ts'

const skip = missingProgram('ffmpeg')
const SIZE = { width: 160, height: 120 }
const portrait = drawnFace()
const sceneOf = (script: Script) => createScene(portrait, { script, size: SIZE })
const meanOf = ({ data }: Picture) =>
  data.reduce((sum, value, at) => sum + (at % 4 === 3 ? 0 : value), 0) / ((data.length / 4) * 3)

test('the same script gives the same frames', () => {
  assert.deepEqual(sceneOf(SCRIPTS.calm).draw(1300, 19), sceneOf(SCRIPTS.calm).draw(1300, 19))
})

test('no two frames of a living scene are the same, and all of a still are', () => {
  const calm = sceneOf(SCRIPTS.calm)
  assert.notDeepEqual(calm.draw(0, 0), calm.draw(66, 1))
  const still = sceneOf(SCRIPTS.still)
  assert.deepEqual(still.draw(0, 0), still.draw(1500, 22))
})

test('a photograph before a sensor does not move, but no frame is like another', () => {
  const photo = sceneOf(SCRIPTS.photo)
  assert.notDeepEqual(photo.draw(0, 0), photo.draw(66, 1))
  assert.ok(Math.abs(meanOf(photo.draw(0, 0)) - meanOf(sceneOf(SCRIPTS.still).draw(0, 0))) < 0.5)
})

test('a dark scene is dark', () => {
  assert.ok(meanOf(sceneOf(SCRIPTS.dark).draw(0, 0)) < 0.2 * meanOf(sceneOf(SCRIPTS.calm).draw(0, 0)))
})

test('two faces fill the width of one picture and do not sway in step', () => {
  const { width, height, data } = sceneOf({ ...SCRIPTS['two-faces'], noise: 0 }).draw(500, 0)
  assert.deepEqual({ width, height }, SIZE)
  const row = data.subarray(60 * width * 4, 61 * width * 4)
  assert.notDeepEqual(row.slice(0, width * 2), row.slice(width * 2))
})

test('a clip of the drawn figure is written to a file', { skip }, async () => {
  const folder = temporaryFolder('puppet')
  const out = join(folder, 'clip.y4m')
  const shares: number[] = []
  const script = { durationMs: 200, moves: [] }
  await makeClip({ portrait: 'figure', script, out, size: SIZE, onProgress: (share) => shares.push(share) })
  assert.deepEqual(shares, [1 / 3, 2 / 3, 1])
  const bytes = readFileSync(out)
  assert.equal(bytes.length, bytes.indexOf('\n') + 1 + 3 * ('FRAME\n'.length + 160 * 120 * 1.5))
})

test('a picture without a face is refused', { skip }, async () => {
  const folder = temporaryFolder('puppet')
  const out = join(folder, 'empty.y4m')
  await makeClip({ portrait: 'figure', script: { durationMs: 60, moves: [], present: [] }, out, size: SIZE })
  await assert.rejects(
    makeClip({ portrait: out, script: 'still', out: join(folder, 'clip.mjpeg') }),
    /No face was found/,
  )
})
