/** Decides from the reads of several frames whether the text of a document is certain. */
import { digitChecks } from '../mrz/check-digits.ts'
import { findDocumentKind } from '../mrz/document-codes.ts'
import type { MrzRead } from '../types.ts'

/**
 * Chosen on some 3,700 tuning frames at all levels (seeds from 4,300,000 and 4,400,000, never those that are reported). Of the reads that were wrong
 * though every check digit held, nearly all had the error in a name, which no digit covers. Looks from beside disagreed about most of them; those
 * about which they agreed had at most 0.63 there, and right reads of documents held still at least 0.84.
 */
export const ACCEPTANCE = {
  confidenceMin: 0.93,
  leastConfidenceMin: 0.5,
  /** Names, document code and issuing state have no check digit, so they have to be more certain by themselves. */
  leastUncheckedMin: 0.8,
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
export function isClear({ format, lines, confidence, leastConfidence, leastUnchecked, isSteady }: MrzRead): boolean {
  return (
    isSteady &&
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
