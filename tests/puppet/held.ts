import type { Picture } from '@ostiary/faces'
import { createSway } from './natural.ts'
import { blurred, type Size, softened } from './stage.ts'

/** How a flat thing, such as a document, is held before the camera. */
export interface HeldOptions {
  /** Share of the picture that it fills, by width or by height, whichever is less. */
  fill?: number
  /** Out of focus. */
  blurPx?: number
  /** It is shown on a screen: a bluish picture of red, green and blue stripes that are about as narrow as a pixel. */
  screen?: boolean
  /** A lamp's reflection: its middle (0 to 1 across and down the thing) and how bright it is, in levels. */
  glare?: { x: number; y: number; levels: number }
}

export const HELD_FRAMES = 8
/** Frames per second that are needed: hands move slowly. */
export const HELD_FPS = 5

/** The sway of a hand is that of a head, of this size: degrees, and shares of the picture's width. */
const HAND = { turn: 1, shift: 0.8, lean: 0.012 } as const
const TABLE = { red: 84, green: 78, blue: 72 } as const
const BEZEL = { colour: 18, share: 0.03 } as const
/** Places across and down a pixel that are looked at, because things are drawn larger than they are shown. */
const SAMPLES = 2
/** Camera pixels per pixel of the screen. */
const SCREEN_PITCH = 1.37

/** Frames of the thing in a hand that tries to hold still. Played back and forth they have no seam. */
export function* drawHeld(
  sheet: Picture,
  { size, seed, fill = 0.86, blurPx = 0, screen = false, glare }: HeldOptions & { size: Size; seed: number },
): Generator<Picture> {
  const sway = createSway(seed, 1)
  const scale = Math.min((fill * size.width) / sheet.width, (fill * size.height) / sheet.height)
  const thing = glare ? lit(sheet, glare) : sheet
  for (let frame = 0; frame < HELD_FRAMES; frame++) {
    const { roll, shiftX, shiftY, zoom, yaw, pitch } = sway((frame * 1000) / HELD_FPS)
    const placement: Placement = {
      size,
      scale: scale * zoom,
      turn: (HAND.turn * roll * Math.PI) / 180,
      x: size.width * (0.5 + HAND.shift * shiftX),
      y: size.height * (0.5 + HAND.shift * shiftY),
      leanX: HAND.lean * yaw,
      leanY: HAND.lean * pitch,
    }
    yield withNoise(blurred(softened(place(thing, placement, screen), LENS_PX), blurPx), seed + frame)
  }
}

/** No lens is sharper. Without it, fine print would look like the grid of a screen. */
const LENS_PX = 1

/** As a camera has it. Without noise the faint pattern of the paper would look like that of a screen. */
export const NOISE_LEVELS = 4

function withNoise(picture: Picture, seed: number): Picture {
  const { data } = picture
  // The hot loop: a linear congruential generator, and brightness only.
  let state = (seed * 2_654_435_761) >>> 0
  for (let at = 0; at < data.length; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const noise = ((state >>> 16) / 0xffff - 0.5) * 2 * NOISE_LEVELS
    for (let channel = 0; channel < 3; channel++) data[at + channel] = (data[at + channel] ?? 0) + noise
  }
  return picture
}

interface Placement {
  size: Size
  /** Picture pixels per pixel of the sheet, in its middle. */
  scale: number
  turn: number
  /** Of its middle. */
  x: number
  y: number
  /** How much larger its right or lower end is than its middle, because it is nearer. */
  leanX: number
  leanY: number
}

function place(sheet: Picture, { size, scale, turn, x, y, leanX, leanY }: Placement, screen: boolean): Picture {
  const data = new Uint8ClampedArray(size.width * size.height * 4).fill(255)
  const [cos, sin] = [Math.cos(turn) / scale, Math.sin(turn) / scale]
  const halfWidth = sheet.width / 2
  const halfHeight = sheet.height / 2
  const bezel = screen ? BEZEL.share * sheet.width : 0
  // The hot loop: no allocation per pixel.
  for (let row = 0, at = 0; row < size.height; row++)
    for (let column = 0; column < size.width; column++, at += 4) {
      let red = 0
      let green = 0
      let blue = 0
      for (let sample = 0; sample < SAMPLES ** 2; sample++) {
        const dx = column + ((sample % SAMPLES) + 0.5) / SAMPLES - x
        const dy = row + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES - y
        const flatX = dx * cos + dy * sin
        const flatY = dy * cos - dx * sin
        const depth = 1 - (leanX * flatX) / halfWidth - (leanY * flatY) / halfHeight
        const u = flatX / depth + halfWidth
        const v = flatY / depth + halfHeight
        if (u >= 0 && v >= 0 && u < sheet.width && v < sheet.height) {
          const from = (Math.floor(v) * sheet.width + Math.floor(u)) * 4
          const stripe = screen ? stripeAt(u * scale, v * scale) : 0
          red += (sheet.data[from] ?? 0) * (STRIPES.red[stripe] ?? 1)
          green += (sheet.data[from + 1] ?? 0) * (STRIPES.green[stripe] ?? 1)
          blue += (sheet.data[from + 2] ?? 0) * (STRIPES.blue[stripe] ?? 1)
        } else {
          const isBezel = u >= -bezel && v >= -bezel && u < sheet.width + bezel && v < sheet.height + bezel
          red += isBezel ? BEZEL.colour : TABLE.red
          green += isBezel ? BEZEL.colour : TABLE.green
          blue += isBezel ? BEZEL.colour : TABLE.blue
        }
      }
      data[at] = red / SAMPLES ** 2
      data[at + 1] = green / SAMPLES ** 2
      data[at + 2] = blue / SAMPLES ** 2
    }
  return { ...size, data }
}

/** How bright the colours are: on paper, on the three stripes of a screen's pixel, and on the dark line below it. */
const STRIPES = {
  red: [1, 1.36, 0.82, 0.82, 0.75],
  green: [1, 0.82, 1.36, 0.82, 0.75],
  blue: [1, 0.86, 0.86, 1.5, 0.8],
} as const

function stripeAt(x: number, y: number): number {
  return (y / SCREEN_PITCH) % 1 > 0.85 ? 4 : 1 + Math.floor(((x / SCREEN_PITCH) % 1) * 3)
}

function lit(sheet: Picture, { x, y, levels }: { x: number; y: number; levels: number }): Picture {
  const data = new Uint8ClampedArray(sheet.data)
  const reach = sheet.width / 8
  for (let row = 0, at = 0; row < sheet.height; row++)
    for (let column = 0; column < sheet.width; column++, at += 4) {
      const [dx, dy] = [column - x * sheet.width, row - y * sheet.height]
      const shine = levels * Math.exp(-(dx * dx + dy * dy) / (2 * reach * reach))
      for (let channel = 0; channel < 3; channel++) data[at + channel] = (data[at + channel] ?? 0) + shine
    }
  return { ...sheet, data }
}
