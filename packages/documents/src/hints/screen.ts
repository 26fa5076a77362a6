import type { Picture } from '../types.ts'
import { powerOf, TILE } from './spectrum.ts'

/** From here on a picture looks like one of a screen. Chosen at 2 % false alarms on drawn documents (npm run accuracy -- documents). */
export const SCREEN_PEAK_MIN = 5.2

/** Cycles per pixel. Print and pattern of a page are coarser; nothing is finer than half a cycle. */
const BAND = { from: 0.12, to: 0.5 }
/** Rings of frequencies within which peaks are compared with the usual power. */
const RINGS = 40

/**
 * How far the strongest regular grid stands out of the picture: the pixels of a screen, or the moiré that they make with the pixels
 * of the camera. Amplitude of the peak as a multiple of what is usual at frequencies of its size. Undefined when the picture is too small.
 */
export function screenPeak(picture: Picture): number | undefined {
  const tiles = tilesOf(picture)
  if (tiles.length === 0) return undefined
  const power = new Float64Array(TILE * TILE)
  for (const tile of tiles) for (const [at, value] of powerOf(tile).entries()) power[at] = (power[at] as number) + value
  return highestPeak(power)
}

/** Tiles that together cover the middle of the picture. The same grid is in all of them, and letters are not. */
function tilesOf({ width, height, data }: Picture): Float64Array[] {
  if (width < TILE || height < TILE) return []
  const across = Math.min(3, Math.floor(width / TILE))
  const down = Math.min(2, Math.floor(height / TILE))
  const [left, top] = [(width - across * TILE) >> 1, (height - down * TILE) >> 1]
  return Array.from({ length: across * down }, (_, index) => {
    const [x0, y0] = [left + (index % across) * TILE, top + Math.floor(index / across) * TILE]
    const luma = new Float64Array(TILE * TILE)
    for (let y = 0; y < TILE; y += 1)
      for (let x = 0; x < TILE; x += 1) {
        const at = ((y0 + y) * width + x0 + x) * 4
        luma[y * TILE + x] = 0.3 * (data[at] ?? 0) + 0.59 * (data[at + 1] ?? 0) + 0.11 * (data[at + 2] ?? 0)
      }
    return windowed(luma)
  })
}

const WINDOW = Float64Array.from({ length: TILE }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (at + 0.5)) / TILE))

/** Without its mean, and fading out at its edges, which would be taken for lines otherwise. */
function windowed(luma: Float64Array): Float64Array {
  const mean = luma.reduce((sum, value) => sum + value, 0) / luma.length
  return luma.map(
    (value, at) => (value - mean) * (WINDOW[at % TILE] as number) * (WINDOW[Math.floor(at / TILE)] as number),
  )
}

function highestPeak(power: Float64Array): number {
  const rings: number[][] = Array.from({ length: RINGS + 1 }, () => [])
  for (let y = 0; y < TILE; y += 1)
    for (let x = 0; x <= TILE / 2; x += 1) {
      const frequency = Math.hypot(x, y <= TILE / 2 ? y : TILE - y) / TILE
      if (frequency < BAND.from || frequency >= BAND.to) continue
      // A line of letters or the edge of a page is all on the axes.
      if (x < 2 || y < 2 || y > TILE - 2) continue
      rings[Math.round(frequency * RINGS)]?.push(power[y * TILE + x] as number)
    }
  const peaks = rings.filter((ring) => ring.length > 8).map((ring) => peakOf(ring))
  return Math.sqrt(Math.max(0, ...peaks))
}

function peakOf(ring: number[]): number {
  const sorted = ring.toSorted((a, b) => a - b)
  // The fourth value: a grid spreads over some neighbouring frequencies, a chance peak does not.
  const high = sorted[sorted.length - 4] ?? 0
  return high / ((sorted[sorted.length >> 1] ?? 0) + 1)
}
