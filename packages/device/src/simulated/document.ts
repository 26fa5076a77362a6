import {
  type DocumentFormat,
  type DocumentPayload,
  type DocumentStep,
  REQUIRED_CHECKS,
  SESSION_CODES,
  SIMULATED_READER,
} from '@ostiary/contract'
import type { DocumentFacts } from '../document-calls.ts'
import { between, type Random, randomDigest } from './randomness.ts'

/** What is wrong with an invented document. */
export const DOCUMENT_FAULTS = {
  minor: 'its date of birth makes the person 16',
  expired: 'it expired long ago (-26)',
  unreadable: 'it cannot be read (-27)',
  unsupported: 'it is a visa, which proves no identity (-28)',
  tampered: 'a check digit does not fit (-29); an AAMVA barcode has none',
  'no-birth-date': 'it has no date of birth (-30 where an age is asked)',
  'wrong-person': 'its portrait shows somebody else (-9); needs a face to compare with',
  screen: 'it is a picture on a screen (a flag)',
} as const
export type DocumentFault = keyof typeof DOCUMENT_FAULTS

export interface SimulatedDocument {
  format?: DocumentFormat
  /** By its date of birth; that of the person when absent. */
  ageYears?: number
  fault?: DocumentFault
}

interface Reading {
  step: DocumentStep
  ageYears: number
  random: Random
  locale: string
  /** The nonce of the capture whose face is compared with the portrait. Undefined if no face was captured yet. */
  capture: string | undefined
}

const MINOR_YEARS = 16
const TYPES = {
  TD1: 'national_id',
  TD2: 'national_id',
  TD3: 'passport',
  MRV_A: 'visa',
  MRV_B: 'visa',
  FR_2X36: 'national_id',
  AAMVA: 'drivers_license',
} as const satisfies Record<DocumentFormat, DocumentPayload['type']>

/** A report instead of facts: the code that a device sends when there is nothing to send. */
export interface UnreadDocument {
  failure: number
}

/** The facts that a page would send about an invented document, in the units of the contract. */
export function simulateDocument(
  { format = 'TD3', fault, ageYears }: SimulatedDocument,
  reading: Reading,
): DocumentFacts | UnreadDocument {
  if (fault === 'unreadable') return { failure: SESSION_CODES.DOCUMENT_UNREADABLE.code }
  const { step, random, locale, capture } = reading
  // Where no age is asked, nobody needs the date.
  if (fault === 'no-birth-date' && step.age) return { failure: SESSION_CODES.DOB_NOT_FOUND.code }
  const shown = fault === 'unsupported' ? 'MRV_A' : format
  const years = Math.floor(fault === 'minor' ? MINOR_YEARS : (ageYears ?? reading.ageYears))
  const checks = Object.fromEntries(REQUIRED_CHECKS[shown].map((name) => [name, true]))
  const likeness = fault === 'wrong-person' ? between(random, 0, 0.2) : between(random, 0.6, 0.8)
  return {
    reader: SIMULATED_READER,
    type: TYPES[shown],
    format: shown,
    ...(step.age && { age: ageOf(years, step.age) }),
    expiry: fault === 'expired' ? 'expired' : 'valid',
    checks: fault === 'tampered' ? { ...checks, birth: false } : checks,
    frames: Math.round(between(random, 2, 5)),
    confidence: Math.round(between(random, 960, 999)),
    sides: shown === 'TD1' || shown === 'AAMVA' ? 2 : 1,
    ...(capture !== undefined && { match: { score: Math.round(1000 * likeness), capture } }),
    hints: fault === 'screen' ? ['screen'] : [],
    // Of no document: with the same seed it is the same, so that repeated use can be tried.
    ...(step.reuseKey !== undefined && { reuse: randomDigest(random) }),
    consent: { version: '1', locale },
  }
}

/** As the service compares: at a whole threshold for the year after that birthday. */
function ageOf(
  years: number,
  { threshold, format }: NonNullable<DocumentStep['age']>,
): NonNullable<DocumentPayload['age']> {
  const other = years >= threshold ? 'above' : 'below'
  return { result: years === threshold ? 'at' : other, ...(format !== 'threshold' && { years }) }
}

export function isUnread(shown: DocumentFacts | UnreadDocument): shown is UnreadDocument {
  return 'failure' in shown
}
