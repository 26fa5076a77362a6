/** Finds the query words that may be two words of the list. Very few are, so most of the work is to rule the others out. */
import type { Word } from '../names/tokens.ts'
import { wordKey } from './build.ts'
import { hashPair } from './hash.ts'
import type { NameIndex } from './name-index.ts'
import { divisionsOf, MIN_JOINED_LENGTH } from './pair.ts'

const CACHED_DIVISIONS_MAX = 100_000
const NONE: Word[][] = []

/** Whether some name may contain both words. A set bit may be a hash collision; a clear bit is a certain no. */
export function mayShareName({ pairBits }: Pick<NameIndex, 'pairBits'>, a: number, b: number): boolean {
  return sharedBit(pairBits, a, b) === 1
}

/** The same as a number, for loops that must not branch. */
export function sharedBit(pairBits: Uint32Array, a: number, b: number): number {
  const bit = hashPair(a, b) & (pairBits.length * 32 - 1)
  return ((pairBits[bit >>> 5] as number) >>> (bit & 31)) & 1
}

export interface Divider {
  knows(word: Word): boolean
  /** Whether some name may contain all these words. */
  mayOccurTogether(parts: readonly Word[]): boolean
  /** The divisions of a word whose parts may occur together in a name. */
  divisions(text: string): Word[][]
}

export function createDivider(index: NameIndex, idOf: (key: string) => number): Divider {
  const kept = new Map<string, Word[][]>()
  const knows = (word: Word) => idOf(wordKey(word)) >= 0
  const mayOccurTogether = (parts: readonly Word[]) => {
    const [one, other] = parts.filter(({ role }) => role === 'full').map((word) => idOf(wordKey(word)))
    return one === undefined || other === undefined || mayShareName(index, one, other)
  }
  return {
    knows,
    mayOccurTogether,
    divisions(text) {
      if (text.length < MIN_JOINED_LENGTH) return NONE
      const known = kept.get(text)
      if (known) return known
      const found = divisionsOf(text).filter((parts) => parts.every(knows) && mayOccurTogether(parts))
      // Cached because customer files repeat their words.
      if (kept.size >= CACHED_DIVISIONS_MAX) kept.clear()
      kept.set(text, found.length === 0 ? NONE : found)
      return found
    },
  }
}
