/** Finds where the characters of a line stand: every pitch one, the pitch growing or shrinking evenly. */
import { STRIP_MARGIN, STRIP_PITCH, type Strip } from './strip.ts'

/** Middle of cell n: x = x[0] + x[1] n + x[2] n², y likewise, in pixels of the strip. */
export interface Grid {
  x: readonly [number, number, number]
  y: readonly [number, number, number]
}

export const CELL_WIDTH = 16
export const CELL_HEIGHT = 24
export const CELL_SIZE = CELL_WIDTH * CELL_HEIGHT
/** What a cell shows, in pitches. */
const CELL_SPAN_X = 1.06
const CELL_SPAN_Y = 1.55

export const along = ([a, b, c]: Grid['x'], n: number) => a + b * n + c * n * n

/** By ink alone. The grid fits as well when it is moved by a whole cell: `read-lines` settles that. */
export function fitGrid(strip: Strip, columns: number): Grid {
  const [y0, slope] = middleOf(strip)
  const [start, pitch, growth] = fitColumns(strip, { y0, slope, columns })
  // `growth` bends around the middle of the line.
  const x = [start, pitch - growth * (columns - 1), growth] as const
  return { x, y: [y0 + slope * x[0], slope * x[1], slope * x[2]] }
}

const BLOCKS = 6

/** The row that the line runs along, as y0 + slope * x: the median over blocks, which bears a stamp or a finger. */
function middleOf(strip: Strip): [y0: number, slope: number] {
  const { width } = strip
  const left = STRIP_PITCH * STRIP_MARGIN
  const step = (width - 2 * left) / BLOCKS
  const points = Array.from({ length: BLOCKS }, (_, block) => {
    const from = Math.round(left + block * step)
    return { x: from + step / 2, y: rowOfBlock(strip, from, Math.round(from + step)) }
  })
  const slopes = points.flatMap((a, index) => points.slice(index + 2).map((b) => (b.y - a.y) / (b.x - a.x)))
  const slope = medianOf(slopes)
  return [medianOf(points.map(({ x, y }) => y - slope * x)), slope]
}

const medianOf = (values: readonly number[]) => {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 ? (sorted[half] ?? 0) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2
}

/** The middle of the window of a character's height that holds most ink and has none above and below. */
function rowOfBlock({ ink, width, height }: Strip, from: number, to: number): number {
  const rows = new Float64Array(height)
  for (let y = 0; y < height; y++)
    for (let x = from; x < to; x++) rows[y] = (rows[y] as number) + (ink[y * width + x] as number)
  const window = Math.round(STRIP_PITCH * 0.95)
  let [best, middle] = [Number.NEGATIVE_INFINITY, height / 2]
  for (let top = 2; top <= height - 2 - window; top++) {
    let sum = 0
    for (let row = 0; row < window; row++) sum += rows[top + row] as number
    const beside = (rows[top - 2] as number) + (rows[Math.min(height - 1, top + window + 1)] as number)
    const mean = sum / window
    const score = mean - beside * 0.7 - Math.abs(top + window / 2 - height / 2) * 0.004 * mean
    if (score > best) [best, middle] = [score, top + window / 2]
  }
  return middle
}

interface Row {
  y0: number
  slope: number
  columns: number
}

/** Start, pitch and growth such that cells hold ink and the gaps between them do not. */
function fitColumns(strip: Strip, row: Row): [start: number, pitch: number, growth: number] {
  const score = scorer(strip, row)
  let best = { score: Number.NEGATIVE_INFINITY, start: 0, pitch: STRIP_PITCH, growth: 0 }
  const consider = (start: number, pitch: number, growth: number) => {
    const value = score(start, pitch, growth)
    if (value > best.score) best = { score: value, start, pitch, growth }
  }
  const first = STRIP_PITCH * (STRIP_MARGIN + 0.5)
  for (let step = -9; step <= 9; step++)
    for (let phase = -4; phase <= 4; phase++) {
      const pitch = STRIP_PITCH * (1 + step * 0.009)
      // The middle of the line stays where it is when the pitch changes.
      const start = first + ((row.columns - 1) / 2) * (STRIP_PITCH - pitch) + (phase / 9) * pitch
      for (let bend = -1; bend <= 1; bend++) consider(start, pitch, bend * 0.012)
    }
  for (const [dx, dp, dg] of FINER) {
    const { start, pitch, growth } = best
    for (let i = -2; i <= 2; i++)
      for (let j = -2; j <= 2; j++)
        for (let k = -2; k <= 2; k++) {
          const wider = pitch + j * dp
          consider(start + i * dx - ((row.columns - 1) / 2) * j * dp, wider, growth + k * dg)
        }
  }
  return [best.start, best.pitch, best.growth]
}

const FINER = [
  [1.2, 0.06, 0.005],
  [0.6, 0.03, 0.0025],
  [0.3, 0.012, 0.001],
] as const

function scorer({ ink, width, height }: Strip, { y0, slope, columns }: Row) {
  const sums = new Float64Array(width + 1)
  const half = STRIP_PITCH * 0.46
  for (let x = 0; x < width; x++) {
    const middle = y0 + slope * x
    let sum = 0
    for (let y = Math.max(0, Math.round(middle - half)); y <= Math.min(height - 1, Math.round(middle + half)); y++)
      sum += ink[y * width + x] as number
    sums[x + 1] = (sums[x] as number) + Math.min(0.6, sum / STRIP_PITCH)
  }
  const upTo = (x: number) => {
    if (x <= 0) return 0
    if (x >= width) return sums[width] as number
    const whole = x | 0
    const before = sums[whole] as number
    return before + ((sums[whole + 1] as number) - before) * (x - whole)
  }
  return (start: number, pitch: number, growth: number) => {
    const [cell, gap, enough] = [pitch * 0.3, pitch * 0.13, pitch * 0.12]
    let score = 0
    for (let n = 0; n < columns; n++) {
      const middle = start + pitch * n + growth * n * (n - columns + 1)
      const filled = upTo(middle + cell) - upTo(middle - cell)
      const edge = middle + pitch / 2
      score += (filled < enough ? filled : enough) - 1.5 * (upTo(edge + gap) - upTo(edge - gap))
    }
    return score
  }
}

/** Cells as the net takes them: mean 0, deviation 1. */
export function cutCells(strip: Strip, grid: Grid, wanted: readonly number[]): Float32Array {
  const cells = new Float32Array(wanted.length * CELL_SIZE)
  for (const [index, n] of wanted.entries()) {
    const pitch = grid.x[1] + 2 * grid.x[2] * n
    const [x, y] = [along(grid.x, n), along(grid.y, n)]
    cutCell(strip, { x, y, pitch }, cells.subarray(index * CELL_SIZE, (index + 1) * CELL_SIZE))
  }
  return cells
}

/** Cells are cut level: within a cell the slope of the line is less than a pixel. */
export function cutCell(
  { ink, width, height }: Strip,
  at: { x: number; y: number; pitch: number },
  cell: Float32Array,
): void {
  const [stepX, stepY] = [(at.pitch * CELL_SPAN_X) / CELL_WIDTH, (at.pitch * CELL_SPAN_Y) / CELL_HEIGHT]
  const left = at.x + (0.5 - CELL_WIDTH / 2) * stepX - 0.5
  const top = at.y + (0.5 - CELL_HEIGHT / 2) * stepY - 0.5
  let [sum, squares] = [0, 0]
  for (let row = 0; row < CELL_HEIGHT; row++) {
    const fromY = top + row * stepY
    const y0 = Math.floor(fromY)
    const shareY = fromY - y0
    for (let column = 0; column < CELL_WIDTH; column++) {
      const fromX = left + column * stepX
      const x0 = Math.floor(fromX)
      let value = 0
      if (x0 >= 0 && y0 >= 0 && x0 < width - 1 && y0 < height - 1) {
        const shareX = fromX - x0
        const first = y0 * width + x0
        const upper = (ink[first] as number) * (1 - shareX) + (ink[first + 1] as number) * shareX
        const lower = (ink[first + width] as number) * (1 - shareX) + (ink[first + width + 1] as number) * shareX
        value = upper * (1 - shareY) + lower * shareY
      }
      cell[row * CELL_WIDTH + column] = value
      sum += value
      squares += value * value
    }
  }
  const mean = sum / CELL_SIZE
  const deviation = Math.sqrt(Math.max(0, squares / CELL_SIZE - mean * mean)) + 0.03
  for (let pixel = 0; pixel < CELL_SIZE; pixel++) cell[pixel] = ((cell[pixel] as number) - mean) / deviation
}
