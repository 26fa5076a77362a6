import type { Picture } from '@ostiary/faces'
import type { Triangle } from './delaunay.ts'

/** A sheet of triangles that carries a picture and is drawn bent. */
export interface Sheet {
  triangles: readonly Triangle[]
  /** Where each corner lies in the picture: x y. */
  from: Float32Array
  /** Where it is drawn: x y and how near it is. Nearer parts hide those behind them. */
  to: Float32Array
  texture: Picture
}

export interface Canvas {
  picture: Picture
  nearness: Float32Array
}

export function createCanvas(width: number, height: number): Canvas {
  return {
    picture: { width, height, data: new Uint8ClampedArray(width * height * 4) },
    nearness: new Float32Array(width * height),
  }
}

/**
 * Draws the sheet. Triangles that show their back are left out: the border of a sheet stays where it is, so whatever they
 * would cover is covered by others.
 */
export function drawSheet(canvas: Canvas, sheet: Sheet): void {
  canvas.nearness.fill(Number.NEGATIVE_INFINITY)
  const sense = Math.sign(sheet.triangles.reduce((sum, triangle) => sum + areaOf(triangle, sheet.from, 2), 0))
  for (const triangle of sheet.triangles) {
    if (areaOf(triangle, sheet.to, 3) * sense > MIN_AREA) drawTriangle(canvas, sheet, triangle)
  }
}

/** Twice the area, in pixels: a smaller triangle covers no pixel. */
const MIN_AREA = 1e-6

function areaOf([a, b, c]: Triangle, at: Float32Array, stride: number): number {
  const x = (corner: number) => at[corner * stride] ?? 0
  const y = (corner: number) => at[corner * stride + 1] ?? 0
  return (x(b) - x(a)) * (y(c) - y(a)) - (y(b) - y(a)) * (x(c) - x(a))
}

interface Corner {
  x: number
  y: number
  nearness: number
  u: number
  v: number
}

function cornerOf({ from, to }: Sheet, index: number): Corner {
  return {
    x: to[index * 3] ?? 0,
    y: to[index * 3 + 1] ?? 0,
    nearness: to[index * 3 + 2] ?? 0,
    u: from[index * 2] ?? 0,
    v: from[index * 2 + 1] ?? 0,
  }
}

function drawTriangle(canvas: Canvas, sheet: Sheet, [first, second, third]: Triangle): void {
  const [a, b, c] = [cornerOf(sheet, first), cornerOf(sheet, second), cornerOf(sheet, third)]
  const { width, height } = canvas.picture
  const slopes = slopesOf(a, b, c)
  // A pixel belongs to the triangle that holds its centre; edges are cut in the same way from both sides, so there are no gaps.
  const top = Math.max(0, Math.ceil(Math.min(a.y, b.y, c.y) - 0.5))
  const bottom = Math.min(height - 1, Math.ceil(Math.max(a.y, b.y, c.y) - 0.5) - 1)
  for (let row = top; row <= bottom; row++) {
    const [ab, bc, ca] = [cutOf(a, b, row + 0.5), cutOf(b, c, row + 0.5), cutOf(c, a, row + 0.5)]
    // Two of the three edges cross a row that crosses the triangle; the third answers with NaN and is left out.
    const left = Number.isNaN(ab) ? Math.min(bc, ca) : Number.isNaN(bc) ? Math.min(ab, ca) : Math.min(ab, bc)
    const right = Number.isNaN(ab) ? Math.max(bc, ca) : Number.isNaN(bc) ? Math.max(ab, ca) : Math.max(ab, bc)
    const from = Math.max(0, Math.ceil(left - 0.5))
    const to = Math.min(width - 1, Math.ceil(right - 0.5) - 1)
    if (from <= to) drawRow(canvas, sheet.texture, { a, slopes, row, from, to })
  }
}

/** Where an edge crosses a row. Computed from its upper end for both triangles, so that neighbours get the same number. */
function cutOf(one: Corner, other: Corner, y: number): number {
  const upper = one.y < other.y || (one.y === other.y && one.x < other.x) ? one : other
  const lower = upper === one ? other : one
  if (y < upper.y || y >= lower.y) return Number.NaN
  return upper.x + ((y - upper.y) / (lower.y - upper.y)) * (lower.x - upper.x)
}

interface Slope {
  x: number
  y: number
}

type Slopes = Record<'nearness' | 'u' | 'v', Slope>

/** How the numbers at the corners change from pixel to pixel. */
function slopesOf(a: Corner, b: Corner, c: Corner): Slopes {
  const area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
  const slope = (of: (corner: Corner) => number): Slope => {
    const [db, dc] = [of(b) - of(a), of(c) - of(a)]
    return {
      x: (db * (c.y - a.y) - dc * (b.y - a.y)) / area,
      y: (dc * (b.x - a.x) - db * (c.x - a.x)) / area,
    }
  }
  return {
    nearness: slope((corner) => corner.nearness),
    u: slope((corner) => corner.u),
    v: slope((corner) => corner.v),
  }
}

interface Row {
  a: Corner
  slopes: Slopes
  row: number
  from: number
  to: number
}

/** The hot loop: integers only, and no allocation per pixel. */
function drawRow({ picture, nearness }: Canvas, texture: Picture, { a, slopes, row, from, to }: Row): void {
  const { width, height, data } = texture
  const out = picture.data
  const [dx, dy] = [from + 0.5 - a.x, row + 0.5 - a.y]
  let near = a.nearness + slopes.nearness.x * dx + slopes.nearness.y * dy
  let u = a.u + slopes.u.x * dx + slopes.u.y * dy - 0.5 + HALF_STEP
  let v = a.v + slopes.v.x * dx + slopes.v.y * dy - 0.5 + HALF_STEP
  const start = row * picture.width
  for (let index = start + from; index <= start + to; index++) {
    if (near > (nearness[index] ?? 0)) {
      nearness[index] = near
      // Outside the picture the border pixels repeat.
      const x = u <= 0 ? 0 : u >= width - 1 ? width - 1 : u
      const y = v <= 0 ? 0 : v >= height - 1 ? height - 1 : v
      const column = x | 0
      const line = y | 0
      const fx = ((x - column) * STEPS) | 0
      const fy = ((y - line) * STEPS) | 0
      const right = column + 1 < width ? 4 : 0
      const one = (line * width + column) * 4
      const two = one + (line + 1 < height ? width * 4 : 0)
      for (let channel = 0; channel < 3; channel++) {
        const upper = (data[one + channel] ?? 0) * (STEPS - fx) + (data[one + right + channel] ?? 0) * fx
        const lower = (data[two + channel] ?? 0) * (STEPS - fx) + (data[two + right + channel] ?? 0) * fx
        out[index * 4 + channel] = (upper * (STEPS - fy) + lower * fy + (STEPS * STEPS) / 2) >> 16
      }
      out[index * 4 + 3] = 255
    }
    near += slopes.nearness.x
    u += slopes.u.x
    v += slopes.v.x
  }
}

/** The number of steps between two pixels; the shift above is twice its power of two. */
const STEPS = 256
const HALF_STEP = 1 / (2 * STEPS)
