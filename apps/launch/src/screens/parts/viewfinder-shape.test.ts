import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ovalFor } from '@ostiary/faces'
import { cropOf, ovalPath, veilPath } from './viewfinder-shape.ts'

test('a wide picture is cropped at its sides, a tall one at top and bottom, a fitting one not at all', () => {
  assert.deepEqual(cropOf(640, 480), { x: 140, y: 0, width: 360, height: 480 })
  assert.deepEqual(cropOf(480, 860), { x: 0, y: 110, width: 480, height: 640 })
  assert.deepEqual(cropOf(480, 640), { x: 0, y: 0, width: 480, height: 640 })
})

test('the guiding oval is fully visible for every picture size', () => {
  for (const [width, height] of [
    [640, 480],
    [480, 640],
    [1280, 720],
    [720, 1280],
    [640, 640],
  ] as const) {
    const crop = cropOf(width, height)
    const { x, y, rx, ry } = ovalFor(width, height)
    assert.ok(x - rx > crop.x && x + rx < crop.x + crop.width, `${width}x${height} across`)
    assert.ok(y - ry > crop.y && y + ry < crop.y + crop.height, `${width}x${height} up and down`)
  }
})

test('the oval’s path starts at its top, and the veil has it as a hole', () => {
  const oval = { x: 50, y: 60, rx: 30, ry: 40 }
  assert.equal(ovalPath(oval), 'M50 20A30 40 0 0 1 50 100A30 40 0 0 1 50 20z')
  assert.equal(veilPath({ x: 0, y: 0, width: 100, height: 120 }, oval), `M0 0h100v120h-100z${ovalPath(oval)}`)
})
