import type { DocumentPayload, DocumentRecord, DocumentStep, DocumentType } from '@ostiary/contract'

/** What an area asks about a document. */
export interface DocumentAsk {
  when: 'always' | 'step_up'
  acceptedTypes: readonly DocumentType[]
  expiryGraceDays: number
  age: DocumentStep['age']
  /** The score from which the portrait and the live face count as one person. */
  matchThreshold: number
  reuseCheck: boolean
  /** Whether a face was seen that the portrait has to be compared with. */
  comparesFace: boolean
  /** Whether a device that does not hold the numbers of that face may look at the face again. */
  mayLook: boolean
}

/** A document that was accepted: facts only. */
export interface ReadDocument {
  record: DocumentRecord
  age: NonNullable<DocumentPayload['age']> | null
  /** Of the portrait and the live face, 0 to 1; null while they were not compared. */
  score: number | null
  /** The step that it was read in, and the device, which may still hold the portrait's numbers. */
  nonce: string
  thumbprint: string
}

/** How far the document step has come. */
export interface DocumentProgress {
  /** Tries that are used up. */
  tries: number
  begins: number
  looks: number
  /** The step under way. */
  step: { nonce: string; expiresAtMs: number; submits: number } | null
  /** The last capture of a face that was accepted, and the device that holds its numbers. */
  capture: { nonce: string; thumbprint: string } | null
  read: ReadDocument | null
}

/** What of a progress is about the document. */
interface HasDocument {
  document?: DocumentProgress
}

const NONE: DocumentProgress = { tries: 0, begins: 0, looks: 0, step: null, capture: null, read: null }

export function documentOf(progress: HasDocument | null): DocumentProgress {
  return { ...NONE, ...progress?.document }
}

export function withDocument<P extends HasDocument>(progress: P, change: Partial<DocumentProgress>): P {
  return { ...progress, document: { ...documentOf(progress), ...change } }
}
