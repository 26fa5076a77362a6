import { MRZ_SHAPES, type MrzFormat, type Point } from './types.ts'

/** A rectangle of a picture in which the portrait of a document may be. Turned by `angle` (radians, clockwise) it is upright. */
export interface PortraitArea {
  centre: Point
  width: number
  height: number
  angle: number
  /** A narrower face is a ghost portrait, or too coarse for a comparison. In pixels. */
  faceWidthMin: number
}

/** Where the document is: the corners of its machine-readable zone, or the guide frame that a card fills. */
export type DocumentPlace =
  | { format: MrzFormat; corners: readonly [Point, Point, Point, Point] }
  | { frame: { x: number; y: number; width: number; height: number } }

/** Below this width a face on a document gives no usable score (docs/accuracy/documents.md). */
export const PORTRAIT_FACE_MIN_PX = 60
/** Framed as for a passport, the face of a ghost portrait 10 mm high is about 5 mm wide, that of a portrait of 15 mm more than 7. */
const PORTRAIT_FACE_MIN_MM = 6.2

const CHARACTER_MM = 2.54
const CARD_WIDTH_MM = 85.6
/** From the left edge of the page to the first character, and from the top of the first line to the lower edge (ICAO 9303). */
const ZONE_MM = { left: 6, height: 17.4 }
/** Readers place the zone within about two millimetres. */
const MARGIN_MM = 2
/** Portraits of pages lie left of this, from the left edge. */
const LEFT_PART_MM = 56
/** Portraits of cards lie on one side, and no farther in than this share of the width. */
const CARD_SIDE = 0.55

/** Sides of the page. The zone of a TD1 card is on the back, where no portrait is. */
const PAGES_MM: Readonly<Record<MrzFormat, { width: number; height: number } | undefined>> = {
  TD1: undefined,
  TD2: { width: 105, height: 74 },
  TD3: { width: 125, height: 88 },
  MRV_A: { width: 120, height: 80 },
  MRV_B: { width: 105, height: 74 },
  FR_2X36: { width: 105, height: 74 },
}

/**
 * The rectangles to search for the portrait. None of them reaches beyond the document: the person who holds it may be in the
 * picture, too, and would match themselves.
 */
export function portraitAreas(place: DocumentPlace): PortraitArea[] {
  return 'frame' in place ? areasOfCard(place.frame) : areasOfPage(place)
}

function areasOfPage({ format, corners }: Extract<DocumentPlace, { format: MrzFormat }>): PortraitArea[] {
  const page = PAGES_MM[format]
  if (!page) return []
  const [from, to] = corners
  const angle = Math.atan2(to.y - from.y, to.x - from.x)
  const perMm = Math.hypot(to.x - from.x, to.y - from.y) / (MRZ_SHAPES[format].columns * CHARACTER_MM)
  const [left, top] = [-ZONE_MM.left - MARGIN_MM, ZONE_MM.height - page.height - MARGIN_MM]
  const area = (widthMm: number): PortraitArea => {
    // In millimetres from the first character, along the line and across it.
    const [along, across] = [left + widthMm / 2, top / 2]
    return {
      centre: {
        x: from.x + (along * Math.cos(angle) - across * Math.sin(angle)) * perMm,
        y: from.y + (along * Math.sin(angle) + across * Math.cos(angle)) * perMm,
      },
      width: widthMm * perMm,
      height: -top * perMm,
      angle,
      faceWidthMin: faceWidthMin(perMm),
    }
  }
  return [area(LEFT_PART_MM), area(page.width + 2 * MARGIN_MM)]
}

function areasOfCard({ x, y, width, height }: { x: number; y: number; width: number; height: number }): PortraitArea[] {
  const upright = { height, angle: 0, faceWidthMin: faceWidthMin(width / CARD_WIDTH_MM) }
  const side = width * CARD_SIDE
  const middle = y + height / 2
  const whole = { ...upright, centre: { x: x + width / 2, y: middle }, width: height, height: width }
  return [
    { ...upright, centre: { x: x + side / 2, y: middle }, width: side },
    { ...upright, centre: { x: x + width - side / 2, y: middle }, width: side },
    // Cards in upright format, such as US licences of people under 21, lie on their side in the frame.
    { ...whole, angle: Math.PI / 2 },
    { ...whole, angle: -Math.PI / 2 },
  ]
}

function faceWidthMin(pixelsPerMm: number): number {
  return Math.max(PORTRAIT_FACE_MIN_PX, PORTRAIT_FACE_MIN_MM * pixelsPerMm)
}
