/** Draws the page of a document as grey values, 12 pixels to the millimetre (305 dpi). */
import { MRZ_CHARACTERS, MRZ_SHAPES, type MrzFormat } from '@ostiary/documents'
import { AS_CUT, type Coverage, type Cut, coverageOf, type Morph } from './glyphs.ts'
import type { InventedDocument } from './invent.ts'
import type { Random } from './random.ts'

export const PIXELS_PER_MM = 12
const PITCH = 2.54 * PIXELS_PER_MM
const LINE_DISTANCE = 6.35 * PIXELS_PER_MM

const PAGE_MM: Readonly<Record<MrzFormat, { width: number; height: number }>> = {
  TD1: { width: 85.6, height: 54 },
  TD2: { width: 105, height: 74 },
  TD3: { width: 125, height: 88 },
  MRV_A: { width: 120, height: 80 },
  MRV_B: { width: 105, height: 74 },
  FR_2X36: { width: 105, height: 74 },
}

export interface GreyPage {
  width: number
  height: number
  grey: Float32Array
  /** Middle of each character, line by line. */
  centres: readonly (readonly { x: number; y: number }[])[]
  /** Where the machine-readable zone begins. */
  zoneTop: number
}

/** How far a print may be from its cut. The trainer and the measures use different ranges. */
export interface MorphRange {
  weight: number
  width: readonly [number, number]
  height: readonly [number, number]
  slant: number
  /** The same for single characters: share of the size, and amplitude of the bend. */
  eachCharacter: number
  bend: number
}

export interface DrawOptions {
  document: InventedDocument
  cut: Cut
  random: Random
  morph?: MorphRange
  /** From 0 to 1: how many specks are missing from the print, and how pale it is. */
  wear?: number
  fade?: number
}

export function drawPage({ document, cut, random, morph, wear = 0, fade = 0 }: DrawOptions): GreyPage {
  const size = PAGE_MM[document.format]
  const width = Math.round(size.width * PIXELS_PER_MM)
  const height = Math.round(size.height * PIXELS_PER_MM)
  const zoneTop = height - 23.2 * PIXELS_PER_MM
  const paper = random.between(185, 240)
  const grey = drawPaper({ width, height, zoneTop, paper, random })
  const ink = random.between(15, 70) + fade * random.between(0, 60)
  const glyphs = morphedGlyphs(cut, random, morph)
  const put = createStamp(grey, width, ink)
  const { lines, columns } = MRZ_SHAPES[document.format]
  const distance = LINE_DISTANCE * random.between(0.97, 1.03)
  const left = (width - columns * PITCH) / 2
  const bottom = height - (lines === 3 ? 4.5 : 7.2) * PIXELS_PER_MM
  const unevenness = morph ? 0.4 : 0.25
  const centres = document.lines.map((text, line) => {
    const y = bottom - (lines - 1 - line) * distance
    return [...text].map((character, column) => {
      const x = left + (column + 0.5) * PITCH
      put(glyphs(character), x, y + random.normal() * unevenness)
      return { x, y }
    })
  })
  drawAbove({ width, height, grey, zoneTop, isCard: document.format === 'TD1', random }, (character, x, y) =>
    put(coverageOf(cut, character, { pitch: PITCH * 0.7 }), x, y),
  )
  if (wear > 0) wearOff({ width, height, grey, zoneTop, paper, random }, Math.round(wear * 60))
  return { width, height, grey, centres, zoneTop }
}

function morphedGlyphs(cut: Cut, random: Random, range: MorphRange | undefined): (character: string) => Coverage {
  const drawn = new Map<string, Coverage>()
  const whole = range === undefined ? { ...AS_CUT, weight: random.between(-0.004, 0.004) } : morphIn(range, random)
  return (character) => {
    const known = drawn.get(character)
    if (known) return known
    const morph = range === undefined ? whole : ofOneCharacter(whole, range, random)
    const coverage = coverageOf(cut, character, { pitch: PITCH, morph })
    drawn.set(character, coverage)
    return coverage
  }
}

function morphIn({ weight, width, height, slant }: MorphRange, random: Random): Morph {
  return {
    weight: random.between(-weight, weight),
    width: random.between(...width),
    height: random.between(...height),
    slant: random.normal() * slant,
  }
}

function ofOneCharacter(whole: Morph, { eachCharacter, bend }: MorphRange, random: Random): Morph {
  return {
    ...whole,
    width: whole.width * (1 + random.between(-eachCharacter, eachCharacter)),
    height: whole.height * (1 + random.between(-eachCharacter, eachCharacter)),
    bend: { amplitude: random.between(0, bend), phaseX: random.between(0, 6.28), phaseY: random.between(0, 6.28) },
  }
}

type Stamp = (glyph: Coverage, x: number, y: number) => void

function createStamp(grey: Float32Array, width: number, ink: number): Stamp {
  return (glyph, x, y) => {
    const left = Math.round(x - glyph.width / 2)
    const top = Math.round(y - glyph.height / 2)
    for (let row = 0; row < glyph.height; row++)
      for (let column = 0; column < glyph.width; column++) {
        const share = glyph.data[row * glyph.width + column] as number
        const at = (top + row) * width + left + column
        if (share > 0 && left + column >= 0 && left + column < width && at >= 0 && at < grey.length)
          grey[at] = (grey[at] as number) + (ink - (grey[at] as number)) * share
      }
  }
}

interface Paper {
  width: number
  height: number
  zoneTop: number
  paper: number
  random: Random
}

/** A background of waves, as security prints have, paler in the zone. */
function drawPaper({ width, height, zoneTop, paper, random }: Paper): Float32Array {
  const grey = new Float32Array(width * height)
  const [fine, coarse] = [random.between(0.02, 0.12), random.between(0.02, 0.1)]
  const [amplitude, phase] = [random.between(2, 14), random.between(0, 6)]
  const wave = Float32Array.from({ length: 4096 }, (_, step) => Math.sin((step * Math.PI * 2) / 4096))
  const steps = 4096 / Math.PI / 2
  for (let y = 0; y < height; y++) {
    const inZone = y > zoneTop
    const height0 = inZone ? paper + (245 - paper) * 0.4 : paper
    const depth = inZone ? amplitude * 0.45 : amplitude
    const [shift, row] = [3 * Math.sin(y * coarse + phase), y * fine * 1.3]
    for (let x = 0; x < width; x++) {
      const across = wave[((x * fine + shift) * steps) & 4095] as number
      const along = wave[((row - x * coarse * 0.3) * steps) & 4095] as number
      grey[y * width + x] = height0 + depth * across * along
    }
  }
  return grey
}

interface Surface {
  width: number
  height: number
  grey: Float32Array
  zoneTop: number
  random: Random
}

/** What is printed above the zone: a dark portrait, and words that must not be taken for the zone. */
function drawAbove(
  { width, height, grey, zoneTop, isCard, random }: Surface & { isCard: boolean },
  put: (character: string, x: number, y: number) => void,
): void {
  if (!isCard)
    for (let y = Math.round(0.16 * height); y < zoneTop - 0.04 * height; y++)
      for (let x = Math.round(0.05 * width); x < 0.29 * width; x++)
        grey[y * width + x] = 90 + 60 * Math.sin(x * 0.02) * Math.cos(y * 0.017) + ((x * 7919 + y * 104729) % 23)
  const letters = [...MRZ_CHARACTERS].slice(0, 36)
  for (let y = 0.12 * height; y < zoneTop - 3.5 * PIXELS_PER_MM; y += random.between(4.5, 7) * PIXELS_PER_MM) {
    let x = (isCard ? 0.05 : 0.34) * width
    for (let left = 4 + random.below(16); left > 0; left--, x += PITCH * 0.75)
      if (x < width - PITCH && random.next() > 0.15) put(random.pick(letters), x, y)
  }
}

function wearOff({ width, height, grey, zoneTop, paper, random }: Surface & { paper: number }, count: number): void {
  for (let speck = 0; speck < count; speck++) {
    const [x, y] = [random.between(0, width), random.between(zoneTop, height)]
    const [radius, lift] = [random.between(1, 3.2), random.between(0.3, 0.9)]
    for (let row = Math.max(0, Math.floor(y - radius)); row < Math.min(height, y + radius); row++)
      for (let column = Math.max(0, Math.floor(x - radius)); column < Math.min(width, x + radius); column++) {
        const at = row * width + column
        grey[at] = (grey[at] as number) + (paper - (grey[at] as number)) * lift
      }
  }
}
