/** Turns what the net says about the cells of a zone into the text of a format. No character is repaired by a check digit. */
import { allowedAt, isChecked } from '../mrz/layout.ts'
import { MRZ_CHARACTERS, MRZ_FORMATS, MRZ_SHAPES, type MrzFormat } from '../types.ts'
import { CLASSES, NOTHING } from './net.ts'

/** The cells of one line: more than the line has columns, because its start is not known yet. */
export interface LineCells {
  count: number
  probabilities: Float32Array
}

export interface Decoded {
  format: MrzFormat
  lines: readonly string[]
  /** The first cell of each line. */
  shifts: readonly number[]
  /** Of each character of each line. */
  certainties: readonly (readonly number[])[]
  /** Mean logarithm over all cells, those beside the lines as well: compares formats and places. */
  score: number
}

const LEAST = 1e-6

/** The format and the start of the lines that fit best, or undefined if no format has this shape. */
export function decode(lines: readonly LineCells[], columns: number): Decoded | undefined {
  const formats = MRZ_FORMATS.filter(
    (format) => MRZ_SHAPES[format].columns === columns && MRZ_SHAPES[format].lines === lines.length,
  )
  return formats.map((format) => decodeAs(format, lines)).toSorted((a, b) => b.score - a.score)[0]
}

function decodeAs(format: MrzFormat, lines: readonly LineCells[]): Decoded {
  const { columns } = MRZ_SHAPES[format]
  const classes = lines.map((_, line) =>
    Array.from({ length: columns }, (_, column) => classesAt(format, line, column)),
  )
  const parts = lines.map((cells, line) => bestShift(cells, classes[line] ?? []))
  return {
    format,
    lines: parts.map(({ text }) => text),
    shifts: parts.map(({ shift }) => shift),
    certainties: parts.map(({ certainties }) => certainties),
    score: parts.reduce((sum, { score }) => sum + score, 0) / lines.reduce((sum, { count }) => sum + count, 0),
  }
}

/** The classes of the characters that the format allows at a place. */
export const classesAt = (format: MrzFormat, line: number, column: number) =>
  Uint8Array.from([...allowedAt(format, line, column)], (character) => MRZ_CHARACTERS.indexOf(character))

/** The mean, the least, and the least of the characters that no check digit covers. */
export function confidencesOf(format: MrzFormat, certainties: Decoded['certainties']) {
  const all = certainties.flat()
  const unchecked = certainties.flatMap((line, index) => line.filter((_, column) => !isChecked(format, index, column)))
  return {
    confidence: all.reduce((sum, value) => sum + value, 0) / all.length,
    leastConfidence: Math.min(...all),
    leastUnchecked: Math.min(...unchecked),
  }
}

interface Window {
  shift: number
  score: number
  text: string
  certainties: number[]
}

/** Within the line each cell shows an allowed character, beside it nothing. */
function bestShift({ count, probabilities }: LineCells, classes: readonly Uint8Array[]): Window {
  let best = { shift: 0, score: Number.NEGATIVE_INFINITY }
  for (let shift = 0; shift <= count - classes.length; shift++) {
    let score = 0
    for (let cell = 0; cell < count; cell++) {
      const allowed = classes[cell - shift]
      const first = cell * CLASSES
      score += Math.log(
        LEAST + (probabilities[first + (allowed ? likeliest(probabilities, first, allowed) : NOTHING)] as number),
      )
    }
    if (score > best.score) best = { shift, score }
  }
  const chosen = classes.map((allowed, column) => {
    const first = (best.shift + column) * CLASSES
    const character = likeliest(probabilities, first, allowed)
    return {
      character: MRZ_CHARACTERS[character] ?? '',
      certainty: certaintyOf(probabilities, first, { character, allowed }),
    }
  })
  return {
    ...best,
    text: chosen.map(({ character }) => character).join(''),
    certainties: chosen.map(({ certainty }) => certainty),
  }
}

export function likeliest(probabilities: Float32Array, first: number, allowed: Uint8Array): number {
  let [best, most] = [allowed[0] as number, -1]
  for (let at = 0; at < allowed.length; at++) {
    const value = probabilities[first + (allowed[at] as number)] as number
    if (value > most) [best, most] = [allowed[at] as number, value]
  }
  return best
}

/**
 * How certain a character is among those that its place allows: O is no rival of 0 in a date. The other classes count as well
 * unless they look like it, so that a smudge is not certain because only digits are allowed there.
 */
export function certaintyOf(
  probabilities: Float32Array,
  first: number,
  { character, allowed }: { character: number; allowed: Uint8Array },
): number {
  let sum = 0
  for (let at = 0; at < allowed.length; at++) sum += probabilities[first + (allowed[at] as number)] as number
  const among = (probabilities[first + character] as number) / (sum + LEAST)
  const lookalikes = LOOKALIKES.get(character) ?? []
  const foreign =
    1 -
    sum -
    lookalikes.reduce((total, at) => total + (allowed.includes(at) ? 0 : (probabilities[first + at] as number)), 0)
  return Math.max(0, among - Math.max(0, foreign))
}

/** Characters whose shapes differ little in OCR-B: a mask decides between them as well as the shape does. */
const LOOKALIKES: ReadonlyMap<number, readonly number[]> = new Map(
  ['0O', '0Q', '0D', '1I', '1L', '2Z', '5S', '6G', '8B', '4A', '7T', '7Y', 'UV', 'VY']
    .flatMap((pair) => {
      const [a = 0, b = 0] = [...pair].map((character) => MRZ_CHARACTERS.indexOf(character))
      return [[a, b] as const, [b, a] as const]
    })
    .reduce((all, [from, to]) => all.set(from, [...(all.get(from) ?? []), to]), new Map<number, number[]>()),
)
