import {
  BORDER_SHARPNESS_MIN,
  borderSharpness,
  COLOUR_SPREAD_MIN,
  colourSpread,
  type Picture,
  type PortraitFace,
  SCREEN_PEAK_MIN,
  screenPeak,
} from '@ostiary/documents'
import type { Frame } from './guide-frame.ts'

/** Signs of a screen or of a grey copy. Rates are in docs/documents.md; a sign is a flag and refuses nothing. */
export type PictureHint = 'screen' | 'copy'

/** Looks at the part of the picture where the document is. Takes some hundred milliseconds: not for every picture. */
export function pictureHints(picture: Picture, part: Frame): PictureHint[] {
  const cut = cutOut(picture, part)
  return [
    ...((screenPeak(cut) ?? 0) >= SCREEN_PEAK_MIN ? (['screen'] as const) : []),
    ...((colourSpread(cut) ?? 1) < COLOUR_SPREAD_MIN ? (['copy'] as const) : []),
  ]
}

/** Whether the border of the portrait around this face is so hard that it looks pasted. Takes some ten milliseconds. */
export function isPasted(picture: Picture, face: PortraitFace): boolean {
  return (borderSharpness(picture, face) ?? 0) >= BORDER_SHARPNESS_MIN
}

/** In the scale of the picture: a smaller one would lose what the hints look for. */
export function cutOut({ width, height, data }: Picture, part: Frame): Picture {
  const [left, top] = [Math.max(0, Math.round(part.x)), Math.max(0, Math.round(part.y))]
  const right = Math.min(width, Math.round(part.x + part.width))
  const bottom = Math.min(height, Math.round(part.y + part.height))
  const wide = Math.max(0, right - left)
  const cut = new Uint8ClampedArray(wide * Math.max(0, bottom - top) * 4)
  for (let y = top; y < bottom; y++)
    cut.set(data.subarray((y * width + left) * 4, (y * width + right) * 4), (y - top) * wide * 4)
  return { width: wide, height: Math.max(0, bottom - top), data: cut }
}
