import type { Picture } from '@ostiary/documents'
import type { Frame } from './guide-frame.ts'

/** How good a part of a picture is for reading. Shares from 0 to 1. */
export interface PictureQuality {
  brightness: number
  /** Share of pixels that are blown out. */
  glare: number
  /** From blurred to as sharp as print gets. */
  sharpness: number
}

/** Pixels between two samples: a tenth of a million samples of a picture of 1080p. */
const STEP = 3
const BLOWN_OUT = 250
/** Mean of the strongest tenth of steps between neighbours: sharp print on paper has about 60 of 255. */
const SHARP_STEP = 55

/** Looks at the part of the picture where the document should be. */
export function qualityOf({ width, height, data }: Picture, frame: Frame): PictureQuality {
  const [left, top] = [Math.max(1, Math.floor(frame.x)), Math.max(0, Math.floor(frame.y))]
  const right = Math.min(width - 1, Math.floor(frame.x + frame.width))
  const bottom = Math.min(height, Math.floor(frame.y + frame.height))
  const steps = new Uint32Array(256)
  let [sum, blown, count] = [0, 0, 0]
  for (let y = top; y < bottom; y += STEP) {
    for (let x = left; x < right; x += STEP) {
      const here = luma(data, (y * width + x) * 4)
      const step = Math.abs(here - luma(data, (y * width + x - 1) * 4))
      steps[step] = (steps[step] ?? 0) + 1
      sum += here
      if (here >= BLOWN_OUT) blown++
      count++
    }
  }
  if (count === 0) return { brightness: 0, glare: 0, sharpness: 0 }
  return {
    brightness: sum / count / 255,
    glare: blown / count,
    sharpness: Math.min(1, strongest(steps, count / 50) / SHARP_STEP),
  }
}

function luma(data: Uint8ClampedArray, at: number): number {
  return ((data[at] ?? 0) * 77 + (data[at + 1] ?? 0) * 150 + (data[at + 2] ?? 0) * 29) >> 8
}

/** Mean of the largest values of a histogram. */
function strongest(histogram: Uint32Array, wanted: number): number {
  let [taken, sum] = [0, 0]
  for (let value = histogram.length - 1; value >= 0 && taken < wanted; value--) {
    const share = Math.min(histogram[value] ?? 0, wanted - taken)
    taken += share
    sum += share * value
  }
  return taken === 0 ? 0 : sum / taken
}
