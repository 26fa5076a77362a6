import type { DigitCheck, MrzFormat } from '../types.ts'
import { MRZ_LAYOUTS, type MrzCheck, readSpan, readSpans } from './layout.ts'

/** ICAO 9303 part 3, section 4.9: weights 7, 3, 1 over the values of the characters, modulo 10. */
export function checkDigit(text: string): string {
  let sum = 0
  for (let at = 0; at < text.length; at += 1) sum += characterValue(text.charCodeAt(at)) * (WEIGHTS[at % 3] ?? 0)
  return String(sum % 10)
}

/** Every check digit that the format has, and whether it fits. The lines must have the shape of the format. */
export function digitChecks(format: MrzFormat, lines: readonly string[]): DigitCheck[] {
  return MRZ_LAYOUTS[format].checks.map((check) => ({ of: check.of, holds: doesHold(check, lines) }))
}

/**
 * A document number and its check digit. A number of more than nine characters goes on in the optional data: the place
 * of its check digit holds a filler, and the digit follows the last character of the number (9303 part 5, section 4.2.2, note j).
 */
export function numberWithDigit(format: MrzFormat, lines: readonly string[]): { number: string; digit: string } {
  const { fields, longNumbers } = MRZ_LAYOUTS[format]
  const number = readSpan(lines, fields.number)
  const digit = readSpan(lines, fields.numberDigit)
  if (!longNumbers || digit !== FILLER || !fields.optional) return { number, digit }
  const rest = readSpan(lines, fields.optional).split(FILLER, 1)[0] ?? ''
  return rest.length < 2 ? { number, digit } : { number: number + rest.slice(0, -1), digit: rest.slice(-1) }
}

const WEIGHTS = [7, 3, 1]
const FILLER = '<'

function doesHold(check: MrzCheck, lines: readonly string[]): boolean {
  if (check.of === 'number') {
    const { number, digit } = numberWithDigit(check.format, lines)
    return checkDigit(number) === digit
  }
  const text = readSpans(lines, check.over)
  const digit = readSpan(lines, check.digit)
  if (digit === FILLER && check.mayBeFiller) return /^<*$/.test(text)
  return checkDigit(text) === digit
}

/** Digits count as themselves, A to Z as 10 to 35, a filler as 0. */
function characterValue(character: number): number {
  if (character >= 48 && character <= 57) return character - 48
  return character >= 65 && character <= 90 ? character - 55 : 0
}
