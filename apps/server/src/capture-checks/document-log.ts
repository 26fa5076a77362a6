import type { DocumentPayload } from '@ostiary/contract'
import type { LogState } from './event-log.ts'
import { currentDocument } from './event-rules.ts'
import { type Finding, injected } from './finding.ts'

/**
 * The log must describe this document: as many sides were shown as the facts are of, text was read, and the user saw the values last of all before
 * they were sent.
 */
export function checkDocumentLog(
  { log: end, sides }: Pick<DocumentPayload, 'log' | 'sides'>,
  log: LogState,
): Finding[] {
  const entries = currentDocument(log.entries)
  const last = (type: 'document_read' | 'document_confirmed') => entries.findLast((entry) => entry.type === type)
  const shownSides = new Set(entries.flatMap(({ type, n }) => (type === 'document_shown' ? [n] : [])))
  const read = last('document_read')
  const confirmed = last('document_confirmed')
  const matchesLog =
    read !== undefined &&
    confirmed !== undefined &&
    read.seq < confirmed.seq &&
    shownSides.size >= sides &&
    end.seq === log.seq &&
    end.hash === log.hash
  return [
    ...(log.flags.includes('BH_CHAIN_BROKEN') ? [injected('BH_CHAIN_BROKEN')] : []),
    ...(matchesLog ? [] : [injected('BH_RESULT_NO_CAPTURE')]),
  ]
}
