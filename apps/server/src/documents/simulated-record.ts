import {
  DOCUMENT_CONSENT_VERSION,
  DOCUMENT_LIMITS,
  type DocumentFormat,
  type DocumentRecord,
  type DocumentType,
  REQUIRED_CHECKS,
} from '@ostiary/contract'

const FORMATS: Readonly<Record<DocumentType, DocumentFormat>> = {
  passport: 'TD3',
  drivers_license: 'AAMVA',
  national_id: 'TD1',
  residence_permit: 'TD1',
  other: 'TD1',
}

/**
 * What a result says about the document of a test session whose end a test key chose: a passport, or the first type that the tenant accepts.
 * Hosts test their code with it, so it has every field that a real one has.
 */
export function simulatedRecord(acceptedTypes: readonly DocumentType[], now: Date): DocumentRecord {
  const type = acceptedTypes.includes('passport') ? 'passport' : (acceptedTypes[0] ?? 'passport')
  const format = FORMATS[type]
  return {
    type,
    format,
    expiry: 'valid',
    checksHeld: [...REQUIRED_CHECKS[format]],
    equalFrames: DOCUMENT_LIMITS.equalFramesMin,
    confidence: 1,
    consent: { version: DOCUMENT_CONSENT_VERSION, language: 'en', at: now.toISOString() },
  }
}
