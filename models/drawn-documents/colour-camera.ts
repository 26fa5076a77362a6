/**
 * A camera before a drawn document in colour: printed on paper, copied in grey, or shown on a screen. Everything is invented; no
 * real camera, printer or screen was measured. The picture is not compressed, but its colour has half the resolution, as in video.
 */
import type { Picture } from '@ostiary/documents'
import type { Random } from './random.ts'

export type Medium = 'print' | 'grey copy' | 'screen'

export interface ColourShot {
  medium: Medium
  /** Size of the picture. */
  width: number
  height: number
  /** What of the page is in its middle, in pixels of the page. */
  middle: { x: number; y: number }
  /** Pixels of the page for one of the camera. */
  scale: number
  tiltDegrees: number
  blurPx: number
  noise: number
  /** Camera pixels for each pixel of the screen. */
  screenPitch: number
}

/** How people hold documents: a little tilted, a little out of focus, in some light. */
export function inventShot(
  random: Random,
  shot: Pick<ColourShot, 'medium' | 'width' | 'height' | 'middle' | 'scale'>,
): ColourShot {
  return {
    ...shot,
    tiltDegrees: random.between(-3, 3),
    blurPx: random.between(0.5, 1.1),
    noise: random.between(2, 7),
    screenPitch: random.between(0.6, 2.6),
  }
}

export function photographColour(page: Picture, shot: ColourShot, random: Random): Picture {
  const surface = SURFACES[shot.medium](page, shot, random)
  const planes = [0, 1, 2].map(() => new Float32Array(shot.width * shot.height))
  const [cos, sin] = [Math.cos((shot.tiltDegrees * Math.PI) / 180), Math.sin((shot.tiltDegrees * Math.PI) / 180)]
  const colour = new Float64Array(3)
  const noise = noiseFrom(random)
  // Stripes of a screen are finer than pixels. Samples that stand at random spread as the lens does and make no moiré of their own.
  const { fine, lens } = shot.medium === 'screen' ? { fine: 5, lens: 0.35 } : { fine: 2, lens: 0.1 }
  for (let y = 0; y < shot.height; y++)
    for (let x = 0; x < shot.width; x++) {
      colour.fill(0)
      for (let step = 0; step < fine * fine; step++) {
        const right = x + ((step % fine) + 0.5) / fine - shot.width / 2 + lens * noise()
        const down = y + (Math.floor(step / fine) + 0.5) / fine - shot.height / 2 + lens * noise()
        surface(cos * right - sin * down, sin * right + cos * down, colour)
      }
      for (let channel = 0; channel < 3; channel++)
        (planes[channel] as Float32Array)[y * shot.width + x] = (colour[channel] as number) / fine / fine
    }
  return develop(
    planes.map((plane) => soften(plane, shot)),
    shot,
    { random, noise },
  )
}

/** Nearly normal noise: the sum of four bytes of a fast generator, because millions of values are needed. */
function noiseFrom(random: Random): () => number {
  let state = 1 + random.below(2 ** 31)
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return ((state & 255) + ((state >>> 8) & 255) + ((state >>> 16) & 255) + (state >>> 24) - 510) / 147.8
  }
}

/** Adds the light of a place to `sum`; places are camera pixels from the middle of the page's view, in the page's direction. */
type Surface = (right: number, down: number, sum: Float64Array) => void

const GAMMA = 2.2
const LINEAR = Float64Array.from({ length: 256 }, (_, value) => (value / 255) ** GAMMA)

const SURFACES: Readonly<Record<Medium, (page: Picture, shot: ColourShot, random: Random) => Surface>> = {
  print: (page, shot) => {
    const dots = halftone(shot)
    return (right, down, sum) => {
      const at = placeOf(page, shot, right, down)
      for (let channel = 0; channel < 3; channel++)
        sum[channel] =
          (sum[channel] as number) + (LINEAR[page.data[at + channel] as number] as number) * dots(right, down, channel)
    }
  },
  'grey copy': (page, shot, random) => {
    const dots = halftone(shot)
    const paper = [1, random.between(0.97, 1), random.between(0.92, 1)]
    return (right, down, sum) => {
      const at = placeOf(page, shot, right, down)
      const { data } = page
      const grey = 0.3 * (data[at] as number) + 0.59 * (data[at + 1] as number) + 0.11 * (data[at + 2] as number)
      const copied = LINEAR[Math.round(255 / (1 + Math.exp((150 - grey) / 35)))] as number
      const light = copied * dots(right, down, 0)
      for (let channel = 0; channel < 3; channel++)
        sum[channel] = (sum[channel] as number) + light * (paper[channel] ?? 1)
    }
  },
  screen: (page, shot) => (right, down, sum) => {
    const column = Math.floor(right / shot.screenPitch)
    const row = Math.floor(down / shot.screenPitch)
    const at = placeOf(page, shot, (column + 0.5) * shot.screenPitch, (row + 0.5) * shot.screenPitch)
    const stripe = Math.min(2, Math.floor((right / shot.screenPitch - column) * 3))
    const line = down / shot.screenPitch - row > 0.83 ? 0.35 : 1
    sum[stripe] = (sum[stripe] as number) + 3 * line * (LINEAR[page.data[at + stripe] as number] as number)
  },
}

function placeOf({ width, height }: Picture, { middle, scale }: ColourShot, right: number, down: number): number {
  const x = Math.max(0, Math.min(width - 1, Math.floor(middle.x + right * scale)))
  const y = Math.max(0, Math.min(height - 1, Math.floor(middle.y + down * scale)))
  return (y * width + x) * 4
}

/** Dots of a print: about six to the millimetre, weak because ink spreads, turned differently for each ink. */
function halftone({ scale }: ColourShot): (right: number, down: number, channel: number) => number {
  const frequency = 2.6 * scale
  return (right, down, channel) =>
    1 +
    0.08 *
      sine(right * frequency + down * (0.4 + 0.8 * channel)) *
      sine(down * frequency * 0.92 - right * 0.3 * channel)
}

const SINE = Float32Array.from({ length: 4096 }, (_, step) => Math.sin((step * Math.PI * 2) / 4096))
const sine = (angle: number) => SINE[(angle * 651.8986469) & 4095] as number

function soften(plane: Float32Array, { width, height, blurPx }: ColourShot): Float32Array {
  const radius = Math.ceil(blurPx * 2.5)
  const raw = Array.from({ length: 2 * radius + 1 }, (_, at) => Math.exp(-((at - radius) ** 2) / 2 / blurPx ** 2))
  const total = raw.reduce((sum, value) => sum + value, 0)
  const kernel = Float64Array.from(raw, (value) => value / total)
  const rows = new Float32Array(plane.length)
  const softened = new Float32Array(plane.length)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      let sum = 0
      for (let k = -radius; k <= radius; k++)
        sum += (kernel[k + radius] as number) * (plane[y * width + clamp(x + k, width)] as number)
      rows[y * width + x] = sum
    }
  for (let y = 0; y < height; y++)
    for (let k = -radius; k <= radius; k++) {
      const [share, from] = [kernel[k + radius] as number, clamp(y + k, height) * width]
      for (let x = 0; x < width; x++)
        softened[y * width + x] = (softened[y * width + x] as number) + share * (rows[from + x] as number)
    }
  return softened
}

function clamp(value: number, limit: number): number {
  return value < 0 ? 0 : value >= limit ? limit - 1 : value
}

/** Light of some colour and direction, bands of a screen that refreshes, noise, and colour at half the resolution. */
function develop(
  planes: readonly Float32Array[],
  shot: ColourShot,
  { random, noise: grain }: { random: Random; noise: () => number },
): Picture {
  const { width, height, medium, noise } = shot
  const isScreen = medium === 'screen'
  const warmth = isScreen ? random.between(-0.12, 0.02) : random.between(-0.06, 0.18)
  const even = random.between(0.5, 1.05)
  const slope = random.between(-0.15, 0.15)
  const bands = {
    depth: isScreen ? random.between(0, 0.06) : 0,
    length: random.between(20, 80),
    phase: random.between(0, 6),
  }
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = y * width + x
      const light =
        even * (1 + slope * (x / width - 0.5)) * (1 + bands.depth * Math.sin(y / bands.length + bands.phase))
      const bright = grain() * noise * 0.8
      for (let channel = 0; channel < 3; channel++) {
        const cast = channel === 0 ? 1 + warmth : channel === 2 ? 1 - warmth : 1
        const value = Math.max(0, (planes[channel]?.[at] as number) * light * cast)
        data[at * 4 + channel] = 255 * value ** (1 / GAMMA) + bright + grain() * noise * 0.6
      }
    }
  return halveColour({ width, height, data })
}

function halveColour({ width, height, data }: Picture): Picture {
  const halved = new Uint8ClampedArray(data)
  const mean = (at: number) =>
    ((data[at] as number) +
      (data[at + 4] as number) +
      (data[at + width * 4] as number) +
      (data[at + width * 4 + 4] as number)) /
    4
  for (let y = 0; y + 1 < height; y += 2)
    for (let x = 0; x + 1 < width; x += 2) {
      const at = (y * width + x) * 4
      const means = [mean(at), mean(at + 1), mean(at + 2)]
      const luma = 0.3 * (means[0] as number) + 0.59 * (means[1] as number) + 0.11 * (means[2] as number)
      for (const place of [at, at + 4, at + width * 4, at + width * 4 + 4]) {
        const own = lumaAt(data, place)
        for (let channel = 0; channel < 3; channel++) halved[place + channel] = own + (means[channel] as number) - luma
      }
    }
  return { width, height, data: halved }
}

function lumaAt(data: Uint8ClampedArray, at: number): number {
  return 0.3 * (data[at] as number) + 0.59 * (data[at + 1] as number) + 0.11 * (data[at + 2] as number)
}
