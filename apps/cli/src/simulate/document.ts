import { type AgeRequirement, type AgeResult, DOCUMENT_FORMATS } from '@ostiary/contract'
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
  return { ...(known && { format: known }), ...(fault !== undefined && { fault }) }
}

/** The steps that a created age session asks for; undefined leaves the default. */
export function readOrder(invocation: Invocation): AgeRequirement[] | undefined {
  const order = text(invocation, 'order')
  if (order === undefined) return undefined
  const requirements = ORDERS[order]
  if (!requirements) throw new UsageError(`--order must be one of ${Object.keys(ORDERS).join(', ')}`)
  return [...requirements]
}

function isFault(name: string): name is DocumentFault {
  return Object.hasOwn(DOCUMENT_FAULTS, name)
}

/** The lines about the document that a result has; none where no document was read. */
export function describeDocument({ document, result }: Pick<AgeResult, 'document' | 'result'>): string[] {
  if (!document) return []
  const age = result.documentAge?.thresholdResult ?? `${result.documentAge?.exact} years`
  const face = result.faceMatch === null ? 'not compared' : result.faceMatch ? 'the same face' : 'another face'
  return [`  document   ${document.type} (${document.format}), ${age}, ${face}`]
}
