import type { Box, Picture } from '@ostiary/faces'

export interface Size {
  width: number
  height: number
}

/** Where a portrait's pixels lie on the stage: stage = portrait * scale + offset. */
export interface Placement {
  scale: number
  x: number
  y: number
}

/** As much of the picture's width as a face takes that is neither too near nor too far, and where its middle is. */
const FACE = { width: 0.36, y: 0.48 } as const

/** Puts the face in the middle, in a good size for a capture. */
export function placeFace(face: Box, size: Size): Placement {
  // A high, narrow picture (half a stage) would cut off a face that was measured by its width alone.
  const width = Math.min(FACE.width * size.width, 0.42 * size.height)
  const scale = width / face.width
  return {
    scale,
    x: size.width / 2 - (face.x + face.width / 2) * scale,
    y: FACE.y * size.height - (face.y + face.height / 2) * scale,
  }
}

/** How far beyond the portrait's edge its mirror picture is still seen, in widths of the face on the stage. */
const EDGE = 0.3

/** The portrait as a camera would show it, and the same place with nobody there. */
export function buildStage(portrait: Picture, { placement, size }: { placement: Placement; size: Size }): Stage {
  const empty = buildBackdrop(portrait, size)
  const picture = { ...size, data: new Uint8ClampedArray(empty.data) }
  const source = shrunk(portrait, Math.max(1, Math.floor(0.75 / placement.scale)))
  const perPixel = source.width / portrait.width
  const reach = EDGE * FACE.width * size.width
  for (let row = 0; row < size.height; row++) {
    for (let column = 0; column < size.width; column++) {
      const x = (column + 0.5 - placement.x) / placement.scale
      const y = (row + 0.5 - placement.y) / placement.scale
      const outside = placement.scale * Math.max(-x, x - portrait.width, -y, y - portrait.height)
      const share = 1 - Math.min(1, Math.max(0, outside / reach))
      if (share <= 0) continue
      const at = (row * size.width + column) * 4
      const colours = sharpAt(source, reflected(x, portrait.width) * perPixel, reflected(y, portrait.height) * perPixel)
      for (const [channel, colour] of colours.entries()) {
        picture.data[at + channel] = colour * share + (empty.data[at + channel] ?? 0) * (1 - share)
      }
    }
  }
  return { picture, empty }
}

export interface Stage {
  picture: Picture
  empty: Picture
}

function reflected(x: number, length: number): number {
  const within = Math.abs(x) % (2 * length)
  return within > length ? 2 * length - within : within
}

/** A plain wall in the colours of the portrait's upper corners, lighter where the light falls. */
function buildBackdrop(portrait: Picture, size: Size): Picture {
  const corner = Math.max(1, Math.round(portrait.width / 16))
  const [left, right] = [meanOf(portrait, 0, corner), meanOf(portrait, portrait.width - corner, corner)]
  const data = new Uint8ClampedArray(size.width * size.height * 4)
  for (let row = 0; row < size.height; row++) {
    const shade = 1.02 - 0.14 * (row / size.height)
    for (let column = 0; column < size.width; column++) {
      const share = column / size.width
      const at = (row * size.width + column) * 4
      for (let channel = 0; channel < 3; channel++) {
        data[at + channel] = shade * ((left[channel] ?? 0) * (1 - share) + (right[channel] ?? 0) * share)
      }
      data[at + 3] = 255
    }
  }
  return { ...size, data }
}

function meanOf({ width, data }: Picture, left: number, side: number): number[] {
  const sums = [0, 0, 0]
  for (let row = 0; row < side; row++) {
    for (let column = left; column < left + side; column++) {
      for (let channel = 0; channel < 3; channel++) {
        sums[channel] = (sums[channel] ?? 0) + (data[(row * width + column) * 4 + channel] ?? 0)
      }
    }
  }
  return sums.map((sum) => sum / side ** 2)
}

/** Means of blocks, because picking single pixels out of a large portrait makes it grainy. */
function shrunk(picture: Picture, factor: number): Picture {
  if (factor === 1) return picture
  const [width, height] = [Math.floor(picture.width / factor), Math.floor(picture.height / factor)]
  const data = new Uint8ClampedArray(width * height * 4)
  for (let at = 0; at < data.length; at++) {
    const channel = at % 4
    const [column, row] = [((at - channel) / 4) % width, Math.floor((at - channel) / 4 / width)]
    let sum = 0
    for (let block = 0; block < factor ** 2; block++) {
      const [x, y] = [column * factor + (block % factor), row * factor + Math.floor(block / factor)]
      sum += picture.data[(y * picture.width + x) * 4 + channel] ?? 0
    }
    data[at] = sum / factor ** 2
  }
  return { width, height, data }
}

/** By a curve through sixteen pixels: portraits are small, and a straight line between four would blur them. */
function sharpAt({ width, height, data }: Picture, x: number, y: number): [number, number, number] {
  const [left, top] = [Math.floor(x - 0.5), Math.floor(y - 0.5)]
  const [across, down] = [curve(x - 0.5 - left), curve(y - 0.5 - top)]
  const sums: [number, number, number] = [0, 0, 0]
  for (let j = 0; j < 4; j++) {
    const row = Math.min(height - 1, Math.max(0, top - 1 + j))
    for (let i = 0; i < 4; i++) {
      const column = Math.min(width - 1, Math.max(0, left - 1 + i))
      const weight = (across[i] ?? 0) * (down[j] ?? 0)
      const at = (row * width + column) * 4
      sums[0] += weight * (data[at] ?? 0)
      sums[1] += weight * (data[at + 1] ?? 0)
      sums[2] += weight * (data[at + 2] ?? 0)
    }
  }
  return sums
}

/** Weights of the four neighbours for a place between the middle two (Catmull-Rom). */
function curve(t: number): [number, number, number, number] {
  return [
    ((2 - t) * t - 1) * t * 0.5,
    (t * t * (3 * t - 5) + 2) * 0.5,
    ((4 - 3 * t) * t + 1) * t * 0.5,
    (t - 1) * t * t * 0.5,
  ]
}

/** Out of focus: three means over neighbours are near to a bell. */
export function blurred(picture: Picture, radiusPx: number): Picture {
  const radius = Math.round(radiusPx)
  if (radius === 0) return picture
  let result = picture
  for (let pass = 0; pass < 3; pass++) result = softened(result, radius)
  return result
}

/** Each pixel becomes the mean of its neighbours within the radius. */
export const softened = (picture: Picture, radius: number) =>
  smeared(smeared(picture, radius, 1), radius, picture.width)

function smeared(picture: Picture, radius: number, stride: number): Picture {
  const { width, height, data } = picture
  const [lines, length] = stride === 1 ? [height, width] : [width, height]
  const to = new Uint8ClampedArray(data.length)
  for (let line = 0; line < lines; line++) {
    const start = stride === 1 ? line * width : line
    const value = (at: number, channel: number) =>
      data[(start + Math.min(length - 1, Math.max(0, at)) * stride) * 4 + channel] ?? 0
    for (let channel = 0; channel < 4; channel++) {
      let sum = 0
      for (let at = -radius; at <= radius; at++) sum += value(at, channel)
      for (let at = 0; at < length; at++) {
        to[(start + at * stride) * 4 + channel] = sum / (2 * radius + 1)
        sum += value(at + radius + 1, channel) - value(at - radius, channel)
      }
    }
  }
  return { width, height, data: to }
}

/** Two pictures of one height side by side. */
export function besides(left: Picture, right: Picture): Picture {
  const [width, height] = [left.width + right.width, left.height]
  const data = new Uint8ClampedArray(width * height * 4)
  for (let row = 0; row < height; row++) {
    data.set(left.data.subarray(row * left.width * 4, (row + 1) * left.width * 4), row * width * 4)
    const from = row * right.width * 4
    data.set(right.data.subarray(from, from + right.width * 4), (row * width + left.width) * 4)
  }
  return { width, height, data }
}
