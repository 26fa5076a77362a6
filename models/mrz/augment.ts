/** Changes a cell a little each time it is learned from: place, size, lean, blur, light and noise. */
import { CELL_HEIGHT, CELL_SIZE, CELL_WIDTH, NOTHING } from '@ostiary/documents'
import type { Random } from '../drawn-documents/random.ts'
import { type Cells, OFFSET_STEPS, PIXEL_STEPS } from './cells.ts'

/** What a cell shows. */
export interface Target {
  label: number
  /** In pitches; undefined for cells that show nothing. */
  offset?: { x: number; y: number }
}

const moved = new Float64Array(CELL_SIZE)

export function augment(cells: Cells, index: number, { random, cell }: { random: Random; cell: Float64Array }): Target {
  const shift = { x: random.normal() * 0.4, y: random.normal() * 0.6 }
  const scale = { x: 1 + random.normal() * 0.04, y: 1 + random.normal() * 0.04, lean: random.normal() * 0.04 }
  warp(cells.pixels.subarray(index * CELL_SIZE, (index + 1) * CELL_SIZE), { ...shift, scale })
  blurInto(cell, random.next() < 0.3 ? random.next() : 0)
  light(cell, random)
  const label = cells.labels[index] as number
  if (label === NOTHING) return { label }
  return {
    label,
    offset: {
      x: (cells.offsets[index * 2] as number) / OFFSET_STEPS + (shift.x / CELL_WIDTH) * 1.06,
      y: (cells.offsets[index * 2 + 1] as number) / OFFSET_STEPS + (shift.y / CELL_HEIGHT) * 1.55,
    },
  }
}

interface Warp {
  x: number
  y: number
  scale: { x: number; y: number; lean: number }
}

/** Into `moved`; beyond the border stands the border's own value. */
function warp(pixels: Int8Array, { x, y, scale }: Warp): void {
  const [middleX, middleY] = [(CELL_WIDTH - 1) / 2, (CELL_HEIGHT - 1) / 2]
  for (let row = 0; row < CELL_HEIGHT; row++)
    for (let column = 0; column < CELL_WIDTH; column++) {
      const down = row - middleY - y
      const right = column - middleX - x
      const fromX = Math.min(CELL_WIDTH - 1.001, Math.max(0, middleX + right * scale.x + down * scale.lean))
      const fromY = Math.min(CELL_HEIGHT - 1.001, Math.max(0, middleY + down * scale.y))
      const x0 = Math.floor(fromX)
      const y0 = Math.floor(fromY)
      const shareX = fromX - x0
      const at = y0 * CELL_WIDTH + x0
      const upper = (pixels[at] as number) * (1 - shareX) + (pixels[at + 1] as number) * shareX
      const lower =
        (pixels[at + CELL_WIDTH] as number) * (1 - shareX) + (pixels[at + CELL_WIDTH + 1] as number) * shareX
      moved[row * CELL_WIDTH + column] = (upper + (lower - upper) * (fromY - y0)) / PIXEL_STEPS
    }
}

/** Mixes each pixel with its neighbours: `share` 0 leaves the cell as it is. */
function blurInto(cell: Float64Array, share: number): void {
  cell.set(moved)
  if (share === 0) return
  for (let y = 1; y < CELL_HEIGHT - 1; y++)
    for (let x = 1; x < CELL_WIDTH - 1; x++) {
      const at = y * CELL_WIDTH + x
      const near =
        (moved[at - 1] as number) +
        (moved[at + 1] as number) +
        (moved[at - CELL_WIDTH] as number) +
        (moved[at + CELL_WIDTH] as number)
      cell[at] = (moved[at] as number) * (1 - share * 0.6) + near * share * 0.15
    }
}

/** A slope of light over the cell, and noise; then mean 0 and deviation 1 again. */
function light(cell: Float64Array, random: Random): void {
  const [slopeX, slopeY, rise] = [random.normal() * 0.12, random.normal() * 0.12, random.normal() * 0.12]
  const noise = random.next() * 0.3
  let [sum, squares] = [0, 0]
  for (let row = 0; row < CELL_HEIGHT; row++)
    for (let column = 0; column < CELL_WIDTH; column++) {
      const [x, y] = [(column * 2) / CELL_WIDTH - 1, (row * 2) / CELL_HEIGHT - 1]
      const at = row * CELL_WIDTH + column
      const grain = (random.next() + random.next() - 1) * 2.4 * noise
      const value = (cell[at] as number) * (1 + slopeX * x + slopeY * y) + rise * y + grain
      cell[at] = value
      sum += value
      squares += value * value
    }
  const mean = sum / CELL_SIZE
  const deviation = Math.sqrt(Math.max(0, squares / CELL_SIZE - mean * mean)) + 0.03
  for (let at = 0; at < CELL_SIZE; at++) cell[at] = ((cell[at] as number) - mean) / deviation
}
