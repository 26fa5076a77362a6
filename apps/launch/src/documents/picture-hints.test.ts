import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Picture } from '@ostiary/documents'
import { cutOut, pictureHints } from './picture-hints.ts'

/** A page of soft patches in two colours, with an even noise. */
function page({ colour = 40, grid = 0 }): Picture {
  const [width, height] = [560, 320]
  const data = new Uint8ClampedArray(width * height * 4)
  let seed = 7
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
      const base =
        150 + 30 * Math.sin(x / 90) * Math.cos(y / 70) + ((seed >>> 20) % 16) + grid * Math.sin(x * 1.5 + y * 0.6)
      data.set([base + colour * Math.sin(x / 120), base, base - colour * Math.cos(y / 90), 255], (y * width + x) * 4)
    }
  return { width, height, data }
}
const ALL = { x: 0, y: 0, width: 560, height: 320 }

test('a page in colour raises nothing, a grey one looks like a copy, and a regular grid like a screen', () => {
  assert.deepEqual(pictureHints(page({}), ALL), [])
  assert.deepEqual(pictureHints(page({ colour: 0 }), ALL), ['copy'])
  assert.deepEqual(pictureHints(page({ grid: 12 }), ALL), ['screen'])
})

test('only the part of the document counts, and a part beyond the picture is cut', () => {
  const picture: Picture = { width: 4, height: 2, data: Uint8ClampedArray.from({ length: 32 }, (_, at) => at) }
  const cut = cutOut(picture, { x: 2, y: 1, width: 9, height: 9 })
  assert.deepEqual([cut.width, cut.height, cut.data[0], cut.data[7]], [2, 1, 24, 31])
})
