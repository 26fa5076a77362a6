/** Looks again at the characters that are not quite certain, a little beside: one that was misread seldom looks the same from everywhere. */
import { MRZ_CHARACTERS, type MrzFormat } from '../types.ts'
import { certaintyOf, classesAt, likeliest } from './decode.ts'
import { cutCells, type Grid } from './grid.ts'
import { CLASSES, type Net } from './net.ts'
import type { Strip } from './strip.ts'

/** To the right and downwards, in pitches. */
const LOOKS = [
  [0.05, 0],
  [-0.05, 0],
  [0, 0.05],
  [0, -0.05],
] as const
/** A character that is more certain than this is not looked at again. */
const QUITE_CERTAIN = 0.95

/** A line that was read once. */
export interface SeenLine {
  strip: Strip
  grid: Grid
  /** The cell of the first character. */
  first: number
  text: string
  certainties: readonly number[]
}

export interface SecondLook {
  /** Means over all looks. */
  certainties: number[][]
  /** Every look named the same characters. */
  isSteady: boolean
}

export function lookAgain(net: Net, format: MrzFormat, lines: readonly SeenLine[]): SecondLook {
  const seen = lines.map((line, index) => lookAgainAt(net, line, (column) => classesAt(format, index, column)))
  return { certainties: seen.map(({ certainties }) => certainties), isSteady: seen.every(({ isSteady }) => isSteady) }
}

function lookAgainAt(
  net: Net,
  { strip, grid, first, text, certainties }: SeenLine,
  allowedAt: (column: number) => Uint8Array,
): { certainties: number[]; isSteady: boolean } {
  const means = [...certainties]
  const columns = means.flatMap((certainty, column) => (certainty < QUITE_CERTAIN ? [column] : []))
  if (columns.length === 0) return { certainties: means, isSteady: true }
  const cells = columns.map((column) => first + column)
  let isSteady = true
  for (const look of LOOKS) {
    const { probabilities } = net(cutCells(strip, beside(grid, look), cells), cells.length)
    columns.forEach((column, index) => {
      const allowed = allowedAt(column)
      const character = MRZ_CHARACTERS.indexOf(text[column] ?? '')
      isSteady &&= likeliest(probabilities, index * CLASSES, allowed) === character
      const certainty = certaintyOf(probabilities, index * CLASSES, { character, allowed })
      means[column] = (means[column] ?? 0) + certainty
    })
  }
  for (const column of columns) means[column] = (means[column] ?? 0) / (LOOKS.length + 1)
  return { certainties: means, isSteady }
}

function beside({ x, y }: Grid, [right, down]: readonly [number, number]): Grid {
  return { x: [x[0] + right * x[1], x[1], x[2]], y: [y[0] + down * x[1], y[1], y[2]] }
}
