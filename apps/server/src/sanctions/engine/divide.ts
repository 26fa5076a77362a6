/** Which words of a query may be two words of the list. Most of the work is seeing that hardly any are. */
import type { Word } from '../names/tokens.ts'
import { wordKey } from './build.ts'
import { hashPair } from './hash.ts'
import type { NameIndex } from './name-index.ts'
import { divisionsOf } from './pair.ts'

const KEPT_DIVISIONS = 100_000
const NONE: Word[][] = []

/** Whether the two words may stand in one name. A bit may be set by chance; one that is not set says no for sure. */
export function mayStandTogether({ pairBits }: Pick<NameIndex, 'pairBits'>, a: number, b: number): boolean {
  const bit = hashPair(a, b) & (pairBits.length * 32 - 1)
  return (((pairBits[bit >>> 5] as number) >>> (bit & 31)) & 1) === 1
}

export interface Divider {
  knows(word: Word): boolean
  /** Whether any name may have all these words. */
  mayMeet(parts: readonly Word[]): boolean
  /** Of the divisions of a word, those into words that some name has. */
  divisions(text: string): Word[][]
}

export function createDivider(index: NameIndex, idOf: (key: string) => number): Divider {
  const kept = new Map<string, Word[][]>()
  const knows = (word: Word) => idOf(wordKey(word)) >= 0
  const mayMeet = (parts: readonly Word[]) => {
    const [one, other] = parts.filter(({ role }) => role === 'full').map((word) => idOf(wordKey(word)))
    return one === undefined || other === undefined || mayStandTogether(index, one, other)
  }
  return {
    knows,
    mayMeet,
    divisions(text) {
      const known = kept.get(text)
      if (known) return known
      const found = divisionsOf(text).filter((parts) => parts.every(knows) && mayMeet(parts))
      // Kept, as customer files repeat their words.
      if (kept.size >= KEPT_DIVISIONS) kept.clear()
      kept.set(text, found.length === 0 ? NONE : found)
      return found
    },
  }
}
