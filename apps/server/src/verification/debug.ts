import { type DebugEntry, VERIFICATION_LIMITS } from '@ostiary/contract'
import type { OwnProgress } from './progress.ts'
import type { VerificationRequest } from './request.ts'

/** What helps to find out what happened in a flow. Never an image, a vector or the id of a person. */
export interface DebugNote {
  at: Date
  /** 1: states. 2: calls and refusals, with their codes. 3: the judge's numbers. */
  level: 1 | 2 | 3
  event: string
  facts?: Readonly<Record<string, unknown>>
}

type Asked = Pick<VerificationRequest, 'debugLevel'>

/** The progress with a note, where the host asked for notes of this level. */
export function noteDebug(progress: OwnProgress, request: Asked, note: DebugNote): OwnProgress {
  const { own } = progress
  if (!own) return progress
  const debug = withNote(own.debug, request, note)
  return debug === own.debug ? progress : { ...progress, own: { ...own, debug } }
}

/** Of a very long list the first entries are kept, and the last one. */
export function withNote(entries: DebugEntry[], { debugLevel }: Asked, note: DebugNote): DebugEntry[] {
  if (note.level > debugLevel) return entries
  const { at, level, event, facts } = note
  const entry = { at: at.toISOString(), level, event, ...(facts && { facts: { ...facts } }) }
  return [...entries.slice(0, VERIFICATION_LIMITS.debugEntries - 1), entry]
}
