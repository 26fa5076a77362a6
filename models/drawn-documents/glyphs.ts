/**
 * Characters as distance fields: for each point how deep it lies inside the ink. From such a field a glyph can be drawn at
 * every size, bolder or lighter, wider, higher and slanted.
 */
import { readFileSync } from 'node:fs'
import { MRZ_CHARACTERS } from '@ostiary/documents'
import { type Outlines, polygonsOf } from './outlines.ts'

/** Points of a field along one pitch (2.54 mm), and its size. The capitals stand in the middle. */
const FIELD_PITCH = 48
const FIELD_WIDTH = 60
const FIELD_HEIGHT = 72
/** Height of a capital in pitches: 2.36 mm of 2.54 mm. */
const CAPITAL = 0.93

export interface Cut {
  name: string
  /** One field for each of MRZ_CHARACTERS, in pitches. */
  fields: readonly Float32Array[]
}

/** How a print differs from its cut. */
export interface Morph {
  /** Added to each side of a stroke, in pitches. */
  weight: number
  width: number
  height: number
  slant: number
  /** Slow waves that bend the shape: amplitude in pitches, and two phases. */
  bend?: { amplitude: number; phaseX: number; phaseY: number }
}

export const AS_CUT: Morph = { weight: 0, width: 1, height: 1, slant: 0 }

/** The cuts in the repository. Training uses these and no others. */
export const TRAINED_CUTS = ['OCRB', 'OCRBS'] as const

export function loadCuts(): Cut[] {
  const file = new URL('./ocr-b-outlines.json', import.meta.url)
  const { cuts } = JSON.parse(readFileSync(file, 'utf8')) as { cuts: Record<string, Outlines> }
  return TRAINED_CUTS.map((name) => {
    const outlines = cuts[name]
    if (outlines === undefined) throw new Error(`there are no outlines of ${name}`)
    return createCut(name, outlines)
  })
}

export function createCut(name: string, outlines: Outlines): Cut {
  return { name, fields: [...MRZ_CHARACTERS].map((character) => fieldOf(outlines, character)) }
}

export interface Coverage {
  width: number
  height: number
  /** Share of each pixel that is ink, from 0 to 1. */
  data: Float32Array
}

/** A character at a size: `pitch` is the width of a cell in pixels. The cell's middle is the picture's middle. */
export function coverageOf(cut: Cut, character: string, options: { pitch: number; morph?: Morph }): Coverage {
  const { pitch, morph = AS_CUT } = options
  const field = cut.fields[MRZ_CHARACTERS.indexOf(character)]
  if (field === undefined) throw new Error(`"${character}" is not a character of a machine-readable zone`)
  const width = Math.ceil(pitch * 1.1)
  const height = Math.ceil(pitch * 1.4)
  const data = new Float32Array(width * height)
  const { amplitude = 0, phaseX = 0, phaseY = 0 } = morph.bend ?? {}
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const down = (y + 0.5 - height / 2) / pitch / morph.height
      const right = (x + 0.5 - width / 2) / pitch / morph.width + morph.slant * down
      const bentX = amplitude === 0 ? right : right + amplitude * Math.sin(down * 5 + phaseX)
      const bentY = amplitude === 0 ? down : down + amplitude * Math.sin(right * 6 + phaseY)
      const depth = sample(
        field,
        (bentX + FIELD_WIDTH / FIELD_PITCH / 2) * FIELD_PITCH,
        (bentY + FIELD_HEIGHT / FIELD_PITCH / 2) * FIELD_PITCH,
      )
      data[y * width + x] = Math.min(1, Math.max(0, (depth + morph.weight) * pitch + 0.5))
    }
  return { width, height, data }
}

function sample(field: Float32Array, x: number, y: number): number {
  const left = Math.min(FIELD_WIDTH - 2, Math.max(0, Math.floor(x - 0.5)))
  const top = Math.min(FIELD_HEIGHT - 2, Math.max(0, Math.floor(y - 0.5)))
  const right = Math.min(1, Math.max(0, x - 0.5 - left))
  const down = Math.min(1, Math.max(0, y - 0.5 - top))
  const at = top * FIELD_WIDTH + left
  const upper = (field[at] as number) * (1 - right) + (field[at + 1] as number) * right
  const lower = (field[at + FIELD_WIDTH] as number) * (1 - right) + (field[at + FIELD_WIDTH + 1] as number) * right
  return upper * (1 - down) + lower * down
}

/** Distance to the nearest edge, positive in the ink. Exact, because the outlines are polygons. */
function fieldOf(outlines: Outlines, character: string): Float32Array {
  const edges = edgesOf(outlines, character)
  const field = new Float32Array(FIELD_WIDTH * FIELD_HEIGHT)
  for (let row = 0; row < FIELD_HEIGHT; row++)
    for (let column = 0; column < FIELD_WIDTH; column++) {
      const x = (column + 0.5 - FIELD_WIDTH / 2) / FIELD_PITCH
      const y = (row + 0.5 - FIELD_HEIGHT / 2) / FIELD_PITCH
      field[row * FIELD_WIDTH + column] = depthAt(edges, x, y)
    }
  return field
}

/** Start and end of each edge, four numbers each, in pitches from the middle of the cell, y downwards. */
function edgesOf(outlines: Outlines, character: string): Float64Array {
  const scale = CAPITAL / outlines.capital
  const edges = polygonsOf(outlines.paths[character] ?? '').flatMap((polygon) =>
    polygon.flatMap((corner, index) =>
      [corner, polygon[(index + 1) % polygon.length] ?? corner].flatMap(([x, y]) => [
        (x - outlines.advance / 2) * scale,
        (outlines.capital / 2 - y) * scale,
      ]),
    ),
  )
  if (edges.length === 0) throw new Error(`there is no outline of "${character}"`)
  return Float64Array.from(edges)
}

function depthAt(edges: Float64Array, x: number, y: number): number {
  let nearest = Number.POSITIVE_INFINITY
  let winding = 0
  for (let at = 0; at < edges.length; at += 4) {
    const x0 = edges[at] as number
    const y0 = edges[at + 1] as number
    const dx = (edges[at + 2] as number) - x0
    const dy = (edges[at + 3] as number) - y0
    const length = dx * dx + dy * dy
    const along = length === 0 ? 0 : ((x - x0) * dx + (y - y0) * dy) / length
    const share = along < 0 ? 0 : along > 1 ? 1 : along
    const offX = x - x0 - share * dx
    const offY = y - y0 - share * dy
    const distance = offX * offX + offY * offY
    if (distance < nearest) nearest = distance
    if (y0 <= y !== y0 + dy <= y && x0 + ((y - y0) / dy) * dx > x) winding += dy > 0 ? 1 : -1
  }
  return winding === 0 ? -Math.sqrt(nearest) : Math.sqrt(nearest)
}
