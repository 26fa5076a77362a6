import {
  DOCUMENT_LIMITS,
  type DocumentFormat,
  type DocumentPayload,
  type DocumentStep,
  type DocumentType,
  REQUIRED_CHECKS,
} from '@ostiary/contract'

/** What a session has asked of a device about a document. */
export interface AskedDocument {
  acceptedTypes: readonly DocumentType[]
  expiryGraceDays: number
  age: DocumentStep['age']
  /** Null: no face was seen yet. `capture` is null while this device has shown no face that the portrait could be compared with. */
  match: { threshold: number; capture: string | null } | null
  reuseCheck: boolean
}

/**
 * What in a payload contradicts itself, its format or what was asked, in a word for our log; undefined if nothing does. A document that is
 * only bad is no fault: `judgeDocument` names the code for it.
 */
export function faultOf(payload: DocumentPayload, asked: AskedDocument): string | undefined {
  const { type, format, frames, expiry } = payload
  if (!TYPES[format].includes(type)) return 'type'
  if (!hasChecksOf(payload)) return 'checks'
  if (frames < DOCUMENT_LIMITS.equalFramesMin) return 'frames'
  if (expiry === 'grace' && asked.expiryGraceDays === 0) return 'expiry'
  if (expiry === 'none' && ALWAYS_EXPIRES.includes(format)) return 'expiry'
  if (!fitsAge(payload.age, asked.age)) return 'age'
  if (!fitsMatch(payload, asked)) return 'match'
  return payload.reuse !== undefined && !asked.reuseCheck ? 'reuse' : undefined
}

const CARDS = ['passport', 'drivers_license', 'national_id', 'residence_permit', 'other'] as const

/** What each layout is printed on. Cards of both sizes are of any kind: there are passport cards, and licences with such text. */
const TYPES: Readonly<Record<DocumentFormat, readonly DocumentPayload['type'][]>> = {
  TD1: CARDS,
  TD2: CARDS,
  TD3: ['passport', 'other'],
  MRV_A: ['visa'],
  MRV_B: ['visa'],
  FR_2X36: ['national_id', 'other'],
  AAMVA: ['drivers_license', 'national_id'],
}

/** Cards may have no date of expiry; a passport or a visa without one does not exist. */
const ALWAYS_EXPIRES: readonly DocumentFormat[] = ['TD3', 'MRV_A', 'MRV_B']

/** Every check digit that the format has, and none that it does not have. */
function hasChecksOf({ format, checks }: DocumentPayload): boolean {
  const required = REQUIRED_CHECKS[format]
  const isOptional = (name: string) => name === 'optional' && required.length > 0
  return (
    required.every((name) => checks[name] !== undefined) &&
    Object.keys(checks).every((name) => required.some((one) => one === name) || isOptional(name))
  )
}

/** Years come only where they were asked for, and then agree with the comparison. An age that is missing is no fault: -30 says so. */
function fitsAge(age: DocumentPayload['age'], asked: AskedDocument['age']): boolean {
  if (!age) return true
  if (!asked) return false
  const { result, years } = age
  const isWhole = Number.isInteger(asked.threshold)
  if (result === 'at' && !isWhole) return false
  if (asked.format === 'threshold') return years === undefined
  if (years === undefined) return false
  if (years === asked.threshold) return result === 'at'
  // Somebody of 17 years may be below 17.5 and may be above it.
  if (!isWhole && years === Math.floor(asked.threshold)) return true
  return result === (years > asked.threshold ? 'above' : 'below')
}

/** A comparison comes only when there is a face to compare with, and names it. A comparison that is missing is no fault: -27 says so. */
function fitsMatch({ match }: DocumentPayload, { match: asked }: AskedDocument): boolean {
  if (!match) return true
  return asked !== null && asked.capture !== null && match.capture === asked.capture
}
