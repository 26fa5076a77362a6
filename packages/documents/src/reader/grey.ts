import type { Picture } from '../types.ts'

/** One byte per pixel: how bright it is. */
export interface Grey {
  width: number
  height: number
  data: Uint8Array
}

export function greyOf({ width, height, data }: Picture): Grey {
  const grey = new Uint8Array(width * height)
  for (let at = 0, from = 0; at < grey.length; at++, from += 4)
    grey[at] = ((data[from] as number) * 77 + (data[from + 1] as number) * 150 + (data[from + 2] as number) * 29) >> 8
  return { width, height, data: grey }
}

/** Smaller by a whole factor; each pixel is the mean of those that it stands for. */
export function shrink({ width, height, data }: Grey, factor: number): Grey {
  if (factor <= 1) return { width, height, data }
  const small = { width: Math.floor(width / factor), height: Math.floor(height / factor) }
  const means = new Uint8Array(small.width * small.height)
  const sums = new Uint32Array(small.width)
  const share = 1 / (factor * factor)
  for (let y = 0; y < small.height; y++) {
    sums.fill(0)
    for (let row = 0; row < factor; row++) {
      let from = (y * factor + row) * width
      for (let x = 0; x < small.width; x++) {
        let sum = sums[x] as number
        for (const end = from + factor; from < end; from++) sum += data[from] as number
        sums[x] = sum
      }
    }
    for (let x = 0; x < small.width; x++) means[y * small.width + x] = (sums[x] as number) * share
  }
  return { ...small, data: means }
}

/** Each pixel becomes the mean of the nine around it: noise falls to a third, strokes stay. */
export function soften({ width, height, data }: Grey): Grey {
  const soft = Uint8Array.from(data)
  for (let y = 1; y < height - 1; y++)
    for (let x = 1; x < width - 1; x++) {
      let sum = 0
      for (let at = (y - 1) * width + x; at <= (y + 1) * width + x; at += width)
        sum += (data[at - 1] as number) + (data[at] as number) + (data[at + 1] as number)
      soft[y * width + x] = sum / 9
    }
  return { width, height, data: soft }
}

/** The mean of a square around each pixel, cut at the borders of the picture. */
export function boxMean(values: Float32Array, size: { width: number; height: number }, radius: number): Float32Array {
  const { width, height } = size
  const rows = new Float32Array(values.length)
  for (let y = 0; y < height; y++) {
    const row = y * width
    let sum = 0
    for (let x = 0; x < Math.min(radius, width); x++) sum += values[row + x] as number
    for (let x = 0; x < width; x++) {
      if (x + radius < width) sum += values[row + x + radius] as number
      if (x - radius - 1 >= 0) sum -= values[row + x - radius - 1] as number
      rows[row + x] = sum / (Math.min(width - 1, x + radius) - Math.max(0, x - radius) + 1)
    }
  }
  const means = new Float32Array(values.length)
  const sums = new Float64Array(width)
  for (let y = 0; y < Math.min(radius, height); y++)
    for (let x = 0; x < width; x++) sums[x] = (sums[x] as number) + (rows[y * width + x] as number)
  for (let y = 0; y < height; y++) {
    const enters = y + radius < height ? (y + radius) * width : -1
    const leaves = y - radius - 1 >= 0 ? (y - radius - 1) * width : -1
    const share = 1 / (Math.min(height - 1, y + radius) - Math.max(0, y - radius) + 1)
    for (let x = 0; x < width; x++) {
      let sum = sums[x] as number
      if (enters >= 0) sum += rows[enters + x] as number
      if (leaves >= 0) sum -= rows[leaves + x] as number
      sums[x] = sum
      means[y * width + x] = sum * share
    }
  }
  return means
}
