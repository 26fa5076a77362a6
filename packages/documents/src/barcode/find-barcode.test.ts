import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Picture } from '../types.ts'
import { findBarcode } from './find-barcode.ts'
import { BARCODE_TURNS, turnPicture } from './turns.ts'

const CARD = '@\n\x1e\rANSI 636014100001DL00310200DLDAQD1234567'
const NONSENSE = 'EZ`YJOIBMTDXSCNFJWF'

/** A dark disc of 4 pixels radius on light ground. */
function disc(width: number, height: number, x: number, y: number): Picture {
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let row = 0; row < height; row += 1)
    for (let column = 0; column < width; column += 1)
      if (Math.hypot(column - x, row - y) < 4) data.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3)
  return { width, height, data }
}

function darkest({ width, height, data }: Picture): { x: number; y: number } {
  let [sumX, sumY, count] = [0, 0, 0]
  for (let at = 0; at < width * height; at += 1)
    if ((data[at * 4] ?? 0) < 60) {
      sumX += at % width
      sumY += Math.floor(at / width)
      count += 1
    }
  return { x: sumX / count, y: sumY / count }
}

test('the turns leave no gap of more than 3 degrees from -12 to 12, and begin with none', () => {
  assert.equal(BARCODE_TURNS[0], 0)
  assert.deepEqual(
    BARCODE_TURNS.toSorted((a, b) => a - b),
    [-12, -9, -6, -3, 0, 3, 6, 9, 12],
  )
})

test('a turn moves the picture clockwise around its middle and loses no corner', () => {
  const turned = turnPicture(disc(201, 101, 180, 50), 90)
  assert.ok(Math.abs(turned.width - 101) <= 1 && Math.abs(turned.height - 201) <= 1)
  const { x, y } = darkest(turned)
  assert.ok(Math.abs(x - 50) < 1 && Math.abs(y - 180) < 1, `${x} ${y}`)
  const corner = darkest(turnPicture(disc(201, 101, 6, 6), 12))
  assert.ok(corner.x > 0 && corner.y > 0)
})

test('turning there and back gives the same place', () => {
  const back = turnPicture(turnPicture(disc(201, 101, 150, 30), 9), -9)
  const { x, y } = darkest(back)
  assert.ok(
    Math.abs(x - (back.width - 1) / 2 - 50) < 0.5 && Math.abs(y - (back.height - 1) / 2 + 20) < 0.5,
    `${x} ${y}`,
  )
})

test('the picture is turned until the decoder reads a card, past nonsense, and no further', async () => {
  const picture = disc(60, 40, 30, 20)
  const sizes: string[] = []
  const found = await findBarcode(picture, async ({ width, height }) => {
    sizes.push(`${width}x${height}`)
    return ['', NONSENSE, CARD][sizes.length - 1]
  })
  assert.deepEqual(found, { text: CARD, turnDegrees: -3 })
  assert.equal(sizes.length, 3)
  assert.equal(sizes[0], '60x40')
})

test('without a barcode every turn is tried and nothing is found', async () => {
  let calls = 0
  const found = await findBarcode(disc(60, 40, 30, 20), async () => {
    calls += 1
    return undefined
  })
  assert.equal(found, undefined)
  assert.equal(calls, BARCODE_TURNS.length)
})
