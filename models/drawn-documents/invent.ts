/** Invented documents: no name, number or date in them belongs to a person. */
import { checkDigit, MRZ_SHAPES, type MrzFormat, STATE_CODES } from '@ostiary/documents'
import type { Random } from './random.ts'

export interface InventedDocument {
  format: MrzFormat
  lines: readonly string[]
}

const SYLLABLES = 'BA CHE DO FRI GU HAL JE KOW LUM MIR NEX OSK PRY QUA RIL STE TUV UX VAN WYZ YLO ZEB'.split(' ')
const STATES = [...STATE_CODES]
const DIGITS = [...'0123456789']
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const DOCUMENT_CODES: Readonly<Record<MrzFormat, readonly string[]>> = {
  TD1: ['I<', 'ID', 'AR', 'C<', 'IR'],
  TD2: ['I<', 'ID', 'AR', 'C<'],
  TD3: ['P<', 'PP', 'PD', 'PM'],
  MRV_A: ['V<', 'VC'],
  MRV_B: ['V<', 'VC'],
  FR_2X36: ['ID'],
}

export function inventDocument(format: MrzFormat, random: Random): InventedDocument {
  return { format, lines: LAYOUTS[format](inventFields(format, random), MRZ_SHAPES[format].columns, random) }
}

interface Fields {
  code: string
  state: string
  nationality: string
  number: string
  birth: string
  sex: string
  expiry: string
  family: string
  given: string
}

type Layout = (fields: Fields, columns: number, random: Random) => string[]

const withDigit = (text: string) => text + checkDigit(text)
const padded = (text: string, length: number) => text.padEnd(length, '<').slice(0, length)

const LAYOUTS: Readonly<Record<MrzFormat, Layout>> = {
  TD1(fields, columns, random) {
    const { code, state, nationality, number, birth, sex, expiry } = fields
    const first = code + state + withDigit(number) + inventOptional(15, random)
    const second = withDigit(birth) + sex + withDigit(expiry) + nationality + inventOptional(11, random)
    const protectedText = first.slice(5) + second.slice(0, 7) + second.slice(8, 15) + second.slice(18, 29)
    return [first, second + checkDigit(protectedText), namesOf(fields, columns)]
  },
  TD2(fields, columns, random) {
    const second = personLine(fields) + inventOptional(7, random)
    return [firstLine(fields, columns), second + compositeOf(second)]
  },
  TD3(fields, columns, random) {
    const optional = inventOptional(14, random)
    const isEmpty = optional === '<'.repeat(14)
    const second = personLine(fields) + optional + (isEmpty && random.next() < 0.5 ? '<' : checkDigit(optional))
    return [firstLine(fields, columns), second + compositeOf(second)]
  },
  MRV_A: (fields, columns, random) => [firstLine(fields, columns), personLine(fields) + inventOptional(16, random)],
  MRV_B: (fields, columns, random) => [firstLine(fields, columns), personLine(fields) + inventOptional(8, random)],
  FR_2X36({ family, given, birth, sex }, columns, random) {
    const office = digits(3, random)
    const first = padded(`IDFRA${family}`, 30) + office + digits(3, random)
    const issued = digits(2, random) + String(1 + random.below(12)).padStart(2, '0')
    const second =
      withDigit(issued + office + digits(5, random)) + padded(given.replaceAll('<', '<<'), 14) + withDigit(birth) + sex
    return [padded(first, columns), second + checkDigit(first + second)]
  },
}

function firstLine(fields: Fields, columns: number): string {
  const { code, state } = fields
  return code + state + namesOf(fields, columns - 5)
}

function personLine({ number, nationality, birth, sex, expiry }: Fields): string {
  return withDigit(number) + nationality + withDigit(birth) + sex + withDigit(expiry)
}

/** TD2 and TD3 protect the number, both dates and the optional data together. */
function compositeOf(second: string): string {
  return checkDigit(second.slice(0, 10) + second.slice(13, 20) + second.slice(21))
}

function namesOf({ family, given }: Fields, length: number): string {
  return padded(`${family}<<${given}`, length)
}

function inventFields(format: MrzFormat, random: Random): Fields {
  const state = random.pick(STATES)
  return {
    code: random.pick(DOCUMENT_CODES[format]),
    state: padded(state, 3),
    nationality: padded(random.next() < 0.8 ? state : random.pick(STATES), 3),
    number: padded(mixed(7 + random.below(3), random), 9),
    birth: inventDay(30 + random.below(76), random),
    sex: format === 'FR_2X36' ? random.pick(['M', 'F']) : random.pick(['M', 'F', '<']),
    expiry: inventDay(24 + random.below(12), random),
    family: inventWord(random) + (random.next() < 0.2 ? `<${inventWord(random)}` : ''),
    given: inventWord(random) + (random.next() < 0.5 ? `<${inventWord(random)}` : ''),
  }
}

function inventDay(year: number, random: Random): string {
  return [year % 100, 1 + random.below(12), 1 + random.below(28)].map((part) => String(part).padStart(2, '0')).join('')
}

/** Half of the words are plain letters, so that rare letters and odd neighbours occur as well. */
function inventWord(random: Random): string {
  if (random.next() < 0.5) return Array.from({ length: 3 + random.below(7) }, () => random.pick(LETTERS)).join('')
  return Array.from({ length: 2 + random.below(2) }, () => random.pick(SYLLABLES)).join('')
}

function inventOptional(length: number, random: Random): string {
  return padded(random.next() < 0.5 ? '' : mixed(3 + random.below(length - 3), random), length)
}

function mixed(length: number, random: Random): string {
  return Array.from({ length }, () => random.pick(random.next() < 0.6 ? DIGITS : LETTERS)).join('')
}

function digits(length: number, random: Random): string {
  return Array.from({ length }, () => random.pick(DIGITS)).join('')
}
