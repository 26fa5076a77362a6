/** A camera picture: RGBA, row by row, as a canvas gives it. Not mirrored. */
export interface Picture {
  width: number
  height: number
  data: Uint8ClampedArray
}

export interface Point {
  x: number
  y: number
}

/** Layouts of a machine-readable zone: ICAO 9303, and the French identity card of before 2021 (two lines of 36). */
export const MRZ_FORMATS = ['TD1', 'TD2', 'TD3', 'MRV_A', 'MRV_B', 'FR_2X36'] as const
export type MrzFormat = (typeof MRZ_FORMATS)[number]

export const MRZ_SHAPES: Readonly<Record<MrzFormat, { lines: number; columns: number }>> = {
  TD1: { lines: 3, columns: 30 },
  TD2: { lines: 2, columns: 36 },
  TD3: { lines: 2, columns: 44 },
  MRV_A: { lines: 2, columns: 44 },
  MRV_B: { lines: 2, columns: 36 },
  FR_2X36: { lines: 2, columns: 36 },
}

/** The characters of a machine-readable zone, in the order of the reader's classes. */
export const MRZ_CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ<'

/** What one picture shows of a machine-readable zone. Nothing in it was repaired. */
export interface MrzRead {
  format: MrzFormat
  lines: readonly string[]
  /** Mean certainty of the characters, from 0 to 1. */
  confidence: number
  /** Of the least certain character. */
  leastConfidence: number
  /** Of the least certain character that no check digit covers: nothing else would show that it was misread. */
  leastUnchecked: number
  /** Looks from a little beside named the same characters. */
  isSteady: boolean
  /** Corners of the zone in the picture: top left, top right, bottom right, bottom left as it is read. */
  corners: readonly [Point, Point, Point, Point]
  pixelsPerCharacter: number
}

/** A day without a time, as documents print it: `2001-02-29` cannot be one. */
export type Day = string

/** What a text of a document says, before anything is decided about it. It never leaves the device. */
export interface DocumentText {
  source: MrzFormat | 'AAMVA'
  kind: DocumentKind
  issuer: string
  /** As read, without filler; undefined where the document has none. */
  number: string | undefined
  familyName: string
  givenNames: string
  /** Undefined where the document has no usable date of birth. */
  birth: Day | undefined
  /** Undefined where the document has no date of expiry; such a document does not expire. */
  expiry: Day | undefined
  checks: readonly DigitCheck[]
}

/** Types of documents on the wire (`identityInformation.documentType`); visas are read in order to be refused. */
export const DOCUMENT_KINDS = [
  'passport',
  'drivers_license',
  'national_id',
  'residence_permit',
  'other',
  'visa',
] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

/** A check digit and whether it fits what it protects. */
export interface DigitCheck {
  of: 'number' | 'birth' | 'expiry' | 'optional' | 'composite'
  holds: boolean
}
