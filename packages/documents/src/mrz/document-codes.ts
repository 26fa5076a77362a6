import type { DocumentKind, MrzFormat } from '../types.ts'
import { MRZ_LAYOUTS, readSpan } from './layout.ts'
import { isStateCode } from './states.ts'

/**
 * The kind of document that a document code stands for, or undefined where the format does not allow the code. Code, issuer and
 * nationality have no check digit of their own, so these lists are what protects them from a misread character.
 */
export function kindOfCode(format: MrzFormat, code: string): DocumentKind | undefined {
  if (!/^([A-Z][A-Z<]|C[12])$/.test(code)) return undefined
  switch (format) {
    case 'TD3':
      return code.startsWith('P') ? 'passport' : undefined
    case 'MRV_A':
    case 'MRV_B':
      return code.startsWith('V') ? 'visa' : undefined
    case 'FR_2X36':
      return code === 'ID' ? 'national_id' : undefined
    case 'TD1':
    case 'TD2':
      return kindOfCard(code)
  }
}

/** The kind of the document if its code, issuer and nationality are on the lists. */
export function findDocumentKind(format: MrzFormat, lines: readonly string[]): DocumentKind | undefined {
  const { code, issuer, nationality } = MRZ_LAYOUTS[format].fields
  const areStates = [issuer, ...(nationality ? [nationality] : [])].every((span) => isStateCode(readSpan(lines, span)))
  if (!areStates) return undefined
  return kindOfCode(format, readSpan(lines, code))
}

/** Codes that say more than their first letter does: residence permits, certificates of airline staff, passport cards. */
const CARD_CODES: Readonly<Record<string, DocumentKind>> = {
  AC: 'other',
  AR: 'residence_permit',
  IP: 'passport',
  IR: 'residence_permit',
}

/** Cards begin with A, C or I; V as the second letter is not allowed (9303 parts 5 and 6). C1 and C2 are US permanent resident cards. */
function kindOfCard(code: string): DocumentKind | undefined {
  if (code[1] === 'V') return undefined
  const first = code[0]
  if (first === 'I') return CARD_CODES[code] ?? 'national_id'
  if (first === 'C') return 'residence_permit'
  return first === 'A' ? (CARD_CODES[code] ?? 'other') : undefined
}
