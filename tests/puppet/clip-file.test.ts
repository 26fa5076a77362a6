import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { missingProgram } from '@ostiary/testkit/missing'
import { readPicture } from '@ostiary/testkit/samples/portraits'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createClipFile } from './clip-file.ts'

const skip = missingProgram('ffmpeg')
const folder = temporaryFolder('puppet')

const SIZE = { width: 64, height: 48 }
const grey = (level: number) => ({ ...SIZE, data: new Uint8ClampedArray(64 * 48 * 4).fill(level) })

async function write(name: string): Promise<Buffer> {
  const out = join(folder, name)
  const file = createClipFile(out, { size: SIZE, fps: 15 })
  for (const level of [20, 120, 220]) await file.write(grey(level))
  assert.ok(!existsSync(out), 'an incomplete clip is not left behind')
  await file.end()
  return readFileSync(out)
}

test('an .mjpeg has each frame twice, because browsers play it at 30 frames a second', { skip }, async () => {
  const bytes = await write('clip.mjpeg')
  let pictures = 0
  for (let at = bytes.indexOf(START); at >= 0; at = bytes.indexOf(START, at + 2)) pictures++
  assert.equal(pictures, 6)
})

/** A JPEG starts with this, and it stands nowhere else in one. */
const START = Buffer.from([0xff, 0xd8])

test('an .mjpeg has the brightness of video in it, which is what browsers take it for', { skip }, async () => {
  await write('range.mjpeg')
  const { data } = await readPicture(join(folder, 'range.mjpeg'))
  assert.ok(Math.abs((data[0] ?? 0) - (16 + (20 * 219) / 255)) < 3, `${data[0]}`)
})

test('a .y4m has its rate in its header and each frame once', { skip }, async () => {
  const bytes = await write('clip.y4m')
  assert.match(bytes.subarray(0, 60).toString('latin1'), /^YUV4MPEG2 W64 H48 F15:1 /)
  const header = bytes.indexOf('\n') + 1
  assert.equal(bytes.length, header + 3 * ('FRAME\n'.length + 64 * 48 * 1.5))
})

test('a failure of ffmpeg is an error with its message', { skip }, async () => {
  const file = createClipFile(join(folder, 'missing', 'clip.mjpeg'), { size: SIZE, fps: 15 })
  await assert.rejects(async () => {
    await file.write(grey(1))
    await file.end()
  }, /ffmpeg could not write .*missing/)
})
