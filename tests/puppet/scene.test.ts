import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Picture } from '@ostiary/faces'
import { missingProgram } from '@ostiary/testkit/missing'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createScene, readPortrait } from './scene.ts'
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

test('a picture without a face is refused', { skip }, async () => {
  const file = join(temporaryFolder('puppet'), 'grey.pgm')
  writeFileSync(file, Buffer.concat([Buffer.from('P5 160 120 255\n'), Buffer.alloc(160 * 120, 128)]))
  await assert.rejects(readPortrait(file), /No face was found/)
})
