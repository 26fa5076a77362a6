/** Finds all words of a list that a customer's word may stand for, without comparing it with every word. */
import { relativesOf } from '../names/groups.ts'
import { EXACT, editBudget, editSimilarity, INITIAL, skeletonOf, vowelSimilarity } from '../names/similarity.ts'
import { consonantHash, idOfEntry, isSameHash, tagOf } from './build.ts'
import { eachNeighbour, hashText, nearTag } from './hash.ts'
import { CLASSES, countWords, type NameIndex } from './name-index.ts'
import { isLight } from './name-score.ts'

/** The words that a customer's word may stand for, most similar first: `count` words from `from` on. */
export interface Expansion {
  /** Three numbers per word: its id; its similarity in thousandths with its tag; how many names this and all earlier words occur in. */
  numbers: Uint32Array
  /** Where the first word's numbers begin. */
  from: number
  count: number
}

export const PER_WORD = 3

/** `near` leaves out words that are two edits apart, which take four times the work to find. */
export type Reach = 'near' | 'far'

/**
 * Expansions that were made when the list was imported, in shared memory: those of the list's frequent words with the reach `near`,
 * which the default threshold needs. The expansion of word `id` is between `expansionAt[id]` and `expansionAt[id + 1]`; nothing is there
 * for other words.
 */
export interface Expansions {
  expansionAt: Uint32Array
  expansions: Uint32Array
}

/** Where the expansions of a thread's words came from. */
export interface ExpansionCounts {
  prepared: number
  cached: number
  computed: number
  /** Cached expansions that were dropped because the cache was full. */
  evicted: number
}

export interface Expander {
  idOf(key: string): number
  expand(word: string, reach: Reach, into: Expansion): void
  /** Computes the expansion, whether it is prepared or cached or not. */
  compute(word: string, reach: Reach): Uint32Array
  counts: ExpansionCounts
}

export interface ExpanderOptions {
  expansions?: Expansions | undefined
  cachedWordsMax?: number
}

/**
 * Limit of the cache per thread, in words, for each of its two halves. A file of 40,000 rows has 20,000 different words.
 */
const CACHED_WORDS_MAX = 1_000_000
/** Fixed memory of one cached expansion, counted in words. */
const WORDS_PER_ENTRY = 24

export function createExpander(
  index: NameIndex,
  { expansions, cachedWordsMax = CACHED_WORDS_MAX }: ExpanderOptions = {},
): Expander {
  const { wordAt, wordBytes, wordRole, wordTable, skeletonAt, skeletonBytes, soundsAt, sounds, postAt } = index
  const best = new Uint16Array(countWords(index))
  const query = new Uint8Array(64)
  const listed = new Uint8Array(64)
  const queryVowels = new Uint8Array(64)
  const listedVowels = new Uint8Array(64)
  const skeleton = new Uint8Array(128)
  const found: number[] = []
  const touched: number[] = []
  /** Similarity and id in one number, so that they sort without a comparison function. */
  let order = new Float64Array(256)
  const cache = createCache(cachedWordsMax)
  const { counts } = cache

  function idOf(key: string): number {
    const mask = wordTable.length - 1
    const isParticle = key.charCodeAt(0) === 126
    const from = isParticle ? 1 : 0
    const length = key.length - from
    const hash = hashText(key)
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = wordTable[slot] as number
      if (entry === 0) return -1
      if (!isSameHash(entry, hash)) continue
      const id = idOfEntry(entry)
      const start = wordAt[id] as number
      if ((wordAt[id + 1] as number) - start !== length || isLight(wordRole[id] as number) !== isParticle) continue
      let at = 0
      while (at < length && wordBytes[start + at] === key.charCodeAt(from + at)) at++
      if (at === length) return id
    }
  }

  function offer(id: number, similarity: number): void {
    const before = best[id] as number
    if (before === 0) {
      found.push(id)
      touched.push(id)
    }
    if (similarity > before) best[id] = similarity
  }

  /** Compares each word at most once per expansion: a neighbour that is too far gets 1, a similarity that no real pair has. */
  function offerByEdits(id: number, length: number, most: 1 | 2): void {
    if ((best[id] as number) > 0) return
    const start = wordAt[id] as number
    const listedLength = (wordAt[id + 1] as number) - start
    for (let at = 0; at < listedLength; at++) listed[at] = wordBytes[start + at] as number
    offer(id, editSimilarity(query, length, listed, listedLength, most) || 1)
  }

  function offerNeighbours(length: number, reach: Reach): void {
    const budget = reach === 'far' && editBudget(length) === 2 ? 2 : 1
    if (editBudget(length) === 0) return
    const { near1At, near1, near1Tag, near2At, near2, near2Tag } = index
    const mask1 = near1At.length - 2
    const mask2 = near2At.length - 2
    const scan = (at: Uint32Array, ids: Uint32Array, tags: Uint16Array, bucket: number, tag: number) => {
      for (let k = at[bucket] as number, end = at[bucket + 1] as number; k < end; k++) {
        const found = tags[k] as number
        if ((found ^ tag) >>> 4 !== 0) continue
        const listedLength = found & 15
        if (listedLength < 15 && Math.abs(listedLength - length) > budget) continue
        offerByEdits(ids[k] as number, length, budget)
      }
    }
    eachNeighbour(query, length, 0, budget, (hash) => {
      const tag = nearTag(hash, 0)
      scan(near1At, near1, near1Tag, hash & mask1, tag)
      if (budget === 2) scan(near2At, near2, near2Tag, hash & mask2, tag)
    })
  }

  function offerSounds(word: string): void {
    const own = skeletonOf(word)
    if (!own) return
    const consonants = own.consonants.length
    for (let at = 0; at < consonants; at++) skeleton[at] = own.consonants.charCodeAt(at)
    skeleton[consonants] = 0
    for (let at = 0; at < own.vowels.length; at++) queryVowels[at] = own.vowels.charCodeAt(at)
    const bucket = consonantHash(skeleton, 0) & (soundsAt.length - 2)
    for (let k = soundsAt[bucket] as number, end = soundsAt[bucket + 1] as number; k < end; k++) {
      const id = sounds[k] as number
      const start = skeletonAt[id] as number
      let at = 0
      while (at < consonants && skeletonBytes[start + at] === skeleton[at]) at++
      if (at < consonants || skeletonBytes[start + consonants] !== 0) continue
      const from = start + consonants + 1
      const count = (skeletonAt[id + 1] as number) - from
      for (let n = 0; n < count; n++) listedVowels[n] = skeletonBytes[from + n] as number
      const shorter = Math.min(word.length, (wordAt[id + 1] as number) - (wordAt[id] as number))
      const similarity = vowelSimilarity(queryVowels, own.vowels.length, listedVowels, count, shorter)
      if (similarity === 0) continue
      // A word with the same sound may also be one edit away, which scores higher. Two edits never score higher than the sound.
      offerByEdits(id, word.length, 1)
      offer(id, similarity)
    }
  }

  /** The words found, most similar first, so that a caller that needs only the best can stop early. */
  function collect(): Uint32Array {
    let count = 0
    if (order.length < found.length) order = new Float64Array(found.length * 2)
    for (const id of found) {
      const similarity = best[id] as number
      if (similarity > 1) order[count++] = (EXACT - similarity) * 2 ** 32 + id
    }
    const near = order.subarray(0, count).sort()
    const numbers = new Uint32Array(count * PER_WORD)
    let names = 0
    for (let n = 0; n < count; n++) {
      const id = (near[n] as number) % 2 ** 32
      names += (postAt[(id + 1) * CLASSES] as number) - (postAt[id * CLASSES] as number)
      numbers[n * PER_WORD] = id
      numbers[n * PER_WORD + 1] = ((best[id] as number) << 16) | tagOf(index, id)
      numbers[n * PER_WORD + 2] = names
    }
    return numbers
  }

  function compute(word: string, reach: Reach): Uint32Array {
    for (const id of touched) best[id] = 0
    touched.length = 0
    found.length = 0
    for (let at = 0; at < word.length; at++) query[at] = word.charCodeAt(at)
    const same = idOf(word)
    if (same >= 0) offer(same, EXACT)
    offerNeighbours(word.length, reach)
    offerSounds(word)
    for (const { text, similarity } of relativesOf(word)) {
      const id = idOf(text)
      if (id >= 0) offer(id, similarity)
    }
    const initial = idOf(word[0] as string)
    if (initial >= 0 && initial !== same) offer(initial, INITIAL)
    return collect()
  }

  /** Whether the expansion was made at import. */
  function isPrepared(word: string, into: Expansion): boolean {
    if (!expansions) return false
    const id = idOf(word)
    if (id < 0) return false
    const { expansionAt } = expansions
    const from = expansionAt[id] as number
    const count = (expansionAt[id + 1] as number) - from
    if (count === 0) return false
    into.numbers = expansions.expansions
    into.from = from * PER_WORD
    into.count = count
    counts.prepared++
    return true
  }

  return {
    idOf,
    compute,
    counts,
    expand(word, reach, into) {
      if (reach === 'near' && isPrepared(word, into)) return
      let numbers = cache.find(word, reach)
      if (numbers) counts.cached++
      else {
        numbers = compute(word, reach)
        counts.computed++
        cache.keep(word, reach, numbers)
      }
      into.numbers = numbers
      into.from = 0
      into.count = numbers.length / PER_WORD
    },
  }
}

type Kept = Readonly<Record<Reach, Map<string, Uint32Array>>>

/**
 * Customer files repeat the same words over and over. The cache has two halves: when the new one is full, the old one is dropped
 * and the new one takes its place. A word that is found in the old half moves to the new one, so frequent words stay.
 */
function createCache(wordsMax: number) {
  const counts: ExpansionCounts = { prepared: 0, cached: 0, computed: 0, evicted: 0 }
  const empty = (): Kept => ({ near: new Map(), far: new Map() })
  let fresh = empty()
  let old = empty()
  let words = 0

  function keep(word: string, reach: Reach, numbers: Uint32Array): void {
    words += numbers.length / PER_WORD + WORDS_PER_ENTRY
    if (words > wordsMax) {
      counts.evicted += old.near.size + old.far.size
      old = fresh
      fresh = empty()
      words = numbers.length / PER_WORD + WORDS_PER_ENTRY
    }
    fresh[reach].set(word, numbers)
  }

  return {
    counts,
    keep,
    find(word: string, reach: Reach): Uint32Array | undefined {
      const known = fresh[reach].get(word)
      if (known) return known
      const older = old[reach].get(word)
      if (!older) return undefined
      old[reach].delete(word)
      keep(word, reach, older)
      return older
    },
  }
}
