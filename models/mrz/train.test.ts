import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  CELL_HEIGHT,
  CELL_SIZE,
  CELL_WIDTH,
  createNet,
  MRZ_CHARACTERS,
  packLayers,
  unpackLayers,
  WEIGHTS,
} from '@ostiary/documents'
import { coverageOf, loadCuts, TRAINED_CUTS } from '../drawn-documents/glyphs.ts'
import { type Cells, joinCells, OFFSET_STEPS, PIXEL_STEPS } from './cells.ts'
import { train } from './train.ts'

/** Recorded once. A change of the net, of the trainer or of the outlines changes them, and then the weights have to be trained again. */
const RECORDED = { sha256: 'bb20ca169c37625b8d53692288c42bce45a15474b9ae7cc4f7b844aed4d26ba8', loss: 2.4897 }

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Every character of both cuts at nine places, drawn with sums and products only, so that every machine draws the same. */
function drawnCells(): Cells {
  const shifts = [-1.5, 0, 1.5]
  const parts = loadCuts().flatMap((cut) =>
    [...MRZ_CHARACTERS].flatMap((character, label) => {
      const { width, height, data } = coverageOf(cut, character, { pitch: 15 })
      return shifts.flatMap((x) => shifts.map((y) => cellOf({ width, height, data }, { label, x, y })))
    }),
  )
  return joinCells(parts)
}

interface Drawn {
  width: number
  height: number
  data: Float32Array
}

function cellOf({ width, height, data }: Drawn, { label, x, y }: { label: number; x: number; y: number }): Cells {
  const pixels = new Int8Array(CELL_SIZE)
  for (let row = 0; row < CELL_HEIGHT; row++)
    for (let column = 0; column < CELL_WIDTH; column++) {
      const [fromX, fromY] = [
        Math.round(column - x + (width - CELL_WIDTH) / 2),
        Math.round(row - y + (height - CELL_HEIGHT) / 2),
      ]
      const isInside = fromX >= 0 && fromY >= 0 && fromX < width && fromY < height
      const value = isInside ? (data[fromY * width + fromX] ?? 0) : 0
      pixels[row * CELL_WIDTH + column] = Math.round((value * 3 - 0.7) * PIXEL_STEPS)
    }
  const offsets = Int8Array.of(Math.round((x / 15) * OFFSET_STEPS), Math.round((y / 15) * OFFSET_STEPS))
  return { pixels, labels: Uint8Array.of(label), offsets }
}

test('one epoch on fixed cells gives the recorded weights', () => {
  const { layers, loss } = train(drawnCells(), { seed: 3, epochs: 1, batch: 32, rate: 0.004 })
  // The loss is compared with a tolerance first: it says whether the trainer changed or only the last digit of a number.
  assert.ok(Math.abs(loss - RECORDED.loss) < 1e-3, `the loss is ${loss}`)
  assert.equal(digestOf(packLayers(layers)), RECORDED.sha256)
})

test('the shipped weights are those of the manifest', () => {
  const manifest = JSON.parse(readFileSync(new URL('./manifest.json', import.meta.url), 'utf8'))
  const packed = Buffer.from(WEIGHTS, 'base64')
  assert.deepEqual(
    { sha256: digestOf(packed), bytes: packed.length },
    { sha256: manifest.sha256, bytes: manifest.bytes },
  )
  assert.deepEqual(manifest.cuts, TRAINED_CUTS)
})

test('the shipped net names clean characters of the cuts it was trained on', () => {
  const cells = drawnCells()
  const net = createNet(unpackLayers(Buffer.from(WEIGHTS, 'base64')))
  const middle = Array.from(cells.labels.keys()).filter((index) => index % 9 === 4)
  let right = 0
  for (const index of middle) {
    const cell = Float32Array.from(cells.pixels.subarray(index * CELL_SIZE, (index + 1) * CELL_SIZE))
    const mean = cell.reduce((sum, value) => sum + value, 0) / CELL_SIZE
    const deviation = Math.sqrt(cell.reduce((sum, value) => sum + (value - mean) ** 2, 0) / CELL_SIZE)
    const { probabilities } = net(
      cell.map((value) => (value - mean) / deviation),
      1,
    )
    if (probabilities.indexOf(Math.max(...probabilities)) === cells.labels[index]) right++
  }
  assert.ok(right >= middle.length - 2, `${right} of ${middle.length}`)
})
