import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Picture } from '@ostiary/faces'
import type { Triangle } from './delaunay.ts'
import { createCanvas, drawSheet } from './raster.ts'

const SQUARE: readonly Triangle[] = [
  [0, 1, 2],
  [0, 2, 3],
]

function picture(width: number, height: number, colour: (x: number, y: number) => [number, number, number]): Picture {
  const data = new Uint8ClampedArray(width * height * 4)
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) data.set([...colour(column, row), 255], (row * width + column) * 4)
  }
  return { width, height, data }
}

const corners = (width: number, height: number) => [0, 0, width, 0, width, height, 0, height]
const drawnAt = (flat: readonly number[], nearness = 0) =>
  Float32Array.from(flat.flatMap((value, index) => (index % 2 ? [value, nearness] : [value])))

const chequered = picture(16, 12, (x, y) => [x * 15, y * 20, ((x + y) % 2) * 255])

test('a sheet that is not bent gives the picture itself, pixel by pixel', () => {
  const canvas = createCanvas(16, 12)
  drawSheet(canvas, {
    triangles: SQUARE,
    from: Float32Array.from(corners(16, 12)),
    to: drawnAt(corners(16, 12)),
    texture: chequered,
  })
  assert.deepEqual(canvas.picture, chequered)
})

test('a sheet moved by two pixels gives the picture two pixels further', () => {
  const canvas = createCanvas(20, 12)
  const to = corners(16, 12).map((value, index) => (index % 2 ? value : value + 2))
  drawSheet(canvas, {
    triangles: SQUARE,
    from: Float32Array.from(corners(16, 12)),
    to: drawnAt(to),
    texture: chequered,
  })
  const pixel = (of: Picture, x: number, y: number) => [
    ...of.data.subarray((y * of.width + x) * 4, (y * of.width + x) * 4 + 4),
  ]
  assert.deepEqual(pixel(canvas.picture, 7, 4), pixel(chequered, 5, 4))
  assert.deepEqual(pixel(canvas.picture, 1, 4), [0, 0, 0, 0])
})

test('each pixel is drawn by exactly one of two triangles that share an edge', () => {
  const canvas = createCanvas(16, 12)
  const grey = picture(4, 4, () => [100, 100, 100])
  const slanted = [0.3, 0.2, 15.7, 0.4, 15.2, 11.8, 0.6, 11.5]
  const sheet = { from: Float32Array.from(corners(4, 4)), to: drawnAt(slanted), texture: grey }
  const count = (triangles: readonly Triangle[]) => {
    drawSheet(canvas, { ...sheet, triangles })
    const drawn = [...canvas.nearness].filter((near) => near > Number.NEGATIVE_INFINITY).length
    return drawn
  }
  const [both, one, other] = [count(SQUARE), count(SQUARE.slice(0, 1)), count(SQUARE.slice(1))]
  assert.equal(one + other, both)
  assert.ok(both > 150)
})

test('what is nearer hides what is behind it, in whichever order they are drawn', () => {
  const colours = picture(2, 1, (x) => (x === 0 ? [255, 0, 0] : [0, 0, 255]))
  const from = Float32Array.from([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.5, 0.5, 1.5, 0.5, 1.5, 0.5, 1.5, 0.5])
  const to = new Float32Array([...drawnAt(corners(4, 4), 1), ...drawnAt(corners(4, 4), 2)])
  const back: Triangle[] = [
    [0, 1, 2],
    [0, 2, 3],
  ]
  const front: Triangle[] = [
    [4, 5, 6],
    [4, 6, 7],
  ]
  // The texture's corners fall together here, so the turning sense comes from a sheet of its own beside them.
  const aside: Triangle[] = [[8, 9, 10]]
  const sheet = {
    from: Float32Array.from([...from, 0, 0, 1, 0, 1, 1]),
    to: new Float32Array([...to, -9, -9, 0, -8, -9, 0, -8, -8, 0]),
    texture: colours,
  }
  for (const triangles of [
    [...back, ...front, ...aside],
    [...front, ...back, ...aside],
  ]) {
    const canvas = createCanvas(4, 4)
    drawSheet(canvas, { ...sheet, triangles })
    assert.deepEqual([...canvas.picture.data.subarray(0, 4)], [0, 0, 255, 255])
  }
})

test('a triangle that shows its back is not drawn', () => {
  const canvas = createCanvas(8, 8)
  const mirrored = [8, 0, 0, 0, 0, 8, 8, 8]
  drawSheet(canvas, {
    triangles: SQUARE,
    from: Float32Array.from(corners(8, 8)),
    to: drawnAt(mirrored),
    texture: picture(8, 8, () => [9, 9, 9]),
  })
  assert.ok(canvas.picture.data.every((value) => value === 0))
})
