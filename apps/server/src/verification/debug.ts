import { type DebugEntry, VERIFICATION_LIMITS } from '@ostiary/contract'
import type { Progress } from '../sessions/index.ts'
import type { VerificationRequest } from './request.ts'

/** Something worth knowing while a flow is looked into. Never an image, a vector or the id of a person. */
export interface DebugNote {
  at: Date
  /** 1: states. 2: calls and refusals, with their codes. 3: the judge's numbers. */
  level: 1 | 2 | 3
  event: string
  facts?: Readonly<Record<string, unknown>>
}

type Asked = Pick<VerificationRequest, 'debugLevel'>

/** The progress with a note, where the host asked for notes of this level. */
export function noteDebug(progress: Progress, request: Asked, note: DebugNote): Progress {
  const { verification } = progress
  if (!verification) return progress
  const debug = withNote(verification.debug, request, note)
  return debug === verification.debug ? progress : { ...progress, verification: { ...verification, debug } }
}

/** Of a very long story the beginning is kept, and its end. */
export function withNote(entries: DebugEntry[], { debugLevel }: Asked, note: DebugNote): DebugEntry[] {
  if (note.level > debugLevel) return entries
  const { at, level, event, facts } = note
  const entry = { at: at.toISOString(), level, event, ...(facts && { facts: { ...facts } }) }
  return [...entries.slice(0, VERIFICATION_LIMITS.debugEntries - 1), entry]
}
