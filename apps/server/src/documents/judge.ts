import {
  DOCUMENT_CHECKS,
  DOCUMENT_LIMITS,
  type DocumentHint,
  type DocumentPayload,
  type DocumentRecord,
  localeOf,
  RISK_FLAG_CODES,
  type RiskFlagCode,
  type SessionCodeName,
} from '@ostiary/contract'
import { checkDocumentLog, type LogState } from '../capture-checks/index.ts'
import { type AskedDocument, faultOf } from './consistency.ts'

export interface DocumentCase {
  payload: DocumentPayload
  asked: AskedDocument
  log: LogState
  now: Date
  acceptReader(reader: DocumentPayload['reader']): boolean
}

/** Why a document does not count. Of several reasons the first in this list is the answer. */
export const DOCUMENT_FAILURES = [
  'VIDEO_SPOOF',
  'DOCUMENT_TAMPERED',
  'MODEL_LOAD_FAILED',
  'DOCUMENT_UNSUPPORTED',
  'DOCUMENT_UNREADABLE',
  'DOB_NOT_FOUND',
  'DOCUMENT_EXPIRED',
  'FACE_NOT_MATCH',
] as const satisfies readonly SessionCodeName[]
export type DocumentFailure = (typeof DOCUMENT_FAILURES)[number]

export const isDocumentFailure = (name: SessionCodeName): boolean => DOCUMENT_FAILURES.some((one) => one === name)

/** What is kept of a document. */
export interface KnownDocument {
  record: DocumentRecord
  age: NonNullable<DocumentPayload['age']> | null
  /** Of the portrait and the live face, 0 to 1; null when they were not compared. */
  score: number | null
}

export type DocumentJudgement =
  /** The payload contradicts itself or what was asked, in a word for our log. No page of ours sends such a payload. */
  | { fault: string }
  | {
      /** In the order of the contract's table. */
      flags: RiskFlagCode[]
      failure: DocumentFailure | null
      /** Null unless the document counts, or only its face is another one. */
      document: KnownDocument | null
    }

/**
 * Judges what a device says about a document. Each fact is a claim, so this proves nothing: it refuses what contradicts itself, the
 * format, or what was asked. A check digit that does not hold never passes.
 */
export function judgeDocument(given: DocumentCase): DocumentJudgement {
  const { payload, asked } = given
  const fault = faultOf(payload, asked)
  if (fault !== undefined) return { fault }
  const language = localeOf(payload.consent.locale)
  if (language === undefined) return { fault: 'consent' }
  const { flags, failures } = findingsOf(given)
  const failure = DOCUMENT_FAILURES.find((name) => failures.has(name)) ?? null
  const isKept = failure === null || failure === 'FACE_NOT_MATCH'
  return {
    flags: RISK_FLAG_CODES.filter((code) => flags.has(code)),
    failure,
    document: isKept ? knownDocument(given, language) : null,
  }
}

/** All rules run even after one has failed, because a person who investigates later needs all flags. */
function findingsOf({ payload, asked, log, acceptReader }: DocumentCase) {
  const { type, checks, expiry, confidence, age, match, hints } = payload
  const findings = checkDocumentLog(payload, log)
  const flags = new Set<RiskFlagCode>(flagsOfHints(hints))
  const failures = new Set<SessionCodeName>()
  for (const { flag, failure } of findings) {
    if (flag) flags.add(flag)
    if (failure) failures.add(failure)
  }
  if (!acceptReader(payload.reader)) {
    flags.add('BH_MODEL_MISMATCH')
    failures.add('MODEL_LOAD_FAILED')
  }
  if (Object.values(checks).includes(false)) failures.add('DOCUMENT_TAMPERED')
  if (type === 'visa' || !asked.acceptedTypes.includes(type)) failures.add('DOCUMENT_UNSUPPORTED')
  if (confidence < DOCUMENT_LIMITS.confidenceMin || (asked.match && !match)) failures.add('DOCUMENT_UNREADABLE')
  if (asked.age && !age) failures.add('DOB_NOT_FOUND')
  if (expiry === 'expired') failures.add('DOCUMENT_EXPIRED')
  if (asked.match && match && scoreOf(match.score) < asked.match.threshold) failures.add('FACE_NOT_MATCH')
  return { flags, failures }
}

function knownDocument({ payload, now }: DocumentCase, language: string): KnownDocument | null {
  const { type, format, age, expiry, checks, frames, confidence, match, consent } = payload
  if (type === 'visa') return null
  return {
    record: {
      type,
      format,
      expiry,
      checksHeld: DOCUMENT_CHECKS.filter((name) => checks[name]),
      equalFrames: frames,
      confidence: confidence / 1000,
      consent: { version: consent.version, language, at: now.toISOString() },
    },
    age: age ?? null,
    score: match ? scoreOf(match.score) : null,
  }
}

/** The scale of `faceMatchThreshold`: the cosine, cut to 0 to 1. */
export const scoreOf = (thousandths: number): number => Math.max(0, thousandths / 1000)

const HINT_FLAGS: Readonly<Record<DocumentHint, RiskFlagCode>> = {
  screen: 'DO_SCREEN',
  copy: 'DO_COPY',
  pasted_portrait: 'DO_PASTED_PORTRAIT',
  sides_disagree: 'DO_SIDES_DISAGREE',
  no_portrait: 'DO_NO_PORTRAIT',
}

/** A hint raises a flag and refuses nothing: its false alarms are measured on drawn pictures only (docs/accuracy/documents.md). */
function flagsOfHints(hints: readonly DocumentHint[]): RiskFlagCode[] {
  return hints.map((hint) => HINT_FLAGS[hint])
}
