import { birthsInRemarks } from './births.ts'
import { countriesNamed } from './countries.ts'
import type { BirthDate } from './listed.ts'

export interface Remarks {
  births: BirthDate[]
  countries: string[]
  /** The classic files mark an alias as weak by naming it here, in quotation marks, and not among the aliases. */
  weakNames: string[]
}

/** The length at which OFAC cuts the remarks, also within a word. The rest is in the comments file. */
const CUT_AT = 1_000
const WEAK_NAME = /^(?:alt\. )?[afn]\.?k\.?a\.? '(.+)'$/i
const COUNTRY = /^(?:alt\. )?(?:nationality|citizen) (?:of registration )?(.+)$/i

/** Appends the text of the comments file to the remarks. Files of different days may not match: then nothing is appended. */
export function joinRemarks(remarks: string, comments: readonly string[]): string {
  const rest = comments.join('')
  return rest === '' || remarks.length >= CUT_AT ? remarks + rest : `${remarks};${rest}`
}

export function readRemarks(remarks: string): Remarks {
  const parts = remarks.split(';').map((part) => part.trim().replace(/\.$/, ''))
  const found = (pattern: RegExp) => parts.flatMap((part) => pattern.exec(part)?.[1] ?? [])
  return { births: birthsInRemarks(remarks), countries: countriesNamed(found(COUNTRY)), weakNames: found(WEAK_NAME) }
}

/** `LAST, First Middle, Jr.` to `First Middle LAST Jr.`. Particles stay with the part that they are written in. */
export function turnPersonName(name: string): string {
  const parts = name.split(',').map((part) => part.trim())
  const suffixes = parts.slice(1).filter((part) => SUFFIX.test(part))
  const [last = '', ...first] = parts.filter((part, index) => index === 0 || !SUFFIX.test(part))
  return [...first, last, ...suffixes].join(' ')
}

const SUFFIX = /^(?:jr|sr|ii|iii|iv)\.?$/i
