import type { Script } from '../names/transliterate.ts'

/**
 * The index of a list. It consists of typed arrays only, so that all worker threads share one copy and a snapshot loads
 * without conversion. Each pair of word and role is stored once, under one id. Ids are in alphabetical order: similar
 * words then lie side by side in memory, which gives most of the speed.
 */
export interface NameIndex {
  /** Letters of word `id` are `wordBytes[wordAt[id] .. wordAt[id + 1]]`. */
  wordAt: Uint32Array
  wordBytes: Uint8Array
  wordRole: Uint8Array
  /** A hash table with open addressing, keyed by role and text; see tableEntry. */
  wordTable: Uint32Array
  /** Consonants, a zero, vowel classes. Empty for words without a skeleton. */
  skeletonAt: Uint32Array
  skeletonBytes: Uint8Array
  soundsAt: Uint32Array
  sounds: Uint32Array
  /** Words keyed by their first letters with up to one (near1) or exactly two (near2) of them left out. */
  near1At: Uint32Array
  near1: Uint32Array
  near1Tag: Uint16Array
  near2At: Uint32Array
  near2: Uint32Array
  near2Tag: Uint16Array
  /**
   * Postings: the names that a word occurs in, as offsets into `nameWords`. They are grouped into classes by how many other
   * words the name has: class `c` of word `id` begins at `postAt[id * CLASSES + c]`. Each posting has the tags of those
   * other words, `c` numbers in a row in `tags`; the last class is for names with more words and has no tags. A search
   * rules out most names by their tags alone. The tags lie close together because memory access dominates the cost of a
   * search. Classes 1 and 2 are sorted by their first tag, and class 2 has every name twice, once for each of the two other
   * words in front: in a long list, a binary search then finds the names that contain a wanted word.
   */
  postAt: Uint32Array
  post: Uint32Array
  tagsAt: Uint32Array
  tags: Uint16Array
  /** One bit, by hash, per pair of words that occur in one name. It rules out most of the pairs that a query could mean. */
  pairBits: Uint32Array
  nameAt: Uint32Array
  /** The words of all names. The last word of each name has the bit LAST_WORD, so that a reader knows where the name ends. */
  nameWords: Uint32Array
  /** The first name in each block of NEAR_WORDS words, to find a name by its offset. */
  nameNear: Uint32Array
  nameEntity: Uint32Array
  /** The position of the name among the names in the entity's record on disk. */
  nameNumber: Uint16Array
  nameScript: Uint8Array
  nameNative: Uint32Array
  /** Birth dates of an entity as pairs: first day (negative for circa), last day. */
  birthAt: Uint32Array
  births: Int32Array
  /** Where the entity's record begins in the snapshot's record section. */
  recordAt: Float64Array
}

export const SCRIPTS: readonly Script[] = [
  'latin',
  'cyrillic',
  'greek',
  'arabic',
  'hebrew',
  'han',
  'kana',
  'hangul',
  'other',
]

export const NEAR_WORDS = 16
export const LAST_WORD = 0x80000000
/** How many other words of a name have a tag in a posting, at most. */
export const TAGGED_WORDS = 4
/** Classes sorted by tag. */
export const SORTED_CLASSES = 2
/** 0 to 4 other words, and more. */
export const CLASSES = TAGGED_WORDS + 2

export const countWords = (index: NameIndex): number => index.wordRole.length
export const countNames = (index: NameIndex): number => index.nameEntity.length
