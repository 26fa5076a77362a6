import type { DocumentStep } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import type { DocumentFacts } from '@ostiary/device'
import type { DocumentProblem, DocumentStage, DocumentView } from './document-types.ts'

/** What the service, or a report of this device, said about the last document. */
export function problemOf(errors: readonly number[], { expiredLately }: { expiredLately: boolean }) {
  const [code] = errors
  if (code === undefined) return null
  if (code === codes.DOCUMENT_EXPIRED && expiredLately) return 'expired_lately'
  return PROBLEM_OF.get(code) ?? 'neutral'
}

const PROBLEM_OF: ReadonlyMap<number, DocumentProblem> = new Map([
  [codes.DOCUMENT_EXPIRED, 'expired'],
  [codes.DOCUMENT_UNREADABLE, 'unreadable'],
  [codes.DOCUMENT_UNSUPPORTED, 'unsupported'],
  [codes.DOB_NOT_FOUND, 'no_birth_date'],
  [codes.FACE_NOT_MATCH, 'other_face'],
])

/** The screen after a document was read: what will be sent, or what could make it better before a try counts. */
export function stageAfter(
  facts: Pick<DocumentFacts, 'hints' | 'match'>,
  step: DocumentStep,
  mayAskForReal: boolean,
): DocumentStage {
  // Asked once. A sign of a screen is a hint, and refuses nobody.
  if (mayAskForReal && facts.hints.includes('screen')) return 'problem'
  if (!facts.match || !step.match) return 'review'
  const score = facts.match.score / 1000
  return score < step.match.threshold && score >= step.match.betterLightFrom ? 'light' : 'review'
}

/** Why the service will probably refuse it. The user may use another document, which costs no try. */
export function doubtOf(
  { expiry, match }: Pick<DocumentFacts, 'expiry' | 'match'>,
  step: DocumentStep,
): DocumentView['doubt'] {
  if (expiry === 'expired') return 'expired'
  return match && step.match && match.score / 1000 < step.match.threshold ? 'other_face' : null
}
