/** Portraits as documents carry them: printed with a dot screen on a patterned page, under a laminate. All of it is drawn. */
import type { Picture } from '@ostiary/faces'
import type { Random } from '@ostiary/models/drawn-documents/random'

/** One way in which documents are printed and held before a camera. */
export interface PrintKind {
  name: string
  page: 'TD3' | 'card'
  /** Height of the portrait. */
  heightMm: number
  /** Pixels of the camera per millimetre of the document. */
  pixelsPerMm: number
  inks: 'colour' | 'grey'
  /** Lines of the dot screen per inch. */
  screenLpi: number
  /** 1 keeps the contrast of the photograph. */
  contrast: number
  /** How dark the lines of the pattern over the portrait are, in levels. */
  pattern: number
  /** How bright the reflection on the laminate is, in levels. */
  glare: number
  /** Of lens and sensor, in pixels and levels. */
  blurPx: number
  noise: number
}

const COLOUR = { inks: 'colour', screenLpi: 175, contrast: 0.95 } as const
const GREY = { inks: 'grey', screenLpi: 150, contrast: 0.8 } as const

export const PRINT_KINDS: readonly PrintKind[] = [
  {
    ...COLOUR,
    name: '35 mm colour',
    page: 'TD3',
    heightMm: 35,
    pixelsPerMm: 8.7,
    pattern: 0,
    glare: 0,
    blurPx: 0.8,
    noise: 6,
  },
  {
    ...GREY,
    name: '35 mm grey, pattern, glare',
    page: 'TD3',
    heightMm: 35,
    pixelsPerMm: 8.7,
    pattern: 14,
    glare: 60,
    blurPx: 1,
    noise: 8,
  },
  {
    ...COLOUR,
    name: '28 mm colour, pattern, glare',
    page: 'card',
    heightMm: 28,
    pixelsPerMm: 12,
    pattern: 14,
    glare: 60,
    blurPx: 1,
    noise: 8,
  },
  {
    ...GREY,
    name: '25 mm grey, pattern, glare',
    page: 'card',
    heightMm: 25,
    pixelsPerMm: 8,
    contrast: 0.75,
    pattern: 14,
    glare: 60,
    blurPx: 1.1,
    noise: 10,
  },
  {
    ...GREY,
    name: '15 mm grey, pattern',
    page: 'card',
    heightMm: 15,
    pixelsPerMm: 12,
    pattern: 10,
    glare: 0,
    blurPx: 1,
    noise: 8,
  },
]

/** The second, faint portrait of many cards. It must not be taken for the portrait, so it is not among the others. */
export const GHOST_KIND: PrintKind = {
  ...GREY,
  name: '10 mm ghost',
  page: 'card',
  heightMm: 10,
  pixelsPerMm: 12,
  contrast: 0.5,
  pattern: 10,
  glare: 0,
  blurPx: 0.9,
  noise: 6,
}

/** The portrait has 300 dots per inch; the printer places its ink in dots of half that size. */
export const PORTRAIT_DOTS_PER_MM = 300 / 25.4
export const PRINT_DOTS_PER_MM = 600 / 25.4
/** Dots have soft edges, because ink spreads in paper: by this share of the range of the screen. */
const SPREAD = 0.35

interface Screen {
  channels: readonly number[]
  degrees: number
}

/** The usual angles: cyan absorbs red, magenta green, yellow blue; black all of them. */
const SCREENS: Readonly<Record<PrintKind['inks'], readonly Screen[]>> = {
  colour: [
    { channels: [0], degrees: 15 },
    { channels: [1], degrees: 75 },
    { channels: [2], degrees: 0 },
  ],
  grey: [{ channels: [0, 1, 2], degrees: 45 }],
}

/** What the printer makes of a portrait that has `PORTRAIT_DOTS_PER_MM`. Its picture has `PRINT_DOTS_PER_MM`. */
export function printPortrait(portrait: Picture, kind: PrintKind, random: Random): Picture {
  const [width, height] = [portrait.width * 2, portrait.height * 2]
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  const line = patternOf(random)
  for (const { channels, degrees } of SCREENS[kind.inks]) {
    const wave = (2 * Math.PI * kind.screenLpi) / 25.4 / PRINT_DOTS_PER_MM
    const [cos, sin] = [Math.cos((degrees * Math.PI) / 180) * wave, Math.sin((degrees * Math.PI) / 180) * wave]
    for (let y = 0, at = 0; y < height; y++)
      for (let x = 0; x < width; x++, at += 4) {
        const from = ((y >> 1) * portrait.width + (x >> 1)) * 4
        const cover = 1 - levelOf(portrait, from, channels) / 255
        const screen = shareBelow(Math.cos(x * cos + y * sin) + Math.cos(y * cos - x * sin))
        const ink = Math.min(1, Math.max(0, 0.5 + (cover - screen) / SPREAD))
        // Ink is never quite black and paper never quite white: that is the contrast.
        const level = 128 + (255 * (1 - ink) - 128) * kind.contrast + 60 * (1 - kind.contrast)
        const shade = level - kind.pattern * line(x, y)
        for (const channel of channels) data[at + channel] = shade
      }
  }
  return { width, height, data }
}

/** How much of the screen lies below a height of -2 to 2. Printers are calibrated so that half a tone covers half the paper. */
const SCREEN_SHARES = (() => {
  const steps = 128
  const heights = Array.from({ length: steps ** 2 }, (_, at) => {
    const [u, v] = [(at % steps) + 0.5, Math.floor(at / steps) + 0.5]
    return Math.cos((2 * Math.PI * u) / steps) + Math.cos((2 * Math.PI * v) / steps)
  }).sort((a, b) => a - b)
  const shares = new Float32Array(1024)
  let below = 0
  for (let slot = 0; slot < shares.length; slot++) {
    while ((heights[below] ?? 3) < (4 * (slot + 0.5)) / shares.length - 2) below++
    shares[slot] = below / heights.length
  }
  return shares
})()

function shareBelow(height: number): number {
  return SCREEN_SHARES[Math.min(1023, Math.floor((height + 2) * 256))] ?? 1
}

function levelOf({ data }: Picture, at: number, channels: readonly number[]): number {
  if (channels.length === 1) return data[at + (channels[0] ?? 0)] ?? 0
  return 0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0)
}

/** Fine wavy lines, as they run over the whole page: 0 between them, 1 on them. */
function patternOf(random: Random): (x: number, y: number) => number {
  const [across, down, phase] = [0.15 + 0.3 * random.next(), 0.025 + 0.05 * random.next(), 6 * random.next()]
  return (x, y) => Math.max(0, Math.sin(x * across + 4 * Math.sin(y * down) + phase)) ** 6
}
