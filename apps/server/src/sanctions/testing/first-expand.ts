/** Finds all words of a list that a customer's word may stand for, without comparing it with every word. */

import { consonantHash, idOfEntry, isSameHash, tagOf } from '../engine/build.ts'
import { eachNeighbour, hashText, nearTag } from '../engine/hash.ts'
import { CLASSES, countWords, type NameIndex } from '../engine/name-index.ts'
import { isLight } from '../engine/name-score.ts'
import { relativesOf } from '../names/groups.ts'
import { EXACT, editBudget, editSimilarity, INITIAL, skeletonOf, vowelSimilarity } from '../names/similarity.ts'

/** The words that a customer's word may stand for, most similar first. One array, because tens of thousands are cached. */
export interface Expansion {
  /** Three numbers per word: its id; its similarity in thousandths with its tag; how many names this and all earlier words occur in. */
  numbers: Uint32Array
  count: number
}

export const PER_WORD = 3
export const idAt = ({ numbers }: Expansion, n: number): number => numbers[n * PER_WORD] as number
export const similarityAt = ({ numbers }: Expansion, n: number): number => (numbers[n * PER_WORD + 1] as number) >>> 16
export const tagAt = ({ numbers }: Expansion, n: number): number => (numbers[n * PER_WORD + 1] as number) & 65535
/** How many names the words up to and including `n` occur in: the cost of scanning them. */
export const namesUpTo = ({ numbers }: Expansion, n: number): number => numbers[n * PER_WORD + 2] as number

/** `near` leaves out words that are two edits apart, which take four times the work to find. */
export type Reach = 'near' | 'far'

export interface Expander {
  idOf(key: string): number
  expand(word: string, reach: Reach): Expansion
}

/** Limit of the cache per thread, in words. Customer files repeat the same words over and over. */
const CACHED_WORDS_MAX = 2_000_000
/** Fixed memory of one cached expansion, counted in words. */
const WORDS_PER_ENTRY = 24

export function createFirstExpander(index: NameIndex): Expander {
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
  const kept = new Map<string, Expansion>()
  let keptIds = 0

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
  function collect(): Expansion {
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
    return { numbers, count }
  }

  function compute(word: string, reach: Reach): Expansion {
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

  return {
    idOf,
    expand(word, reach) {
      const key = reach === 'far' ? word : `${word} `
      const known = kept.get(key)
      if (known) return known
      const expansion = compute(word, reach)
      keptIds += expansion.count + WORDS_PER_ENTRY
      if (keptIds > CACHED_WORDS_MAX) {
        kept.clear()
        keptIds = expansion.count + WORDS_PER_ENTRY
      }
      kept.set(key, expansion)
      return expansion
    },
  }
}
