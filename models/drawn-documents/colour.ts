/** Draws documents in colour, for fake cameras and for the measures of hints: every name and face in them is invented. */
import { MRZ_CHARACTERS, type Picture } from '@ostiary/documents'
import { type Coverage, type Cut, coverageOf } from './glyphs.ts'
import { drawPdf417, ROW_HEIGHT_MODULES } from './pdf417.ts'
import type { Random } from './random.ts'

/** A page of a passport, a card's front or back: what one picture shows. */
export type DrawnSide = 'TD3' | 'TD2' | 'TD1_FRONT' | 'TD1_BACK' | 'LICENCE_FRONT' | 'LICENCE_BACK'

export interface Box {
  x: number
  y: number
  width: number
  height: number
}

interface SideLayout {
  width: number
  height: number
  portrait?: Box
  /** Where printed words begin. */
  words: { x: number; y: number }
}

/** Everything in millimetres. */
export const SIDES: Readonly<Record<DrawnSide, SideLayout>> = {
  TD3: { width: 125, height: 88, portrait: { x: 5, y: 17, width: 35, height: 45 }, words: { x: 46, y: 20 } },
  TD2: { width: 105, height: 74, portrait: { x: 4, y: 13, width: 28, height: 36 }, words: { x: 38, y: 15 } },
  TD1_FRONT: { width: 85.6, height: 54, portrait: { x: 4, y: 13, width: 27, height: 35 }, words: { x: 35, y: 15 } },
  TD1_BACK: { width: 85.6, height: 54, words: { x: 5, y: 7 } },
  LICENCE_FRONT: { width: 85.6, height: 54, portrait: { x: 4, y: 14, width: 25, height: 32 }, words: { x: 33, y: 16 } },
  LICENCE_BACK: { width: 85.6, height: 54, words: { x: 5, y: 42 } },
}

export interface DrawDocumentOptions {
  side: DrawnSide
  random: Random
  cut: Cut
  pixelsPerMm?: number
  /** The lines of the machine-readable zone. */
  zone?: readonly string[]
  /** The text of a PDF417 barcode. */
  barcode?: string
  /** Printed lines: capital letters, digits and spaces; other characters are left out. */
  words?: readonly string[]
  portrait?: Picture
  /** `printed`: the pattern of the paper runs over a soft border. `pasted`: another print lies on the paper. */
  portraitIs?: 'printed' | 'pasted'
}

export interface DrawnDocument {
  picture: Picture
  pixelsPerMm: number
  /** In pixels; undefined on a side without portrait. */
  portrait: Box | undefined
}

export function drawDocument(options: DrawDocumentOptions): DrawnDocument {
  const { side, random, pixelsPerMm = 12, zone, barcode, portrait } = options
  const layout = SIDES[side]
  const sheet = createSheet(layout, pixelsPerMm)
  const pattern = drawPaper(sheet, random)
  const box = layout.portrait && scaled(layout.portrait, pixelsPerMm)
  if (box && portrait) {
    if (options.portraitIs === 'pasted') pastePortrait(sheet, { portrait, box, random })
    else printPortrait(sheet, { portrait, box, pattern, random })
  }
  const write = createWriter(sheet, options.cut)
  if (zone) writeZone(sheet, zone, write)
  if (barcode !== undefined) drawBarcode(sheet, barcode)
  writeWords(layout, options.words ?? [], write)
  return { picture: toPicture(sheet), pixelsPerMm, portrait: box }
}

/** Three values for each pixel. */
interface Sheet {
  width: number
  height: number
  pixelsPerMm: number
  rgb: Float32Array
}

function createSheet({ width, height }: SideLayout, pixelsPerMm: number): Sheet {
  const size = { width: Math.round(width * pixelsPerMm), height: Math.round(height * pixelsPerMm) }
  return { ...size, pixelsPerMm, rgb: new Float32Array(size.width * size.height * 3) }
}

function scaled({ x, y, width, height }: Box, by: number): Box {
  return {
    x: Math.round(x * by),
    y: Math.round(y * by),
    width: Math.round(width * by),
    height: Math.round(height * by),
  }
}

const SINE = Float32Array.from({ length: 4096 }, (_, step) => Math.sin((step * Math.PI * 2) / 4096))
const STEPS = 4096 / Math.PI / 2
const sine = (angle: number) => SINE[(angle * STEPS) & 4095] ?? 0

/** Tinted waves as security prints have. Returns the waves, which run over a printed portrait too. */
function drawPaper({ width, height, pixelsPerMm, rgb }: Sheet, random: Random): Float32Array {
  // Some documents are nearly grey, others are bright.
  const colourful = random.between(0.1, 1)
  const light = random.between(205, 235)
  const base = [0, 1, 2].map(() => light + colourful * random.between(-20, 15))
  const wavy = random.between(-10, 10)
  const tint = [0, 1, 2].map(() => wavy + colourful * random.between(-26, 26))
  const [fine, coarse] = [random.between(0.5, 2.2) / pixelsPerMm, random.between(0.4, 1.6) / pixelsPerMm]
  const pattern = new Float32Array(width * height)
  for (let y = 0; y < height; y++) {
    const shift = 3 * sine(y * coarse)
    const row = sine(y * fine * 1.3)
    for (let x = 0; x < width; x++) {
      const at = y * width + x
      const wave = sine(x * fine + shift) * row
      const second = sine(x * coarse * 1.7 + y * fine)
      pattern[at] = wave
      for (let channel = 0; channel < 3; channel++)
        rgb[at * 3 + channel] =
          (base[channel] ?? 0) + (tint[channel] ?? 0) * wave + 5 * colourful * second * (channel - 1)
    }
  }
  return pattern
}

interface Placed {
  portrait: Picture
  box: Box
}

interface Printed extends Placed {
  pattern: Float32Array
  random: Random
}

/** The border fades over about a millimetre and the waves go on over the face. */
function printPortrait(sheet: Sheet, { portrait, box, pattern, random }: Printed): void {
  const fade = random.between(0.6, 1.6) * sheet.pixelsPerMm
  forEachPixel(sheet, box, (at, x, y) => {
    const edge = Math.min(x, y, box.width - 1 - x, box.height - 1 - y)
    const share = Math.min(1, edge / fade)
    for (let channel = 0; channel < 3; channel++) {
      const value = sampleOf(portrait, box, { x, y, channel }) + 8 * (pattern[at] ?? 0)
      sheet.rgb[at * 3 + channel] = (sheet.rgb[at * 3 + channel] ?? 0) * (1 - share) + value * share
    }
  })
}

/** A hard edge, a thin shadow on two sides, and no waves. */
function pastePortrait(sheet: Sheet, { portrait, box, random }: Placed & { random: Random }): void {
  const shadow = {
    by: Math.max(1, Math.round(random.between(0.1, 0.3) * sheet.pixelsPerMm)),
    light: random.between(0.75, 0.95),
  }
  const below = { ...box, x: box.x + shadow.by, y: box.y + shadow.by }
  forEachPixel(sheet, below, (at) => {
    for (let channel = 0; channel < 3; channel++)
      sheet.rgb[at * 3 + channel] = (sheet.rgb[at * 3 + channel] ?? 0) * shadow.light
  })
  const grain = random.between(2, 6)
  forEachPixel(sheet, box, (at, x, y) => {
    const speck = random.normal() * grain
    for (let channel = 0; channel < 3; channel++)
      sheet.rgb[at * 3 + channel] = sampleOf(portrait, box, { x, y, channel }) + speck
  })
}

function forEachPixel({ width, height }: Sheet, box: Box, paint: (at: number, x: number, y: number) => void): void {
  for (let y = 0; y < box.height && box.y + y < height; y++)
    for (let x = 0; x < box.width && box.x + x < width; x++) paint((box.y + y) * width + box.x + x, x, y)
}

/** The portrait fills the box and is cut where its shape differs. */
function sampleOf(
  { width, height, data }: Picture,
  box: Box,
  place: { x: number; y: number; channel: number },
): number {
  const scale = Math.min(width / box.width, height / box.height)
  const x = width / 2 + (place.x + 0.5 - box.width / 2) * scale - 0.5
  const y = height / 2 + (place.y + 0.5 - box.height / 2) * scale - 0.5
  const [left, top] = [
    Math.max(0, Math.min(width - 2, Math.floor(x))),
    Math.max(0, Math.min(height - 2, Math.floor(y))),
  ]
  const [right, down] = [Math.max(0, Math.min(1, x - left)), Math.max(0, Math.min(1, y - top))]
  const value = (column: number, row: number) => data[((top + row) * width + left + column) * 4 + place.channel] ?? 0
  const above = value(0, 0) * (1 - right) + value(1, 0) * right
  return above * (1 - down) + (value(0, 1) * (1 - right) + value(1, 1) * right) * down
}

/** Places are the middles of characters, in millimetres. */
type Writer = (character: string, place: { x: number; y: number; pitch: number }) => void

const INK = [28, 26, 34]

function createWriter(sheet: Sheet, cut: Cut): Writer {
  const known = new Map<string, Coverage>()
  return (character, { x, y, pitch }) => {
    const key = `${character}${pitch}`
    const glyph = known.get(key) ?? coverageOf(cut, character, { pitch: pitch * sheet.pixelsPerMm })
    known.set(key, glyph)
    const left = Math.round(x * sheet.pixelsPerMm - glyph.width / 2)
    const top = Math.round(y * sheet.pixelsPerMm - glyph.height / 2)
    if (left < 0 || top < 0 || left + glyph.width > sheet.width || top + glyph.height > sheet.height) return
    forEachPixel(sheet, { x: left, y: top, width: glyph.width, height: glyph.height }, (at, column, row) =>
      cover(sheet, at, glyph.data[row * glyph.width + column] ?? 0),
    )
  }
}

function cover({ rgb }: Sheet, at: number, share: number): void {
  for (let channel = 0; channel < 3; channel++) {
    const paper = rgb[at * 3 + channel] ?? 0
    rgb[at * 3 + channel] = paper + ((INK[channel] ?? 0) - paper) * share
  }
}

const ZONE_PITCH_MM = 2.54
const ZONE_LINE_MM = 6.35

function writeZone(sheet: Sheet, zone: readonly string[], write: Writer): void {
  const bottom = sheet.height / sheet.pixelsPerMm - (zone.length === 3 ? 4.5 : 7.2)
  zone.forEach((line, index) => {
    const left = (sheet.width / sheet.pixelsPerMm - line.length * ZONE_PITCH_MM) / 2
    const y = bottom - (zone.length - 1 - index) * ZONE_LINE_MM
    for (const [column, character] of [...line].entries())
      write(character, { x: left + (column + 0.5) * ZONE_PITCH_MM, y, pitch: ZONE_PITCH_MM })
  })
}

const WORD_PITCH_MM = 1.7
const WORD_LINE_MM = 4.6

function writeWords(layout: SideLayout, words: readonly string[], write: Writer): void {
  words.forEach((line, index) => {
    const y = layout.words.y + index * WORD_LINE_MM
    for (const [column, character] of [...line].entries())
      if (character !== '<' && MRZ_CHARACTERS.includes(character))
        write(character, { x: layout.words.x + (column + 0.5) * WORD_PITCH_MM, y, pitch: WORD_PITCH_MM })
  })
}

const BARCODE_MM = { x: 5.3, y: 7, width: 75 }

/** On a white field, as cards have it. */
function drawBarcode(sheet: Sheet, text: string): void {
  const barcode = drawPdf417(text)
  const perModule = (BARCODE_MM.width * sheet.pixelsPerMm) / barcode.columns
  const box = scaled({ ...BARCODE_MM, height: 0 }, sheet.pixelsPerMm)
  const height = Math.round(barcode.rows * ROW_HEIGHT_MODULES * perModule)
  const margin = Math.round(1.5 * sheet.pixelsPerMm)
  const field = { x: box.x - margin, y: box.y - margin, width: box.width + 2 * margin, height: height + 2 * margin }
  forEachPixel(sheet, field, (at) => sheet.rgb.fill(244, at * 3, at * 3 + 3))
  forEachPixel(sheet, { ...box, height }, (at, x, y) => {
    const row = Math.floor((y + 0.5) / perModule / ROW_HEIGHT_MODULES)
    cover(sheet, at, darkShare(barcode, row, { from: x / perModule, to: (x + 1) / perModule }))
  })
}

/** How much of a pixel the dark modules of a row cover. */
function darkShare(
  barcode: ReturnType<typeof drawPdf417>,
  row: number,
  { from, to }: { from: number; to: number },
): number {
  let dark = 0
  for (let column = Math.floor(from); column < to; column++)
    if (barcode.isDark(column, row)) dark += Math.min(to, column + 1) - Math.max(from, column)
  return dark / (to - from)
}

function toPicture({ width, height, rgb }: Sheet): Picture {
  const data = new Uint8ClampedArray(width * height * 4)
  for (let at = 0; at < width * height; at++) {
    for (let channel = 0; channel < 3; channel++) data[at * 4 + channel] = rgb[at * 3 + channel] ?? 0
    data[at * 4 + 3] = 255
  }
  return { width, height, data }
}
