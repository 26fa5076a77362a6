import type { Picture } from '../types.ts'

/** Below this a picture looks like one of a grey copy. Chosen at 2 % false alarms on drawn documents. */
export const COLOUR_SPREAD_MIN = 0.0085

/** Side of the blocks that are averaged, so that noise is not taken for colour. */
const BLOCK = 8
/** Darker blocks have no colour that could be measured. */
const LUMA_MIN = 40

/**
 * How much the colour changes over the picture, whatever the colour of the light: the median distance of the blocks' hues from the
 * picture's own mean hue, in shares of their brightness. A grey copy in warm light is evenly brownish.
 */
export function colourSpread(picture: Picture): number | undefined {
  const hues = huesOf(picture)
  if (hues.length < 50) return undefined
  const middle = { red: median(hues.map(({ red }) => red)), blue: median(hues.map(({ blue }) => blue)) }
  const distances = hues.map(({ red, blue }) => Math.hypot(red - middle.red, blue - middle.blue))
  return distances.toSorted((a, b) => a - b)[Math.floor(distances.length * 0.75)]
}

function huesOf({ width, height, data }: Picture): { red: number; blue: number }[] {
  const hues: { red: number; blue: number }[] = []
  for (let top = 0; top + BLOCK <= height; top += BLOCK)
    for (let left = 0; left + BLOCK <= width; left += BLOCK) {
      let [red, green, blue] = [0, 0, 0]
      for (let y = top; y < top + BLOCK; y += 1)
        for (let at = (y * width + left) * 4; at < (y * width + left + BLOCK) * 4; at += 4) {
          red += data[at] ?? 0
          green += data[at + 1] ?? 0
          blue += data[at + 2] ?? 0
        }
      const luma = 0.3 * red + 0.59 * green + 0.11 * blue
      if (luma > LUMA_MIN * BLOCK * BLOCK) hues.push({ red: (red - luma) / luma, blue: (blue - luma) / luma })
    }
  return hues
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}
