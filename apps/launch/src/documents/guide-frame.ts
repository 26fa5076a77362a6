import type { DocumentSide } from './document-types.ts'

export interface Frame {
  x: number
  y: number
  width: number
  height: number
}

/** Width by height: a passport's page is 125 by 88 mm, a card 85.6 by 54 mm. */
const RATIOS: Readonly<Record<DocumentSide, number>> = { page: 125 / 88, front: 85.6 / 54, back: 85.6 / 54 }
/** Shares of the shown part of the picture. */
const FILLS = 0.92

/** The part of the picture that the screen shows: upright on an upright phone, else lying. As in style.css. */
export function shownPart(width: number, height: number): Frame {
  const ratio = width < height ? 3 / 4 : 4 / 3
  const shown = width / height > ratio ? { width: height * ratio, height } : { width, height: width / ratio }
  return { x: (width - shown.width) / 2, y: (height - shown.height) / 2, ...shown }
}

/** Where the document should be in a picture of this size. The screen draws it, and the reader searches it for the portrait. */
export function guideFrame(width: number, height: number, side: DocumentSide): Frame {
  const shown = shownPart(width, height)
  const wide = Math.min(shown.width * FILLS, shown.height * FILLS * RATIOS[side])
  const high = wide / RATIOS[side]
  return { x: (width - wide) / 2, y: (height - high) / 2, width: wide, height: high }
}
