import { MAX_WORDS, type Word } from '../names/tokens.ts'
import type { Expansion } from './expand.ts'
import { createMasks, type Masks } from './masks.ts'

/** The reading of a customer's name that is searched for. Reused for all searches, so that a search allocates little. */
export interface Query {
  words: readonly Word[]
  count: number
  /** Role numbers of the words. */
  roles: Uint8Array
  /** Per word, the words of the list that it may stand for. */
  expansions: Expansion[]
  /** Per word, where the numbers of the words end that are related to the query. Behind them in the expansion are less similar ones. */
  relatedEnd: Uint32Array
  masks: Masks
  scoreMin: number
  /** The least similarity that a word must have to be related to the query: 0 unless a less similar one cannot matter. */
  relatedMin: number
  /** Words that must match exactly, as a bit mask. */
  exactMask: number
  /** Words that are not full. They find no names, and count as matched until the words of a name are compared. */
  always: number
  /** The letter of each initial, and -1 for other words. */
  initials: Int16Array
}

export const createQuery = (): Query => ({
  words: [],
  count: 0,
  roles: new Uint8Array(MAX_WORDS),
  expansions: Array.from({ length: MAX_WORDS }, () => ({ numbers: new Uint32Array(0), from: 0, count: 0 })),
  relatedEnd: new Uint32Array(MAX_WORDS),
  masks: createMasks()(new Uint8Array(0), 0, 0, 1),
  scoreMin: 0,
  relatedMin: 0,
  exactMask: 0,
  always: 0,
  initials: new Int16Array(MAX_WORDS),
})
