import {
  type AgeRequirement,
  type AgeResult,
  DOCUMENT_FORMATS,
  type DocumentRecord,
  REQUIRED_CHECKS,
} from '@ostiary/contract'
import { DOCUMENT_FAULTS, type DocumentFault, type SimulatedDocument } from '@ostiary/device/simulated'
import { type Invocation, text, UsageError } from '../command.ts'

/** What a simulated person holds: an invented document, or none. */

const ORDERS: Readonly<Record<string, readonly AgeRequirement[]>> = {
  'face-first': ['face', 'identity_document'],
  'document-first': ['identity_document', 'face'],
  alone: ['identity_document'],
}

export const DOCUMENT_FAULT_LINES = Object.entries(DOCUMENT_FAULTS).map(
  ([name, meaning]) => `  ${name.padEnd(13)} ${meaning}`,
)

/** `--document`, or `--document expired`. Undefined: the person has none, and a session that asks for one stops there. */
export function readDocument(invocation: Invocation): SimulatedDocument | undefined {
  const [fault, ...rest] = invocation.args
  const format = text(invocation, 'document-format')
  if (invocation.options.document !== true) {
    if (format !== undefined) throw new UsageError('--document-format needs --document')
    if (fault !== undefined) throw new UsageError(`simulate takes no ${fault}`)
    return undefined
  }
  if (rest.length > 0 || (fault !== undefined && !isFault(fault))) {
    throw new UsageError(`--document may be followed by one of ${Object.keys(DOCUMENT_FAULTS).join(', ')}`)
  }
  const known = DOCUMENT_FORMATS.find((one) => one === format)
  if (format !== undefined && !known) {
    throw new UsageError(`--document-format must be one of ${DOCUMENT_FORMATS.join(', ')}`)
  }
  if (fault === 'tampered' && known && REQUIRED_CHECKS[known].length === 0) {
    throw new UsageError(
      `--document tampered needs check digits, and ${known} has none: choose another --document-format`,
    )
  }
  if (fault === 'wrong-person' && text(invocation, 'order') === 'alone') {
    throw new UsageError('--document wrong-person needs a face to compare with, and --order alone asks for none')
  }
  return { ...(known && { format: known }), ...(fault !== undefined && { fault }) }
}

/** The steps that a created age session asks for; undefined leaves the default. */
export function readOrder(invocation: Invocation): AgeRequirement[] | undefined {
  const order = text(invocation, 'order')
  if (order === undefined) return undefined
  const requirements = ORDERS[order]
  if (!requirements) throw new UsageError(`--order must be one of ${Object.keys(ORDERS).join(', ')}`)
  if (text(invocation, 'type') !== undefined) {
    throw new UsageError('--order is for age sessions; with --type ENROLL --document the face always comes first')
  }
  return [...requirements]
}

function isFault(name: string): name is DocumentFault {
  return Object.hasOwn(DOCUMENT_FAULTS, name)
}

/** The line about the document of an age result; none where no document was read. */
export function describeDocument({ document, result }: Pick<AgeResult, 'document' | 'result'>): string[] {
  const age = result.documentAge?.thresholdResult ?? `${result.documentAge?.exact} years`
  // The last release has stored null where nothing was compared.
  const face = result.faceMatch == null ? 'not compared' : result.faceMatch ? 'the same face' : 'another face'
  return documentLine(document, [age, face])
}

/** The same of an ENROLL. It asks for no age, and only a document with the same face is in its webhook. */
export function describeEnrolledDocument(document: DocumentRecord | undefined): string[] {
  return documentLine(document, ['the same face'])
}

function documentLine(document: DocumentRecord | null | undefined, facts: readonly string[]): string[] {
  return document ? [`  document   ${[`${document.type} (${document.format})`, ...facts].join(', ')}`] : []
}
