/** What spoils a photograph: background, fingers, motion, blur, light, glare, laminate and noise. */
import type { GreyPage } from './draw.ts'
import { type Homography, project } from './homography.ts'
import { createRandom, type Random } from './random.ts'

export interface Level {
  width: number
  height: number
  /** Share of the frame's width that the page takes. */
  fill: readonly [number, number]
  tiltDegrees: number
  perspective: number
  blur: readonly [number, number]
  noise: number
  offset: number
  shadow?: number
  busy?: number
  glare?: number
  laminate?: number
  motion?: number
  fingers?: number
  /** How the print is worn; `drawPage` takes these. */
  wear?: number
  fade?: number
}

export interface Frame {
  grey: Float32Array
  width: number
  height: number
}

export function drawBackground({ width, height, busy = 0 }: Level, random: Random): Float32Array {
  const grey = new Float32Array(width * height).fill(random.between(40, 200))
  for (let patch = 0; patch < Math.round(busy * 60); patch++) {
    const [left, top, value] = [random.below(width), random.below(height), random.between(10, 250)]
    const right = Math.min(width, left + 4 + random.below(width / 5))
    const bottom = Math.min(height, top + 2 + random.below(patch % 3 ? 12 : height / 6))
    // Every fourth patch is striped, as a keyboard or a printed page is.
    const isStriped = patch % 4 === 0
    for (let y = top; y < bottom; y++)
      for (let x = left; x < right; x++) grey[y * width + x] = isStriped ? value * (0.5 + 0.5 * ((x >> 2) & 1)) : value
  }
  return grey
}

interface Placed {
  page: GreyPage
  toFrame: Homography
  pageWidth: number
  random: Random
}

/** Fingers hold the page at its edges, away from the zone. */
export function drawFingers({ grey, width, height }: Frame, placed: Placed & { count: number }): void {
  const { page, toFrame, pageWidth, random } = placed
  for (let left = random.below(placed.count + 1); left > 0; left--) {
    const [shareX, shareY] = random.pick([
      [0, 0.1 + random.next() * 0.45],
      [1, 0.1 + random.next() * 0.45],
      [random.between(0.1, 0.9), 0],
    ] as const)
    const { x, y } = project(toFrame, { x: shareX * page.width, y: shareY * page.height })
    const [radiusX, radiusY] = [pageWidth * random.between(0.05, 0.08), pageWidth * random.between(0.05, 0.09)]
    const value = random.between(90, 190)
    for (let row = Math.max(0, Math.floor(y - radiusY)); row < Math.min(height, y + radiusY); row++)
      for (let column = Math.max(0, Math.floor(x - radiusX)); column < Math.min(width, x + radiusX); column++)
        if (((column - x) / radiusX) ** 2 + ((row - y) / radiusY) ** 2 < 1) grey[row * width + column] = value
  }
}

/** Motion: the mean of three moments. */
export function smear({ grey, width, height }: Frame, motion: number, random: Random): Float32Array {
  const [direction, length] = [random.between(0, Math.PI), random.between(0, motion)]
  if (length <= 0.6) return grey
  const stepX = Math.round((Math.cos(direction) * length) / 2)
  const stepY = Math.round((Math.sin(direction) * length) / 2)
  const smeared = new Float32Array(grey.length)
  const inside = (value: number, limit: number) => (value < 0 ? 0 : value >= limit ? limit - 1 : value)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const before = inside(y - stepY, height) * width + inside(x - stepX, width)
      const after = inside(y + stepY, height) * width + inside(x + stepX, width)
      smeared[y * width + x] =
        ((grey[before] as number) + (grey[y * width + x] as number) + (grey[after] as number)) / 3
    }
  return smeared
}

/** A Gaussian blur, first along the rows, then along the columns. */
export function soften({ grey, width, height }: Frame, sigma: number): Float32Array {
  if (sigma < 0.3) return grey
  const radius = Math.ceil(sigma * 2.5)
  const kernel = Float64Array.from({ length: 2 * radius + 1 }, (_, at) =>
    Math.exp(-((at - radius) ** 2) / 2 / sigma ** 2),
  )
  const total = kernel.reduce((sum, value) => sum + value, 0)
  kernel.forEach((value, at) => {
    kernel[at] = value / total
  })
  const rows = new Float32Array(grey.length)
  const blurred = new Float32Array(grey.length)
  const padded = new Float64Array(width + 2 * radius)
  for (let y = 0; y < height; y++) {
    padded.fill(grey[y * width] as number, 0, radius)
    padded.fill(grey[(y + 1) * width - 1] as number, radius + width)
    for (let x = 0; x < width; x++) padded[x + radius] = grey[y * width + x] as number
    for (let x = 0; x < width; x++) {
      let sum = 0
      for (let k = 0; k < kernel.length; k++) sum += (kernel[k] as number) * (padded[x + k] as number)
      rows[y * width + x] = sum
    }
  }
  const column = new Float64Array(width)
  for (let y = 0; y < height; y++) {
    column.fill(0)
    for (let k = -radius; k <= radius; k++) {
      const from = (y + k < 0 ? 0 : y + k >= height ? height - 1 : y + k) * width
      const share = kernel[k + radius] as number
      for (let x = 0; x < width; x++) column[x] = (column[x] as number) + share * (rows[from + x] as number)
    }
    blurred.set(column, y * width)
  }
  return blurred
}

interface Spot {
  x: number
  y: number
  radiusX: number
  radiusY: number
  strength: number
  cos: number
  sin: number
  reach: number
}

const NOISE_VALUES = 65536
let noiseTable: Float32Array | undefined

/** Uneven light, a shadow's edge, glare, the haze of a laminate, and noise. */
export function lightOf(level: Level, placed: Placed): (frame: Frame) => Uint8Array {
  const { random } = placed
  const [slopeX, slopeY, gain] = [random.between(-0.25, 0.25), random.between(-0.25, 0.25), random.between(0.6, 1.05)]
  const shadow = {
    x: random.between(0.2, 0.8) * level.width,
    lean: random.between(-0.6, 0.6),
    depth: random.next() * (level.shadow ?? 0),
    softness: random.between(10, 60),
  }
  const haze = {
    strength: random.next() < 0.5 ? 0 : (level.laminate ?? 0) * random.between(0, 0.25),
    x: random.between(0, 1) * level.width,
    lean: random.between(-1, 1),
    width: level.width * random.between(0.05, 0.2),
  }
  const spots = level.glare && random.next() < 0.85 ? spotsOf(level.glare, placed) : []
  const noise = level.noise * random.between(0.6, 1.1)
  let noiseAt = random.below(NOISE_VALUES)
  noiseTable ??= Float32Array.from({ length: NOISE_VALUES }, createRandom(5).normal)
  const table = noiseTable
  return ({ grey, width, height }) => {
    const lit = new Uint8Array(width * height)
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        let value =
          (grey[y * width + x] as number) * gain * (1 + slopeX * (x / width - 0.5) + slopeY * (y / height - 0.5))
        if (shadow.depth > 0.01)
          value *= 1 - shadow.depth + shadow.depth / (1 + Math.exp((shadow.x + shadow.lean * y - x) / shadow.softness))
        if (haze.strength > 0.01) {
          const from = (x - haze.x - haze.lean * y) / haze.width
          if (from * from < 6) value += (225 - value) * haze.strength * Math.exp(-from * from)
        }
        for (const spot of spots) value += glareAt(spot, x, y)
        value += (table[noiseAt] as number) * noise
        noiseAt = noiseAt + 1 === NOISE_VALUES ? (x * 31 + y) & (NOISE_VALUES - 1) : noiseAt + 1
        lit[y * width + x] = value < 0 ? 0 : value > 255 ? 255 : value
      }
    return lit
  }
}

function glareAt(spot: Spot, x: number, y: number): number {
  const offX = x - spot.x
  const offY = y - spot.y
  if (offX > spot.reach || offX < -spot.reach || offY > spot.reach || offY < -spot.reach) return 0
  const along = (offX * spot.cos + offY * spot.sin) / spot.radiusX
  const across = (offY * spot.cos - offX * spot.sin) / spot.radiusY
  const distance = along * along + across * across
  return distance < 9 ? spot.strength * Math.exp(-distance / 2) : 0
}

function spotsOf(glare: number, { page, toFrame, pageWidth, random }: Placed): Spot[] {
  return Array.from({ length: 1 + random.below(2) }, () => {
    const onZone = random.next() < 0.5
    const shareY = onZone ? random.between(page.zoneTop / page.height, 1) : random.between(0, 0.7)
    const middle = project(toFrame, { x: random.next() * page.width, y: shareY * page.height })
    const [radiusX, radiusY] = [pageWidth * random.between(0.03, 0.16), pageWidth * random.between(0.02, 0.07)]
    const [strength, turn] = [random.between(20, 130) * glare, random.between(0, 3)]
    return {
      ...middle,
      radiusX,
      radiusY,
      strength,
      cos: Math.cos(turn),
      sin: Math.sin(turn),
      reach: 3 * Math.max(radiusX, radiusY),
    }
  })
}
