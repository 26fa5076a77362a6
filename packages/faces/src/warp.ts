import { applyTo, invert, type Similarity, scaleOf } from './geometry.ts'
import type { Picture, Tensor } from './types.ts'

/** A square cut out of a picture: red, green, blue from 0 to 255, row by row. Outside the picture it is black. */
export interface Crop {
  size: number
  data: Float32Array
}

export interface TensorForm {
  layout: 'NHWC' | 'NCHW'
  order: 'RGB' | 'BGR'
  /** Subtracted per channel, in the order named above. */
  mean: readonly [number, number, number]
  /** What is left is multiplied by this. */
  scale: number
}

/** Cuts a square out of a picture, as `to` says, with bilinear interpolation. Pixel centres lie on whole numbers. */
export function warp(picture: Picture, to: Similarity, size: number): Crop {
  // Below half the size bilinear interpolation would skip pixels, so the picture is made smaller by whole blocks first.
  const step = Math.floor(1 / scaleOf(to))
  return step < 2 ? sample(picture, to, size) : shrinkAndSample(picture, { to, size, step })
}

export function mirrored({ size, data }: Crop): Crop {
  const turned = new Float32Array(data.length)
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const from = (y * size + x) * 3
      turned.set(data.subarray(from, from + 3), (y * size + size - 1 - x) * 3)
    }
  return { size, data: turned }
}

/** Crops of one size as one batch for a net. */
export function toTensor(crops: Crop | readonly Crop[], form: TensorForm): Tensor {
  const batch: readonly Crop[] = 'data' in crops ? [crops] : crops
  const size = batch[0]?.size ?? 0
  const pixels = size * size
  const data = new Float32Array(batch.length * pixels * 3)
  const planar = form.layout === 'NCHW'
  for (const [index, crop] of batch.entries()) {
    const start = index * pixels * 3
    for (let channel = 0; channel < 3; channel++) {
      const mean = form.mean[channel] ?? 0
      let from = form.order === 'BGR' ? 2 - channel : channel
      let at = planar ? start + channel * pixels : start + channel
      const stride = planar ? 1 : 3
      for (let n = 0; n < pixels; n++, from += 3, at += stride) data[at] = ((crop.data[from] ?? 0) - mean) * form.scale
    }
  }
  return { dims: planar ? [batch.length, 3, size, size] : [batch.length, size, size, 3], data }
}

/** How bright each pixel is, 0 to 255, by the weights of ITU-R BT.601. */
export function toGrey({ data }: Crop): Float32Array {
  const grey = new Float32Array(data.length / 3)
  for (let n = 0, at = 0; n < grey.length; n++, at += 3)
    grey[n] = 0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0)
  return grey
}

function sample({ width, height, data }: Picture, to: Similarity, size: number): Crop {
  const back = invert(to)
  const crop = new Float32Array(size * size * 3)
  for (let row = 0, at = 0; row < size; row++) {
    for (let column = 0; column < size; column++, at += 3) {
      const x = back.a * column - back.b * row + back.dx
      const y = back.b * column + back.a * row + back.dy
      const left = Math.floor(x)
      const top = Math.floor(y)
      if (left < -1 || top < -1 || left >= width || top >= height) continue
      const right = x - left
      const bottom = y - top
      const from = (top * width + left) * 4
      // Four corners with their shares; what lies outside the picture is black.
      const hasLeft = left >= 0
      const hasRight = left + 1 < width
      const shareTop = top >= 0 ? 1 - bottom : 0
      const shareBottom = top + 1 < height ? bottom : 0
      const nw = hasLeft ? shareTop * (1 - right) : 0
      const ne = hasRight ? shareTop * right : 0
      const sw = hasLeft ? shareBottom * (1 - right) : 0
      const se = hasRight ? shareBottom * right : 0
      const below = from + width * 4
      for (let channel = 0; channel < 3; channel++)
        crop[at + channel] =
          nw * (data[from + channel] ?? 0) +
          ne * (data[from + 4 + channel] ?? 0) +
          sw * (data[below + channel] ?? 0) +
          se * (data[below + 4 + channel] ?? 0)
    }
  }
  return { size, data: crop }
}

/** Makes the part of the picture that is needed smaller by whole steps, then cuts the square out of that. */
function shrinkAndSample(picture: Picture, { to, size, step }: { to: Similarity; size: number; step: number }): Crop {
  const back = invert(to)
  const corners = [0, size - 1].flatMap((x) => [0, size - 1].map((y) => applyTo(back, { x, y })))
  const xs = corners.map(({ x }) => x)
  const ys = corners.map(({ y }) => y)
  const left = clamp(Math.floor(Math.min(...xs)) - step, picture.width)
  const top = clamp(Math.floor(Math.min(...ys)) - step, picture.height)
  const right = clamp(Math.ceil(Math.max(...xs)) + step, picture.width)
  const bottom = clamp(Math.ceil(Math.max(...ys)) + step, picture.height)
  const width = Math.max(1, Math.ceil((right - left) / step))
  const height = Math.max(1, Math.ceil((bottom - top) / step))
  const small = shrink(picture, { left, top, width, height, step })
  // The middle of the first block lies half a block in: x = left + step * u + (step - 1) / 2.
  const shift = (step - 1) / 2
  const { a, b } = to
  const origin = applyTo(to, { x: left + shift, y: top + shift })
  return sample(small, { a: a * step, b: b * step, dx: origin.x, dy: origin.y }, size)
}

interface Blocks {
  left: number
  top: number
  width: number
  height: number
  step: number
}

/** The mean of each block of `step` x `step` pixels; a block at the edge has fewer. */
function shrink(picture: Picture, { left, top, width, height, step }: Blocks): Picture {
  const small = new Uint8ClampedArray(width * height * 4)
  for (let row = 0, at = 0; row < height; row++) {
    const yEnd = Math.min(picture.height, top + (row + 1) * step)
    for (let column = 0; column < width; column++, at += 4) {
      const xStart = left + column * step
      const xEnd = Math.min(picture.width, xStart + step)
      let [red, green, blue, count] = [0, 0, 0, 0]
      for (let y = top + row * step; y < yEnd; y++)
        for (let from = (y * picture.width + xStart) * 4, end = (y * picture.width + xEnd) * 4; from < end; from += 4) {
          red += picture.data[from] ?? 0
          green += picture.data[from + 1] ?? 0
          blue += picture.data[from + 2] ?? 0
          count++
        }
      small[at] = red / count
      small[at + 1] = green / count
      small[at + 2] = blue / count
      small[at + 3] = 255
    }
  }
  return { width, height, data: small }
}

function clamp(value: number, end: number): number {
  return Math.min(Math.max(value, 0), end)
}
