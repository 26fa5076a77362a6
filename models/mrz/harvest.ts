/**
 * Cells to learn from, cut by the reader's own code: a net that learned from clean drawings fails on cells that the reader cuts
 * a little off. The label comes from where the character really stands, so a slipped grid gives right labels as well.
 */
import {
  along,
  CELL_SIZE,
  cutCell,
  cutStrip,
  fitGrid,
  inStrip,
  type LineGroup,
  locateLines,
  MRZ_CHARACTERS,
  MRZ_FORMATS,
  NOTHING,
  type Strip,
  type TextLine,
} from '@ostiary/documents'
import { drawPage, type MorphRange } from '../drawn-documents/draw.ts'
import type { Cut } from '../drawn-documents/glyphs.ts'
import { inventDocument } from '../drawn-documents/invent.ts'
import { LEVELS, type LevelNumber, type Photograph, photograph } from '../drawn-documents/photograph.ts'
import { createRandom, type Random } from '../drawn-documents/random.ts'
import { type Cells, OFFSET_STEPS, PIXEL_STEPS } from './cells.ts'

/** Prints that are learned from. Prints beyond this range are measured and never learned from. */
export const TRAINED_RANGE: MorphRange = {
  weight: 0.03,
  width: [0.86, 1.1],
  height: [0.92, 1.06],
  slant: 0.03,
  eachCharacter: 0.08,
  bend: 0.025,
}

/** The first seed of the frames that are learned from; measures and choices use others. */
export const TRAINING_SEED = 1_000_000

const KEPT_FILLERS = 0.35
const KEPT_NOTHING = 0.5
const BEYOND = 4

export function harvestFrame(frame: number, cuts: readonly Cut[]): Cells {
  const random = createRandom(TRAINING_SEED + frame)
  const levels: readonly LevelNumber[] = [1, 2, 3, 3, 4, 4, 5, 6]
  const level = LEVELS[random.pick(levels)]
  const format = MRZ_FORMATS[frame % MRZ_FORMATS.length] ?? 'TD3'
  const document = inventDocument(format, random)
  const { wear = 0, fade = 0 } = level
  const page = drawPage({ document, cut: random.pick(cuts), random, morph: TRAINED_RANGE, wear, fade })
  const photo = photograph(page, level, random)
  const grey = { width: photo.width, height: photo.height, data: photo.grey }
  const columns = document.lines[0]?.length ?? 0
  const found = locateLines(grey).find((group) => isRight(group, photo))
  const kept = createKept()
  document.lines.forEach((text, line) => {
    const strip = cutStrip(grey, found?.lines[line] ?? trueLine(photo, line, random), columns)
    keepLine({ strip, text, centres: photo.centres[line] ?? [], random }, kept)
  })
  return kept.cells()
}

/** Whether a group lies on the zone, nearly. */
function isRight({ lines, columns }: LineGroup, { centres, pixelsPerCharacter }: Photograph): boolean {
  if (lines.length !== centres.length || columns !== centres[0]?.length) return false
  return lines.every(({ start, end }, index) => {
    const [first, last] = [centres[index]?.[0], centres[index]?.at(-1)]
    if (!first || !last) return false
    const far = pixelsPerCharacter * 2.5
    return Math.hypot(start.x - first.x, start.y - first.y) < far && Math.hypot(end.x - last.x, end.y - last.y) < far
  })
}

function trueLine({ centres, pixelsPerCharacter }: Photograph, line: number, random: Random): TextLine {
  const [start, end] = [centres[line]?.[0], centres[line]?.at(-1)]
  if (!start || !end) throw new Error('a line without characters')
  const near = ({ x, y }: { x: number; y: number }) => ({
    x: x + random.normal() * 0.3 * pixelsPerCharacter,
    y: y + random.normal() * 0.15 * pixelsPerCharacter,
  })
  return { start: near(start), end: near(end) }
}

interface HarvestedLine {
  strip: Strip
  text: string
  centres: readonly { x: number; y: number }[]
  random: Random
}

function keepLine({ strip, text, centres, random }: HarvestedLine, kept: ReturnType<typeof createKept>): void {
  const grid = fitGrid(strip, text.length)
  const truth = centres.map((centre) => inStrip(strip, centre))
  const slip = { x: random.normal() * 0.08, y: random.normal() * 0.06, size: 1 + random.normal() * 0.02 }
  for (let n = -BEYOND; n < text.length + BEYOND; n++) {
    const pitch = (grid.x[1] + 2 * grid.x[2] * n) * slip.size
    const x = along(grid.x, n) + (slip.x + random.normal() * 0.03) * pitch
    const y = along(grid.y, n) + (slip.y + random.normal() * 0.03) * pitch
    const nearest = nearestOf(truth, { x, y })
    const right = (nearest.x - x) / pitch
    const down = (nearest.y - y) / pitch
    const isNothing = Math.abs(right) > 0.8
    const label = isNothing ? NOTHING : MRZ_CHARACTERS.indexOf(text[nearest.index] ?? '')
    if (!isNothing && (Math.abs(right) > 0.42 || Math.abs(down) > 0.4)) continue
    if (random.next() > (isNothing ? KEPT_NOTHING : text[nearest.index] === '<' ? KEPT_FILLERS : 1)) continue
    const cell = new Float32Array(CELL_SIZE)
    cutCell(strip, { x, y, pitch }, cell)
    kept.add(cell, label, isNothing ? [0, 0] : [right, down])
  }
}

function nearestOf(truth: readonly { x: number; y: number }[], { x }: { x: number; y: number }) {
  let best = { index: 0, x: Number.POSITIVE_INFINITY, y: 0 }
  truth.forEach((point, index) => {
    if (Math.abs(point.x - x) < Math.abs(best.x - x)) best = { index, ...point }
  })
  return best
}

function createKept() {
  const [pixels, labels, offsets]: [number[], number[], number[]] = [[], [], []]
  const whole = (value: number) => Math.max(-127, Math.min(127, Math.round(value)))
  return {
    add(cell: Float32Array, label: number, offset: readonly number[]): void {
      for (const value of cell) pixels.push(whole(value * PIXEL_STEPS))
      labels.push(label)
      offsets.push(...offset.map((value) => whole(value * OFFSET_STEPS)))
    },
    cells: (): Cells => ({
      pixels: Int8Array.from(pixels),
      labels: Uint8Array.from(labels),
      offsets: Int8Array.from(offsets),
    }),
  }
}
