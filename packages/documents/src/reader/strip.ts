/** A line of print, cut out and straightened: how much ink there is at each point, from 0 to 1. */
import type { Point } from '../types.ts'
import type { Grey } from './grey.ts'
import type { TextLine } from './locate.ts'

/** Pixels of a strip along one pitch, and pitches on each side of the line. */
export const STRIP_PITCH = 18
export const STRIP_MARGIN = 5
export const STRIP_HEIGHT = Math.round(STRIP_PITCH * 2.3)

export interface Strip {
  ink: Float32Array
  width: number
  height: number
  /** Where the strip lies in the picture. */
  origin: Point
  axis: Point
  scale: number
}

export function cutStrip(grey: Grey, { start, end }: TextLine, columns: number): Strip {
  const length = Math.hypot(end.x - start.x, end.y - start.y)
  const axis = { x: (end.x - start.x) / length, y: (end.y - start.y) / length }
  const scale = length / (columns - 0.3) / STRIP_PITCH
  const width = Math.round((columns + 2 * STRIP_MARGIN) * STRIP_PITCH)
  const before = STRIP_PITCH * (STRIP_MARGIN + 0.15)
  const origin = {
    x: start.x - (axis.x * before - axis.y * (STRIP_HEIGHT / 2)) * scale,
    y: start.y - (axis.y * before + axis.x * (STRIP_HEIGHT / 2)) * scale,
  }
  const strip = { ink: new Float32Array(width * STRIP_HEIGHT), width, height: STRIP_HEIGHT, origin, axis, scale }
  sampleInto(strip, grey)
  inkOf(strip)
  return strip
}

/** A point of the strip in the picture. */
export function inPicture({ origin, axis, scale }: Strip, x: number, y: number): Point {
  return { x: origin.x + (axis.x * x - axis.y * y) * scale, y: origin.y + (axis.y * x + axis.x * y) * scale }
}

/** A point of the picture in the strip. */
export function inStrip({ origin, axis, scale }: Strip, { x, y }: Point): Point {
  const [right, down] = [x - origin.x, y - origin.y]
  return { x: (right * axis.x + down * axis.y) / scale, y: (down * axis.x - right * axis.y) / scale }
}

const OUTSIDE = -1

function sampleInto({ ink, width, height, origin, axis, scale }: Strip, grey: Grey): void {
  const { data, width: full } = grey
  const [maxX, maxY] = [grey.width - 1, grey.height - 1]
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const fromX = origin.x + (axis.x * (x + 0.5) - axis.y * (y + 0.5)) * scale - 0.5
      const fromY = origin.y + (axis.y * (x + 0.5) + axis.x * (y + 0.5)) * scale - 0.5
      if (!(fromX >= 0 && fromY >= 0 && fromX < maxX && fromY < maxY)) {
        ink[y * width + x] = OUTSIDE
        continue
      }
      const x0 = fromX | 0
      const y0 = fromY | 0
      const shareX = fromX - x0
      const at = y0 * full + x0
      const upper = (data[at] as number) + ((data[at + 1] as number) - (data[at] as number)) * shareX
      const lower =
        (data[at + full] as number) + ((data[at + full + 1] as number) - (data[at + full] as number)) * shareX
      ink[y * width + x] = upper + (lower - upper) * (fromY - y0)
    }
}

/** Brightness becomes ink: paper is the bright part of each column's neighbourhood, the darkest twentieth counts as 1. */
function inkOf({ ink, width, height }: Strip): void {
  const paper = paperOf(ink, width, height)
  const counts = new Uint32Array(256)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = y * width + x
      const value = ink[at] as number
      const dark = value === OUTSIDE ? 0 : Math.max(0, (paper[x] as number) - value)
      ink[at] = dark
      counts[dark | 0] = (counts[dark | 0] as number) + 1
    }
  let [above, full] = [0, 256]
  while (full > 8 && above <= ink.length * 0.06) above += counts[--full] as number
  for (let at = 0; at < ink.length; at++) ink[at] = Math.min(1, (ink[at] as number) / full)
}

function paperOf(ink: Float32Array, width: number, height: number): Float32Array {
  const bright = new Float32Array(width)
  const counts = new Uint16Array(256)
  for (let x = 0; x < width; x++) {
    counts.fill(0)
    let known = 0
    for (let y = 4; y < height - 4; y++) {
      const value = ink[y * width + x] as number
      if (value === OUTSIDE) continue
      counts[value | 0] = (counts[value | 0] as number) + 1
      known++
    }
    let [left, level] = [known * 0.15, 255]
    while (level > 0 && left >= (counts[level] as number)) left -= counts[level--] as number
    bright[x] = known === 0 ? 0 : level
  }
  const reach = Math.round(STRIP_PITCH * 0.9)
  const smooth = new Float32Array(width)
  for (let x = 0; x < width; x++) {
    let [sum, count] = [0, 0]
    for (let near = Math.max(0, x - reach); near <= Math.min(width - 1, x + reach); near++) {
      sum += bright[near] as number
      count++
    }
    smooth[x] = sum / count
  }
  return smooth
}
