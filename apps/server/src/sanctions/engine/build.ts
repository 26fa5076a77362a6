/** Builds the index of a list. It runs in its own process because its memory grows with the size of the list. */
import type { BirthDate, ListedEntity } from '../lists/listed.ts'
import { editBudget, skeletonOf } from '../names/similarity.ts'
import { readName, type Word } from '../names/tokens.ts'
import { growing, shared } from './growing.ts'
import { eachNeighbour, hashPair, hashText, initialTag, nearTag, wordTag } from './hash.ts'
import { CLASSES, LAST_WORD, type NameIndex, NEAR_WORDS, SCRIPTS, SORTED_CLASSES, TAGGED_WORDS } from './name-index.ts'
import { FULL, INITIAL_ROLE, isLight } from './name-score.ts'
import { ROLE_NUMBER } from './pair.ts'

export interface IndexBuilder {
  /** Adds one entity; `recordAt` is the offset of its record on disk. Returns false when none of its names can be compared. */
  add(entity: ListedEntity, recordAt: number): boolean
  finish(): NameIndex
}

export const wordKey = ({ text, role }: Word): string => (role === 'particle' || role === 'light' ? `~${text}` : text)

export function createIndexBuilder(): IndexBuilder {
  const ids = new Map<string, number>()
  const wordAt = growing(Uint32Array)
  const wordBytes = growing(Uint8Array)
  const wordRole = growing(Uint8Array)
  const skeletonAt = growing(Uint32Array)
  const skeletonBytes = growing(Uint8Array)
  const nameAt = growing(Uint32Array)
  const nameWords = growing(Uint32Array)
  const nameEntity = growing(Uint32Array)
  const nameNumber = growing(Uint16Array)
  const nameScript = growing(Uint8Array)
  const nameNative = growing(Uint32Array)
  const birthAt = growing(Uint32Array)
  const births = growing(Int32Array)
  const recordAt = growing(Float64Array)
  let entities = 0

  function idOf(word: Word): number {
    const key = wordKey(word)
    const known = ids.get(key)
    if (known !== undefined) return known
    const id = wordRole.length
    ids.set(key, id)
    wordAt.push(wordBytes.length)
    for (let at = 0; at < word.text.length; at++) wordBytes.push(word.text.charCodeAt(at))
    wordRole.push(ROLE_NUMBER[word.role])
    skeletonAt.push(skeletonBytes.length)
    const skeleton = word.role === 'full' ? skeletonOf(word.text) : null
    if (skeleton) {
      for (const part of [skeleton.consonants, '\0', skeleton.vowels]) {
        for (let at = 0; at < part.length; at++) skeletonBytes.push(part.charCodeAt(at))
      }
    }
    return id
  }

  function addBirth({ from, to, circa }: BirthDate): void {
    births.push(circa ? -from : from)
    births.push(to)
  }

  return {
    add(entity, at) {
      const seen = new Set<string>()
      entity.names.forEach(({ text }, number) => {
        const name = readName(text)
        if (!name.words.some(({ role }) => role === 'full')) return
        const key = `${name.script} ${name.native} ${name.words.map(wordKey).join(' ')}`
        if (seen.has(key)) return
        seen.add(key)
        nameAt.push(nameWords.length)
        for (const word of name.words) nameWords.push(idOf(word))
        nameEntity.push(entities)
        nameNumber.push(number)
        nameScript.push(SCRIPTS.indexOf(name.script))
        nameNative.push(name.native === '' ? 0 : hashText(name.native))
      })
      if (seen.size === 0) return false
      birthAt.push(births.length)
      for (const birth of entity.births) addBirth(birth)
      recordAt.push(at)
      entities++
      return true
    },
    finish() {
      wordAt.push(wordBytes.length)
      skeletonAt.push(skeletonBytes.length)
      nameAt.push(nameWords.length)
      birthAt.push(births.length)
      const base = {
        wordAt: wordAt.done(),
        wordBytes: wordBytes.done(),
        wordRole: wordRole.done(),
        skeletonAt: skeletonAt.done(),
        skeletonBytes: skeletonBytes.done(),
        nameAt: nameAt.done(),
        nameWords: nameWords.done(),
        nameEntity: nameEntity.done(),
        nameNumber: nameNumber.done(),
        nameScript: nameScript.done(),
        nameNative: nameNative.done(),
        birthAt: birthAt.done(),
        births: births.done(),
        recordAt: recordAt.done(),
      }
      const index = { ...base, ...sortedByAlphabet(base) }
      ids.clear()
      const made: NameIndex = {
        ...index,
        nameNear: nearNamesOf(index),
        wordTable: tableOf(index),
        ...soundsOf(index),
        ...nearOf(index),
        ...postingsOf(index),
      }
      for (let name = 1; name < made.nameAt.length; name++) {
        const last = (made.nameAt[name] as number) - 1
        made.nameWords[last] = ((made.nameWords[last] as number) | LAST_WORD) >>> 0
      }
      return made
    },
  }
}

function nearNamesOf({ nameAt, nameWords }: Pick<NameIndex, 'nameAt' | 'nameWords'>): Uint32Array {
  const near = shared(Uint32Array, Math.floor(nameWords.length / NEAR_WORDS) + 1)
  for (let stretch = 0, name = 0; stretch < near.length; stretch++) {
    while ((nameAt[name] as number) < stretch * NEAR_WORDS) name++
    near[stretch] = name
  }
  return near
}

/** Renumbers the words in alphabetical order. */
function sortedByAlphabet(index: WordArrays & Pick<NameIndex, 'nameWords'>): WordArrays & Pick<NameIndex, 'nameWords'> {
  const { wordAt, wordBytes, wordRole, skeletonAt, skeletonBytes, nameWords } = index
  const words = wordRole.length
  const texts = Array.from({ length: words }, (_, id) => textAt(index, id))
  const order = Uint32Array.from(texts.keys()).sort((a, b) => {
    const [x, y] = [texts[a] as string, texts[b] as string]
    return x < y ? -1 : x > y ? 1 : a - b
  })
  const newId = new Uint32Array(words)
  const moved: WordArrays = {
    wordAt: shared(Uint32Array, words + 1),
    wordBytes: shared(Uint8Array, wordBytes.length),
    wordRole: shared(Uint8Array, words),
    skeletonAt: shared(Uint32Array, words + 1),
    skeletonBytes: shared(Uint8Array, skeletonBytes.length),
  }
  const move = (from: Uint8Array, fromAt: Uint32Array, to: Uint8Array, toAt: Uint32Array, old: number, id: number) => {
    const piece = from.subarray(fromAt[old] as number, fromAt[old + 1] as number)
    to.set(piece, toAt[id] as number)
    toAt[id + 1] = (toAt[id] as number) + piece.length
  }
  for (let id = 0; id < words; id++) {
    const old = order[id] as number
    newId[old] = id
    moved.wordRole[id] = wordRole[old] as number
    move(wordBytes, wordAt, moved.wordBytes, moved.wordAt, old, id)
    move(skeletonBytes, skeletonAt, moved.skeletonBytes, moved.skeletonAt, old, id)
  }
  for (let at = 0; at < nameWords.length; at++) nameWords[at] = newId[nameWords[at] as number] as number
  return { ...moved, nameWords }
}

function textAt({ wordAt, wordBytes }: WordArrays, id: number): string {
  let text = ''
  for (let at = wordAt[id] as number; at < (wordAt[id + 1] as number); at++) {
    text += String.fromCharCode(wordBytes[at] as number)
  }
  return text
}

const ID_BITS = 24

/** An id with eight bits of its word's hash: most look-ups of an unknown word end without reading a word's letters. */
export function tableEntry(hash: number, id: number): number {
  if (id + 1 >= 1 << ID_BITS) throw new Error('The list has more distinct words than the index can number')
  return (((hash >>> ID_BITS) << ID_BITS) | (id + 1)) >>> 0
}

export const idOfEntry = (entry: number): number => (entry & ((1 << ID_BITS) - 1)) - 1
export const isSameHash = (entry: number, hash: number): boolean => entry >>> ID_BITS === hash >>> ID_BITS

/** At least half of the table stays empty, so that a look-up takes one or two steps. */
function tableOf(words: WordArrays): Uint32Array {
  const count = words.wordRole.length
  const size = 2 ** Math.ceil(Math.log2(Math.max(16, count * 2)))
  const table = shared(Uint32Array, size)
  for (let id = 0; id < count; id++) {
    const key = `${isLight(words.wordRole[id] as number) ? '~' : ''}${textAt(words, id)}`
    const hash = hashText(key)
    let slot = hash & (size - 1)
    while (table[slot] !== 0) slot = (slot + 1) & (size - 1)
    table[slot] = tableEntry(hash, id)
  }
  return table
}

/** Lays out the lists of all buckets one after the other. It counts first and then fills, so that no array has to grow. */
function bucketed(
  buckets: number,
  fill: (put: (bucket: number, value: number, tag: number) => void) => void,
): { at: Uint32Array; values: Uint32Array; tags: Uint16Array } {
  const at = shared(Uint32Array, buckets + 1)
  fill((bucket) => {
    at[bucket + 1] = (at[bucket + 1] as number) + 1
  })
  for (let n = 0; n < buckets; n++) at[n + 1] = (at[n + 1] as number) + (at[n] as number)
  const total = at[buckets] as number
  const values = shared(Uint32Array, total)
  const tags = shared(Uint16Array, total)
  const next = at.slice()
  fill((bucket, value, tag) => {
    const place = next[bucket] as number
    next[bucket] = place + 1
    values[place] = value
    tags[place] = tag
  })
  return { at, values, tags }
}

export type WordArrays = Pick<NameIndex, 'wordAt' | 'wordBytes' | 'wordRole' | 'skeletonAt' | 'skeletonBytes'>

const bucketsFor = (entries: number) => 2 ** Math.min(30, Math.max(8, Math.ceil(Math.log2(entries + 1))))

function soundsOf({ wordRole, skeletonAt, skeletonBytes }: WordArrays): Pick<NameIndex, 'soundsAt' | 'sounds'> {
  const buckets = bucketsFor(wordRole.length / 2)
  const { at, values } = bucketed(buckets, (put) => {
    for (let id = 0; id < wordRole.length; id++) {
      const start = skeletonAt[id] as number
      if (start === skeletonAt[id + 1]) continue
      put(consonantHash(skeletonBytes, start) & (buckets - 1), id, 0)
    }
  })
  return { soundsAt: at, sounds: values }
}

export function consonantHash(bytes: Uint8Array, start: number): number {
  let hash = 0x811c9dc5
  for (let at = start; bytes[at] !== 0; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  hash ^= hash >>> 15
  return Math.imul(hash, 0x2c1b3c6d) >>> 0
}

function nearOf(words: WordArrays) {
  const { wordAt, wordBytes, wordRole } = words
  const letters = new Uint8Array(64)
  const each = (least: number, most: number, put: (bucket: number, id: number, tag: number) => void, mask: number) => {
    for (let id = 0; id < wordRole.length; id++) {
      const start = wordAt[id] as number
      const length = (wordAt[id + 1] as number) - start
      if (wordRole[id] !== FULL || editBudget(length) < most) continue
      for (let at = 0; at < length; at++) letters[at] = wordBytes[start + at] as number
      eachNeighbour(letters, length, least, most, (hash) => put(hash & mask, id, nearTag(hash, length)))
    }
  }
  const one = bucketsFor(wordRole.length * 3)
  const two = bucketsFor(wordRole.length * 6)
  const near1 = bucketed(one, (put) => each(0, 1, put, one - 1))
  const near2 = bucketed(two, (put) => each(2, 2, put, two - 1))
  return {
    near1At: near1.at,
    near1: near1.values,
    near1Tag: near1.tags,
    near2At: near2.at,
    near2: near2.values,
    near2Tag: near2.tags,
  }
}

function postingsOf(
  index: WordArrays & Pick<NameIndex, 'nameAt' | 'nameWords'>,
): Pick<NameIndex, 'postAt' | 'post' | 'tagsAt' | 'tags' | 'pairBits'> {
  const { nameAt, nameWords, wordRole } = index
  const words = wordRole.length
  const names = nameAt.length - 1
  const isHeavy = (id: number) => !isLight(wordRole[id] as number)
  const heavy: number[] = []
  const eachName = (visit: (start: number, kind: number) => void) => {
    for (let name = 0; name < names; name++) {
      const start = nameAt[name] as number
      heavy.length = 0
      for (let at = start; at < (nameAt[name + 1] as number); at++) {
        if (isHeavy(nameWords[at] as number)) heavy.push(nameWords[at] as number)
      }
      visit(start, Math.min(heavy.length - 1, CLASSES - 1))
    }
  }
  const postAt = shared(Uint32Array, words * CLASSES + 1)
  const tagsAt = shared(Uint32Array, words + 1)
  const copies = (kind: number) => (kind === 2 ? 2 : 1)
  let pairs = 0
  eachName((_start, kind) => {
    pairs += (heavy.length * (heavy.length - 1)) / 2
    for (const id of heavy) {
      postAt[id * CLASSES + kind + 1] = (postAt[id * CLASSES + kind + 1] as number) + copies(kind)
      if (kind <= TAGGED_WORDS) tagsAt[id + 1] = (tagsAt[id + 1] as number) + kind * copies(kind)
    }
  })
  for (let at = 0; at < words * CLASSES; at++) postAt[at + 1] = (postAt[at + 1] as number) + (postAt[at] as number)
  for (let id = 0; id < words; id++) tagsAt[id + 1] = (tagsAt[id + 1] as number) + (tagsAt[id] as number)
  const post = shared(Uint32Array, postAt[words * CLASSES] as number)
  const tags = shared(Uint16Array, tagsAt[words] as number)
  const pairBits = shared(Uint32Array, bucketsFor(pairs * BITS_PER_PAIR) / 32)
  const next = postAt.slice()
  const put = (id: number, kind: number, start: number, others: readonly number[]) => {
    const list = id * CLASSES
    const place = next[list + kind] as number
    next[list + kind] = place + 1
    post[place] = start
    if (kind > TAGGED_WORDS) return
    const tag =
      (tagsAt[id] as number) + classTags(postAt, list, kind) + (place - (postAt[list + kind] as number)) * kind
    for (let n = 0; n < kind; n++) tags[tag + n] = others[n] as number
  }
  eachName((start, kind) => {
    notePairs(pairBits, heavy)
    heavy.forEach((id, at) => {
      const others = kind > TAGGED_WORDS ? [] : heavy.filter((_, n) => n !== at).map((other) => tagOf(index, other))
      put(id, kind, start, others)
      if (copies(kind) === 2) put(id, kind, start, others.toReversed())
    })
  })
  for (let id = 0; id < words; id++) for (let kind = 1; kind <= SORTED_CLASSES; kind++) sortClass(id, kind)
  return { postAt, post, tagsAt, tags, pairBits }

  function sortClass(id: number, kind: number): void {
    const list = id * CLASSES
    const from = postAt[list + kind] as number
    const count = (postAt[list + kind + 1] as number) - from
    if (count < 2) return
    const firstTag = (tagsAt[id] as number) + classTags(postAt, list, kind)
    const places = post.slice(from, from + count)
    const old = tags.slice(firstTag, firstTag + count * kind)
    const order = new Float64Array(count)
    for (let n = 0; n < count; n++) order[n] = (old[n * kind] as number) * 2 ** 32 + n
    order.sort()
    for (let n = 0; n < count; n++) {
      const was = (order[n] as number) % 2 ** 32
      post[from + n] = places[was] as number
      for (let k = 0; k < kind; k++) tags[firstTag + n * kind + k] = old[was * kind + k] as number
    }
  }
}

const BITS_PER_PAIR = 10

function notePairs(pairBits: Uint32Array, words: readonly number[]): void {
  for (let i = 0; i < words.length; i++) {
    for (let j = i + 1; j < words.length; j++) {
      const bit = hashPair(words[i] as number, words[j] as number) & (pairBits.length * 32 - 1)
      pairBits[bit >>> 5] = (pairBits[bit >>> 5] as number) | (1 << (bit & 31))
    }
  }
}

/** How many tags the word's classes before this one have. */
export function classTags(postAt: Uint32Array, list: number, kind: number): number {
  let sum = 0
  for (let c = 1; c < kind; c++) sum += c * ((postAt[list + c + 1] as number) - (postAt[list + c] as number))
  return sum
}

/** The sixteen-bit tag that stands for a word in postings. */
export function tagOf({ wordRole, wordAt, wordBytes }: WordArrays, id: number): number {
  return wordRole[id] === INITIAL_ROLE ? initialTag(wordBytes[wordAt[id] as number] as number) : wordTag(id)
}
