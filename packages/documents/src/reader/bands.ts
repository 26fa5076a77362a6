/** Finds long thin bands of dense edges, at every angle: a line of print looks like that, whatever it says. */
import { boxMean, type Grey } from './grey.ts'

export interface Band {
  x: number
  y: number
  /** Direction of the band, from left to right. */
  angle: number
  /** Ends along the direction, measured from (x, y). */
  start: number
  end: number
  thickness: number
  pixels: number
}

/** Radius of the square that joins the characters of a line and leaves the lines apart. */
export const JOIN_RADIUS = 4
const NEAR_RADIUS = 44
const EDGE_MAX = 70
const LEAST_LENGTH = 24

/** How much text there is around each pixel, and around each block of four by four on average. */
export interface EdgeMaps {
  width: number
  height: number
  dense: Float32Array
  near: Float32Array
  noise: number
}

export function edgeMaps({ width, height, data }: Grey): EdgeMaps {
  const edges = new Float32Array(width * height)
  const counts = new Uint32Array(EDGE_MAX + 1)
  for (let y = 1; y < height - 1; y++)
    for (let x = 1; x < width - 1; x++) {
      const at = y * width + x
      const across = (data[at + 1] as number) - (data[at - 1] as number)
      const down = (data[at + width] as number) - (data[at - width] as number)
      const edge = Math.min(EDGE_MAX, (across < 0 ? -across : across) + (down < 0 ? -down : down))
      edges[at] = edge
      counts[edge | 0] = (counts[edge | 0] as number) + 1
    }
  let [below, noise] = [0, 0]
  while (noise < EDGE_MAX && below < (width * height) / 2) below += counts[noise++] as number
  const dense = boxMean(edges, { width, height }, JOIN_RADIUS)
  return { width, height, dense, near: nearMeans(dense, width, height), noise }
}

/** The mean of a wide neighbourhood changes slowly: one value for four by four pixels is enough. */
function nearMeans(dense: Float32Array, width: number, height: number): Float32Array {
  const size = { width: (width + 3) >> 2, height: (height + 3) >> 2 }
  const coarse = new Float32Array(size.width * size.height)
  for (let y = 0; y < size.height; y++)
    for (let x = 0; x < size.width; x++) coarse[y * size.width + x] = dense[4 * y * width + 4 * x] as number
  return boxMean(coarse, size, NEAR_RADIUS >> 2)
}

/** Bands where edges are denser than `factor` times their neighbourhood. */
export function findBands({ width, height, dense, near, noise }: EdgeMaps, factor: number): Band[] {
  const isDense = new Uint8Array(width * height)
  const least = noise * 1.15 + 2
  const nearWidth = (width + 3) >> 2
  for (let y = 2; y < height - 2; y++) {
    const nearRow = (y >> 2) * nearWidth
    for (let x = 2; x < width - 2; x++) {
      const value = dense[y * width + x] as number
      if (value > least && value > factor * (near[nearRow + (x >> 2)] as number)) isDense[y * width + x] = 1
    }
  }
  const bands: Band[] = []
  const stack = new Int32Array(width * height)
  for (let at = 0; at < isDense.length; at++) {
    if (isDense[at] !== 1) continue
    const band = bandOf(stack, fill(isDense, stack, { from: at, width }), width)
    if (band) bands.push(band)
  }
  return bands
}

/** Collects the connected pixels into the stack and marks them as taken. */
function fill(isDense: Uint8Array, stack: Int32Array, { from, width }: { from: number; width: number }): number {
  let count = 0
  stack[count++] = from
  isDense[from] = 2
  for (let next = 0; next < count; next++) {
    const at = stack[next] as number
    for (const step of [-1, 1, -width, width])
      if (isDense[at + step] === 1) {
        isDense[at + step] = 2
        stack[count++] = at + step
      }
  }
  return count
}

function bandOf(stack: Int32Array, pixels: number, width: number): Band | undefined {
  if (pixels < LEAST_LENGTH * 4) return undefined
  let [sumX, sumY, sumXX, sumXY, sumYY] = [0, 0, 0, 0, 0]
  for (let index = 0; index < pixels; index++) {
    const at = stack[index] as number
    const y = (at / width) | 0
    const x = at - y * width
    sumX += x
    sumY += y
    sumXX += x * x
    sumXY += x * y
    sumYY += y * y
  }
  const [x, y] = [sumX / pixels, sumY / pixels]
  const [xx, xy, yy] = [sumXX / pixels - x * x, sumXY / pixels - x * y, sumYY / pixels - y * y]
  const angle = Math.atan2(2 * xy, xx - yy) / 2
  const spread = Math.sqrt(((xx - yy) / 2) ** 2 + xy * xy)
  const length = Math.sqrt(12 * ((xx + yy) / 2 + spread))
  const thickness = Math.sqrt(12 * Math.max(0.1, (xx + yy) / 2 - spread))
  if (length < LEAST_LENGTH || length < 2 * thickness) return undefined
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  let [start, end] = [0, 0]
  for (let index = 0; index < pixels; index++) {
    const at = stack[index] as number
    const row = (at / width) | 0
    const along = (at - row * width - x) * cos + (row - y) * sin
    if (along < start) start = along
    if (along > end) end = along
  }
  return { x, y, angle, start, end, thickness, pixels }
}
