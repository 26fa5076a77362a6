/** Decides from the reads of several frames whether the text of a document is certain. */
import { digitChecks } from '../mrz/check-digits.ts'
import { findDocumentKind } from '../mrz/document-codes.ts'
import type { MrzRead } from '../types.ts'

/**
 * Chosen on 1,776 tuning frames at all levels (seeds from 3,900,000, never those that are reported). Of 52 reads that were wrong though every check
 * digit held, nearly all had the error in a name, which no digit covers. The most certain of them had 0.71 there, and 0.59 among those above the
 * other two values; right reads of documents held still had at least 0.74.
 */
export const ACCEPTANCE = {
  confidenceMin: 0.93,
  leastConfidenceMin: 0.4,
  /** Names, document code and issuing state have no check digit, so they have to be more certain by themselves. */
  leastUncheckedMin: 0.73,
  equalFrames: 2,
  /** A check digit that fails is a claim about the document, so it takes more to believe it. */
  failedDigit: { confidenceMin: 0.95, leastConfidenceMin: 0.75, equalFrames: 4 },
} as const

export type Acceptance =
  | { state: 'searching' }
  /** Every check digit holds. */
  | { state: 'accepted'; read: MrzRead; equalFrames: number }
  /** The text is certain and at least one check digit does not fit it. */
  | { state: 'digit_failed'; read: MrzRead; equalFrames: number }

/** Takes the reads of all frames so far, in order; frames without a read may be left out. */
export function acceptReads(reads: readonly MrzRead[]): Acceptance {
  const clear = reads.filter(isClear)
  const groups = Map.groupBy(clear, textOf)
  for (const group of groups.values()) {
    const [read] = group.toSorted((a, b) => b.confidence - a.confidence)
    if (!read) continue
    const equalFrames = group.length
    if (holds(read) && equalFrames >= ACCEPTANCE.equalFrames) return { state: 'accepted', read, equalFrames }
  }
  for (const group of groups.values()) {
    const certain = group.filter(({ confidence, leastConfidence }) => {
      const { failedDigit } = ACCEPTANCE
      return confidence >= failedDigit.confidenceMin && leastConfidence >= failedDigit.leastConfidenceMin
    })
    const [read] = certain
    if (read && !holds(read) && certain.length >= ACCEPTANCE.failedDigit.equalFrames)
      return { state: 'digit_failed', read, equalFrames: certain.length }
  }
  return { state: 'searching' }
}

/** What one frame can contribute: certain enough, and a document that the lists of ICAO know. */
export function isClear({ format, lines, confidence, leastConfidence, leastUnchecked }: MrzRead): boolean {
  return (
    confidence >= ACCEPTANCE.confidenceMin &&
    leastConfidence >= ACCEPTANCE.leastConfidenceMin &&
    leastUnchecked >= ACCEPTANCE.leastUncheckedMin &&
    findDocumentKind(format, lines) !== undefined
  )
}

/** A single frame that would be accepted if another one said the same. */
export function isAcceptable(read: MrzRead): boolean {
  return isClear(read) && holds(read)
}

const holds = ({ format, lines }: MrzRead) => digitChecks(format, lines).every((check) => check.holds)
const textOf = ({ format, lines }: MrzRead) => `${format}\n${lines.join('\n')}`
