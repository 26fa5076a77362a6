/** Takes the outlines of the characters of a machine-readable zone out of a font file. */
import { readFileSync } from 'node:fs'
import { MRZ_CHARACTERS } from '@ostiary/documents'
import type { Outlines } from '@ostiary/models/drawn-documents/outlines'
// @ts-expect-error opentype.js 2 comes without types
import opentype from 'opentype.js'

interface Font {
  charToGlyph(character: string): Glyph
}

interface Glyph {
  advanceWidth: number
  getMetrics(): { yMax: number }
  path: { commands: readonly Command[] }
}

interface Command {
  type: string
  x?: number
  y?: number
  x1?: number
  y1?: number
  x2?: number
  y2?: number
}

export function readOutlines(file: string | URL): Outlines {
  const bytes = readFileSync(file)
  const font = opentype.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)) as Font
  const capital = font.charToGlyph('H')
  return {
    advance: capital.advanceWidth,
    capital: Math.round(capital.getMetrics().yMax),
    paths: Object.fromEntries([...MRZ_CHARACTERS].map((character) => [character, pathOf(font.charToGlyph(character))])),
  }
}

function pathOf({ path }: Glyph): string {
  return path.commands
    .map(({ type, x1, y1, x2, y2, x, y }) => {
      const numbers = [x1, y1, x2, y2, x, y].filter((value) => value !== undefined).map(Math.round)
      return `${type}${numbers.join(' ')}`
    })
    .join('')
}
