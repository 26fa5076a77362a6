import type { Script } from '../names/transliterate.ts'

/**
 * A list, ready to be searched. Nothing but typed arrays, so that all worker threads share one copy and a snapshot is
 * read from disk as it is. A word is known once, whatever names it occurs in; its id counts its role with it. Ids are in
 * the order of the alphabet: words that are alike then lie side by side in memory, which is most of the speed.
 */
export interface NameIndex {
  /** Letters of word `id` are `wordBytes[wordAt[id] .. wordAt[id + 1]]`. */
  wordAt: Uint32Array
  wordBytes: Uint8Array
  wordRole: Uint8Array
  /** Open addressing by hash of role and text; see tableEntry. */
  wordTable: Uint32Array
  /** Consonants, a zero, vowel classes. Empty for words without a skeleton. */
  skeletonAt: Uint32Array
  skeletonBytes: Uint8Array
  soundsAt: Uint32Array
  sounds: Uint32Array
  /** Words by what is left when up to one, and exactly two, of their first letters are left out. */
  near1At: Uint32Array
  near1: Uint32Array
  near1Tag: Uint16Array
  near2At: Uint32Array
  near2: Uint32Array
  near2Tag: Uint16Array
  /**
   * Names a word occurs in, as places in `nameWords`, sorted into classes by how many other words the name has: class
   * `c` of word `id` begins at `postAt[id * CLASSES + c]`. Beside each stand the tags of those other words, `c` numbers
   * in a row; the last class has names with more words than are tagged, and no tags. Tags are all that most names are
   * looked at, so they lie close together: what a search costs is memory touched. Classes 1 and 2 are sorted by their
   * first tag, and class 2 has every name twice, once for each other word in front: in a long list, the names that have
   * a wanted word are found without looking at the rest.
   */
  postAt: Uint32Array
  post: Uint32Array
  tagsAt: Uint32Array
  tags: Uint16Array
  /** One bit per pair of words that stand in one name, by hash: most pairs a query could mean stand in none. */
  pairBits: Uint32Array
  nameAt: Uint32Array
  /** The words of all names; the last word of each carries LAST_WORD, so that a name can be read from its beginning. */
  nameWords: Uint32Array
  /** The first name that begins in each stretch of NEAR_WORDS words, to find a name by its place. */
  nameNear: Uint32Array
  nameEntity: Uint32Array
  /** Which of the entity's names it is, in the record on disk. */
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
/** Other words of a name whose tags stand beside a posting, at most. */
export const TAGGED_WORDS = 4
/** Classes sorted by tag. */
export const SORTED_CLASSES = 2
/** 0 to 4 other words, and more. */
export const CLASSES = TAGGED_WORDS + 2

export const countWords = (index: NameIndex): number => index.wordRole.length
export const countNames = (index: NameIndex): number => index.nameEntity.length
export const countEntities = (index: NameIndex): number => index.birthAt.length - 1
