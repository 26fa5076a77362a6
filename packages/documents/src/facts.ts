import { addDays, ageOn } from './day.ts'
import type { Day, DigitCheck, DocumentKind, DocumentText } from './types.ts'

/** What a session asks of a document; part of the contract's `DocumentStep`. */
export interface DocumentQuestion {
  today: Day
  /** Null when the session asks for no age. A threshold with decimals is a moment between two birthdays. */
  age: { threshold: number; format: 'threshold' | 'exact' | 'both' } | null
  expiryGraceDays: number
  acceptedTypes: readonly DocumentKind[]
}

/** What may leave the device about a document: no name, no number, no date. Named as in the contract's `DocumentPayload`. */
export interface DocumentClaims {
  type: DocumentKind
  format: DocumentText['source']
  age?: AgeClaim
  expiry: ExpiryState
  checks: Readonly<Partial<Record<DigitCheck['of'], boolean>>>
}

export interface AgeClaim {
  result: 'above' | 'at' | 'below'
  /** Whole years; only where the session asked for them. */
  years?: number
}

export type ExpiryState = 'valid' | 'grace' | 'expired' | 'none'

/** Why a document that was read does not count. */
export type DocumentProblem = 'unsupported' | 'tampered' | 'noBirthDate' | 'expired'

/** The first problem of a document: one that cannot count at all, one that contradicts itself, one that says too little, one too old. */
export function findProblem(text: DocumentText, question: DocumentQuestion): DocumentProblem | undefined {
  if (text.kind === 'visa' || !question.acceptedTypes.includes(text.kind)) return 'unsupported'
  if (text.checks.some(({ holds }) => !holds)) return 'tampered'
  if (question.age && !hasBirth(text, question)) return 'noBirthDate'
  return expiryState(text.expiry, question) === 'expired' ? 'expired' : undefined
}

/** A document with a problem has claims too, and they say so. */
export function toClaims(text: DocumentText, question: DocumentQuestion): DocumentClaims {
  return {
    type: text.kind,
    format: text.source,
    ...(question.age && hasBirth(text, question) && { age: ageClaim(ageOn(question.today, text.birth), question.age) }),
    expiry: expiryState(text.expiry, question),
    checks: Object.fromEntries(text.checks.map(({ of, holds }) => [of, holds])),
  }
}

/** A document is valid on the day of its expiry too. */
export function expiryState(
  expiry: Day | undefined,
  { today, expiryGraceDays }: Pick<DocumentQuestion, 'today' | 'expiryGraceDays'>,
): ExpiryState {
  if (expiry === undefined) return 'none'
  if (today <= expiry) return 'valid'
  return today <= addDays(expiry, expiryGraceDays) ? 'grace' : 'expired'
}

/** As the server compares ages: a person is at a whole threshold for a year, and never at one with decimals. */
export function compareAge(ageYears: number, threshold: number): AgeClaim['result'] {
  if (Math.floor(ageYears) === threshold) return 'at'
  return ageYears >= threshold ? 'above' : 'below'
}

function ageClaim(ageYears: number, { threshold, format }: NonNullable<DocumentQuestion['age']>): AgeClaim {
  return {
    result: compareAge(ageYears, threshold),
    ...(format !== 'threshold' && { years: Math.floor(ageYears) }),
  }
}

function hasBirth(text: DocumentText, { today }: DocumentQuestion): text is DocumentText & { birth: Day } {
  return text.birth !== undefined && text.birth <= today
}
