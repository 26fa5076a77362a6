import { type DigitCheck, MRZ_CHARACTERS, type MrzFormat } from '../types.ts'

/** Characters of one line from `start` up to, but not including, `end`. Lines and columns count from 0. */
export interface MrzSpan {
  line: number
  start: number
  end: number
}

export interface MrzFields {
  code: MrzSpan
  issuer: MrzSpan
  /** Family name, two fillers, given names. */
  names?: MrzSpan
  familyName?: MrzSpan
  givenNames?: MrzSpan
  number: MrzSpan
  numberDigit: MrzSpan
  nationality?: MrzSpan
  birth: MrzSpan
  sex: MrzSpan
  expiry?: MrzSpan
  /** Year and month of issue. */
  issued?: MrzSpan
  optional?: MrzSpan
}

export interface MrzCheck {
  of: DigitCheck['of']
  format: MrzFormat
  digit: MrzSpan
  over: readonly MrzSpan[]
  /** A filler is as good as 0 when what it covers is empty. */
  mayBeFiller: boolean
}

export interface MrzLayout {
  /** A letter of a class for each character: see `MASK_CLASSES`; a capital letter allows itself only. */
  masks: readonly string[]
  fields: MrzFields
  checks: readonly MrzCheck[]
  /** A document number may go on in the optional data. */
  longNumbers: boolean
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const DIGITS = '0123456789'

export const MASK_CLASSES: Readonly<Record<string, string>> = {
  a: LETTERS,
  l: `${LETTERS}<`,
  d: DIGITS,
  n: `${DIGITS}<`,
  s: 'MFX<',
  x: MRZ_CHARACTERS,
  c: 'ACI',
  k: `${LETTERS}12<`,
}

/** The characters that the format allows at a place. */
export function allowedAt(format: MrzFormat, line: number, column: number): string {
  const mark = MRZ_LAYOUTS[format].masks[line]?.[column]
  if (mark === undefined) throw new Error(`${format} has no character ${column} in line ${line}`)
  return MASK_CLASSES[mark] ?? mark
}

/** Whether a check digit covers this place, or is at it. */
export function isChecked(format: MrzFormat, line: number, column: number): boolean {
  const isWithin = (span: MrzSpan) => span.line === line && column >= span.start && column < span.end
  return MRZ_LAYOUTS[format].checks.some(({ digit, over }) => isWithin(digit) || over.some(isWithin))
}

/** Whether the lines have the shape of the format and only characters that it allows. */
export function fitsLayout(format: MrzFormat, lines: readonly string[]): boolean {
  const { masks } = MRZ_LAYOUTS[format]
  return (
    lines.length === masks.length &&
    masks.every((mask, line) => {
      const text = lines[line] ?? ''
      return text.length === mask.length && [...text].every((c, column) => allowedAt(format, line, column).includes(c))
    })
  )
}

export function readSpan(lines: readonly string[], { line, start, end }: MrzSpan): string {
  return lines[line]?.slice(start, end) ?? ''
}

export function readSpans(lines: readonly string[], spans: readonly MrzSpan[]): string {
  return spans.map((span) => readSpan(lines, span)).join('')
}

const span = (line: number, start: number, end: number): MrzSpan => ({ line, start, end })

const NAMED = { code: span(0, 0, 2), issuer: span(0, 2, 5) }

/** The second line of every two-line format of ICAO begins alike. */
const SECOND_LINE = {
  number: span(1, 0, 9),
  numberDigit: span(1, 9, 10),
  nationality: span(1, 10, 13),
  birth: span(1, 13, 19),
  sex: span(1, 20, 21),
  expiry: span(1, 21, 27),
}
const SECOND_LINE_MASK = `${'x'.repeat(9)}dall${'n'.repeat(6)}ds${'n'.repeat(6)}d`

function check(format: MrzFormat, of: DigitCheck['of'], digit: MrzSpan, over: readonly MrzSpan[]): MrzCheck {
  return { of, format, digit, over, mayBeFiller: of === 'optional' || of === 'expiry' }
}

const secondLineChecks = (format: MrzFormat): MrzCheck[] => [
  check(format, 'number', span(1, 9, 10), [span(1, 0, 9)]),
  check(format, 'birth', span(1, 19, 20), [span(1, 13, 19)]),
  check(format, 'expiry', span(1, 27, 28), [span(1, 21, 27)]),
]

const TD1: MrzLayout = {
  masks: [
    `ckall${'x'.repeat(9)}n${'x'.repeat(15)}`,
    `${'n'.repeat(6)}ds${'n'.repeat(6)}nall${'x'.repeat(11)}d`,
    'l'.repeat(30),
  ],
  fields: {
    ...NAMED,
    names: span(2, 0, 30),
    number: span(0, 5, 14),
    numberDigit: span(0, 14, 15),
    nationality: span(1, 15, 18),
    birth: span(1, 0, 6),
    sex: span(1, 7, 8),
    expiry: span(1, 8, 14),
    optional: span(0, 15, 30),
  },
  checks: [
    check('TD1', 'number', span(0, 14, 15), [span(0, 5, 14)]),
    check('TD1', 'birth', span(1, 6, 7), [span(1, 0, 6)]),
    check('TD1', 'expiry', span(1, 14, 15), [span(1, 8, 14)]),
    check('TD1', 'composite', span(1, 29, 30), [span(0, 5, 30), span(1, 0, 7), span(1, 8, 15), span(1, 18, 29)]),
  ],
  longNumbers: true,
}

const TD2: MrzLayout = {
  masks: [`clall${'l'.repeat(31)}`, `${'x'.repeat(9)}nall${'n'.repeat(6)}ds${'n'.repeat(6)}n${'x'.repeat(7)}d`],
  fields: { ...NAMED, ...SECOND_LINE, names: span(0, 5, 36), optional: span(1, 28, 35) },
  checks: [
    ...secondLineChecks('TD2'),
    check('TD2', 'composite', span(1, 35, 36), [span(1, 0, 10), span(1, 13, 20), span(1, 21, 35)]),
  ],
  longNumbers: true,
}

const TD3: MrzLayout = {
  masks: [`Plall${'l'.repeat(39)}`, `${SECOND_LINE_MASK.slice(0, -1)}n${'x'.repeat(14)}nd`],
  fields: { ...NAMED, ...SECOND_LINE, names: span(0, 5, 44), optional: span(1, 28, 42) },
  checks: [
    ...secondLineChecks('TD3'),
    check('TD3', 'optional', span(1, 42, 43), [span(1, 28, 42)]),
    check('TD3', 'composite', span(1, 43, 44), [span(1, 0, 10), span(1, 13, 20), span(1, 21, 43)]),
  ],
  longNumbers: false,
}

/** Visas have no composite check digit. */
const visa = (format: 'MRV_A' | 'MRV_B', columns: number): MrzLayout => ({
  masks: [`Vlall${'l'.repeat(columns - 5)}`, `${SECOND_LINE_MASK}${'x'.repeat(columns - 28)}`],
  fields: { ...NAMED, ...SECOND_LINE, names: span(0, 5, columns), optional: span(1, 28, columns) },
  checks: secondLineChecks(format),
  longNumbers: false,
})

/**
 * The French identity card of before 2021. The number is year and month of issue, the department and five digits; the first
 * line ends with department and office. It has neither a nationality nor a date of expiry.
 */
const FR_2X36: MrzLayout = {
  masks: [
    `IDFRAa${'l'.repeat(24)}${'x'.repeat(6)}`,
    `${'d'.repeat(4)}xxx${'d'.repeat(6)}${'l'.repeat(14)}${'d'.repeat(7)}sd`,
  ],
  fields: {
    ...NAMED,
    familyName: span(0, 5, 30),
    givenNames: span(1, 13, 27),
    number: span(1, 0, 12),
    numberDigit: span(1, 12, 13),
    birth: span(1, 27, 33),
    sex: span(1, 34, 35),
    issued: span(1, 0, 4),
  },
  checks: [
    check('FR_2X36', 'number', span(1, 12, 13), [span(1, 0, 12)]),
    check('FR_2X36', 'birth', span(1, 33, 34), [span(1, 27, 33)]),
    check('FR_2X36', 'composite', span(1, 35, 36), [span(0, 0, 36), span(1, 0, 35)]),
  ],
  longNumbers: false,
}

export const MRZ_LAYOUTS: Readonly<Record<MrzFormat, MrzLayout>> = {
  TD1,
  TD2,
  TD3,
  MRV_A: visa('MRV_A', 44),
  MRV_B: visa('MRV_B', 36),
  FR_2X36,
}
