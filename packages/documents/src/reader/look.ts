/** A quick look for the zone, for guidance while nothing is read yet. */
import type { Picture, Point } from '../types.ts'
import { type Grey, greyOf } from './grey.ts'
import { type LineGroup, locateLines, type TextLine } from './locate.ts'

export interface ZoneLook {
  /** Middle of each line, from its first to its last character. */
  lines: readonly TextLine[]
  columns: number
  /** Below 12 the zone cannot be read; 16 and more is good. */
  pixelsPerCharacter: number
  /** Clockwise, from -90 to 90. */
  tiltDegrees: number
  /** How steep the edges of the print are, from 0 to 1: below SHARP_MIN the picture is out of focus, or moved. */
  sharpness: number
  isSharp: boolean
  /** Some of the zone lies outside the picture, or touches its border. */
  isCutOff: boolean
}

/** Chosen on tuning documents: levels 1 to 3 lie above it (0.58 and more), a blur of a fifth of a character below (at most 0.46). */
export const SHARP_MIN = 0.5

export function lookForZone(picture: Picture): ZoneLook | undefined {
  const grey = greyOf(picture)
  const [group] = locateLines(grey)
  return group && lookAt(grey, group)
}

function lookAt(grey: Grey, { lines, columns }: LineGroup): ZoneLook {
  const [first] = lines as [TextLine, ...TextLine[]]
  const [across, down] = [first.end.x - first.start.x, first.end.y - first.start.y]
  const pixelsPerCharacter = Math.hypot(across, down) / (columns - 0.3)
  const sharpness = Math.max(...lines.map((line) => sharpnessOf(grey, line, pixelsPerCharacter)))
  return {
    lines,
    columns,
    pixelsPerCharacter,
    tiltDegrees: (Math.atan2(down, across) * 180) / Math.PI,
    sharpness,
    isSharp: sharpness >= SHARP_MIN,
    isCutOff: lines.some(({ start, end }) => [start, end].some((point) => isAtBorder(grey, point, pixelsPerCharacter))),
  }
}

function isAtBorder({ width, height }: Grey, { x, y }: Point, pixelsPerCharacter: number): boolean {
  const least = pixelsPerCharacter * 0.7
  return x < least || y < least || x > width - least || y > height - least
}

const SCANS = 5

/**
 * The steepest steps along the line, by the contrast that it has. A stroke of OCR-B is about an eighth of a character wide: a step
 * over a sixteenth of a character reaches most of the contrast if the print is sharp.
 */
function sharpnessOf(grey: Grey, { start, end }: TextLine, pixelsPerCharacter: number): number {
  const length = Math.hypot(end.x - start.x, end.y - start.y)
  const axis = { x: (end.x - start.x) / length, y: (end.y - start.y) / length }
  const reach = Math.max(1, pixelsPerCharacter / 16)
  const steps: number[] = []
  const values: number[] = []
  for (let scan = 0; scan < SCANS; scan++) {
    const off = ((scan - (SCANS - 1) / 2) / SCANS) * 0.7 * pixelsPerCharacter
    const valueAt = (along: number) =>
      at(grey, start.x + axis.x * along - axis.y * off, start.y + axis.y * along + axis.x * off)
    for (let along = 0; along < length - 2 * reach; along += reach) {
      const value = valueAt(along)
      values.push(value)
      steps.push(Math.abs(valueAt(along + 2 * reach) - value))
    }
  }
  const contrast = share(values, 0.9) - share(values, 0.05)
  return contrast < 12 ? 0 : Math.min(1, share(steps, 0.9) / contrast)
}

function at({ width, height, data }: Grey, x: number, y: number): number {
  const column = Math.min(width - 1, Math.max(0, Math.round(x)))
  const row = Math.min(height - 1, Math.max(0, Math.round(y)))
  return data[row * width + column] as number
}

function share(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0
}
