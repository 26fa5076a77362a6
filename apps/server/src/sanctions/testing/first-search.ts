/**
 * The search of release 0.1 with its expansions, unchanged. Benchmarks measure the search in service against it, and a test compares
 * their results.
 */
import { classTags, tagOf, wordKey } from '../engine/build.ts'
import { createDivider, mayShareName } from '../engine/divide.ts'
import { hashText } from '../engine/hash.ts'
import { markerIds } from '../engine/judge.ts'
import {
  CLASSES,
  countWords,
  LAST_WORD,
  type NameIndex,
  NEAR_WORDS,
  SCRIPTS,
  SORTED_CLASSES,
  TAGGED_WORDS,
} from '../engine/name-index.ts'
import {
  createTable,
  doubt,
  FULL,
  INITIAL_ROLE,
  isLight,
  ROLE_WEIGHT,
  RULES,
  scoreTable,
} from '../engine/name-score.ts'
import { markerOf, type Reading, ROLE_NUMBER, readingsOf } from '../engine/pair.ts'
import type { Hit, Searcher } from '../engine/search.ts'
import { EXACT, INITIAL, TWO_EDITS_MAX } from '../names/similarity.ts'
import { MAX_WORDS, type Name, type Word } from '../names/tokens.ts'
import {
  createFirstExpander,
  type Expansion,
  idAt,
  namesUpTo,
  type Reach,
  similarityAt,
  tagAt,
} from './first-expand.ts'

/** The most words of the list that one query may stand for. Measured: a few hundred per query word. */
const SLOT_BITS = 15
const SLOTS = 1 << SLOT_BITS
/** A word with more names than this is searched by pairs and tags instead of scanned. Measured. */
const LONG_LIST = 512
const RECENT_NAMES = 4096
const RECENT_SHIFT = 20
const LAST_ROUND = 2 ** (32 - SLOT_BITS) - 1

const NOTHING: Expansion = { numbers: new Uint32Array(0), count: 0 }

export function createFirstSearcher(index: NameIndex, { longList = LONG_LIST } = {}): Searcher {
  const { wordAt, wordBytes, wordRole, postAt, post, tagsAt, tags } = index
  const { nameAt, nameNear, nameWords, nameEntity, nameScript, nameNative } = index
  const expander = createFirstExpander(index)
  const divider = createDivider(index, expander.idOf)
  const table = createTable()
  const markers = markerIds(expander.idOf)

  // Each word of the list that the current reading may mean has a slot; `wordSlot` maps the word's id to it.
  // The same number also holds the round, so that slots of earlier rounds need not be cleared.
  const wordSlot = new Uint32Array(countWords(index))
  const slotMask = new Uint16Array(SLOTS)
  const slotSimilarity = new Uint16Array(SLOTS * MAX_WORDS)
  let slots = 0
  /** The same words, by the position of the query word that they may stand for. */
  const relatives = Array.from({ length: MAX_WORDS }, () => [] as number[])
  /** Tags of the words that occur in some name together with the scanned word. */
  const partnerTags: number[] = []
  /** A cache of names that were judged lately. A name that has dropped out is judged again, with the same result. */
  const seen = new Uint32Array(RECENT_NAMES)
  const seenRound = new Uint32Array(RECENT_NAMES)
  let round = 0
  const tagMask = new Uint16Array(65536)
  /** One bit per tag. It fits into the processor's first cache, and it rules out most names. */
  const tagBits = new Uint32Array(2048)
  const tagsSet: number[] = []
  const passes = new Uint8Array(1 << MAX_WORDS)
  const weights = new Float64Array(1 << MAX_WORDS)
  const namesIn = new Uint8Array(1 << MAX_WORDS)

  // The current query.
  let words: readonly Word[] = []
  let queryNative = 0
  let queryScript = -1
  let scoreMin = 0
  let total = 0
  /** How many words besides the scanned one a name must have to reach the score. */
  let otherWordsMin = 0
  /** Whether the scanned word has so many names that they are looked up by their other words. */
  let isLong = false
  let always = 0
  let exactMask = 0
  const initials = new Int16Array(MAX_WORDS)
  let hits = new Map<number, Hit>()

  function slotOf(id: number): number {
    const value = wordSlot[id] as number
    return value >>> SLOT_BITS === round ? value & (SLOTS - 1) : -1
  }

  function nextRound(): void {
    slots = 0
    for (const ids of relatives) ids.length = 0
    if (++round <= LAST_ROUND) return
    round = 1
    wordSlot.fill(0)
    seenRound.fill(0)
  }

  function relate(id: number, at: number, similarity: number, tag: number): void {
    let slot = slotOf(id)
    if (slot < 0) {
      slot = slots++
      if (slot >= SLOTS) throw new Error('A name may stand for more words than the search has slots for')
      wordSlot[id] = ((round << SLOT_BITS) | slot) >>> 0
      slotMask[slot] = 0
    }
    slotMask[slot] = (slotMask[slot] as number) | (1 << at)
    slotSimilarity[slot * MAX_WORDS + at] = similarity
    relatives[at]?.push(id)
    if (tagMask[tag] === 0) {
      tagsSet.push(tag)
      tagBits[tag >>> 5] = (tagBits[tag >>> 5] as number) | (1 << (tag & 31))
    }
    tagMask[tag] = (tagMask[tag] as number) | (1 << at)
  }

  /** Computes which subsets of the customer's words could reach the score if each word of the subset matched. */
  function judgeMasks(): void {
    const count = words.length
    const all = (1 << count) - 1
    weights[0] = 0
    namesIn[0] = 0
    for (let mask = 1; mask <= all; mask++) {
      const lowest = 31 - Math.clz32(mask & -mask)
      const role = ROLE_NUMBER[(words[lowest] as Word).role]
      weights[mask] = (weights[mask & (mask - 1)] as number) + (ROLE_WEIGHT[role as 0 | 1 | 2 | 3] as number)
      namesIn[mask] = (namesIn[mask & (mask - 1)] as number) + (isLight(role) ? 0 : 1)
    }
    total = weights[all] as number
    otherWordsMin = count
    for (let mask = 0; mask <= all; mask++) {
      passes[mask] = maxScoreFor(mask, all) >= scoreMin ? 1 : 0
      if (passes[mask] === 1) otherWordsMin = Math.min(otherWordsMin, (namesIn[mask] as number) - 1)
    }
  }

  function maxScoreFor(mask: number, all: number): number {
    if ((mask & exactMask) !== exactMask) return 0
    const met = weights[mask] as number
    const most = met / (met + RULES.extraQuery * ((weights[all] as number) - met))
    return (namesIn[mask] as number) < 2 && (namesIn[all] as number) > 1 ? Math.min(most, RULES.oneWordMax) : most
  }

  function search(reading: Reading, strictNative: Name): void {
    words = reading.words
    nextRound()
    for (const tag of tagsSet) {
      tagMask[tag] = 0
      tagBits[tag >>> 5] = 0
    }
    tagsSet.length = 0
    always = 0
    exactMask = 0
    for (const at of reading.exactAt) exactMask |= 1 << at
    const all = (1 << words.length) - 1
    judgeMasks()
    if (passes[all] === 0 || !divider.mayOccurTogether(reading.exactAt.map((at) => words[at] as Word))) return
    const reach: Reach = scoreMin > doubt(TWO_EDITS_MAX) ? 'near' : 'far'
    const expansions = words.map((word, at) => expandAt(word, at, reading, reach))
    queryNative = strictNative.native === '' ? 0 : hashText(strictNative.native)
    queryScript = strictNative.native === '' ? -1 : SCRIPTS.indexOf(strictNative.script)
    table.queryLength = words.length
    table.queryMarker = markerOf(words)
    for (let at = 0; at < words.length; at++) table.queryRole[at] = ROLE_NUMBER[(words[at] as Word).role]
    for (const at of wordsToScan(expansions, all, reading)) scan(expansions[at] as Expansion, all)
  }

  const sizeOf = (id: number) => (postAt[(id + 1) * CLASSES] as number) - (postAt[id * CLASSES] as number)

  function expandAt(word: Word, at: number, reading: Reading, reach: Reach): Expansion {
    initials[at] = -1
    if (word.role !== 'full') {
      always |= 1 << at
      const id = expander.idOf(wordKey(word))
      if (id >= 0) relate(id, at, EXACT, tagOf(index, id))
      if (word.role === 'initial') initials[at] = word.text.charCodeAt(0)
      return NOTHING
    }
    const expansion = reading.exactAt.includes(at) ? onlyItself(word) : expander.expand(word.text, reach)
    // A pair of words that is not similar enough counts as a contradiction. If even that scores too low, leave the word out.
    const leaveOut = scoreMin > RULES.conflict
    for (let n = 0; n < expansion.count; n++) {
      const id = idAt(expansion, n)
      const similarity = similarityAt(expansion, n)
      if (leaveOut && !isEnough(similarity) && wordRole[id] !== INITIAL_ROLE) continue
      relate(id, at, similarity, tagAt(expansion, n))
    }
    return expansion
  }

  function onlyItself(word: Word): Expansion {
    const id = expander.idOf(wordKey(word))
    if (id < 0) return NOTHING
    return { numbers: Uint32Array.of(id, (EXACT << 16) | tagOf(index, id), sizeOf(id)), count: 1 }
  }

  /** The cheapest set of query words of which a name must match at least one. */
  function wordsToScan(expansions: readonly Expansion[], all: number, reading: Reading): number[] {
    const full = [...words.keys()].filter((at) => (words[at] as Word).role === 'full')
    const costs = expansions.map((expansion) => costOf(expansion))
    const byCost = full.sort((a, b) => (costs[a] as number) - (costs[b] as number))
    if (reading.exactAt.length > 0) return byCost.filter((at) => reading.exactAt.includes(at)).slice(0, 1)
    let rest = all
    const chosen: number[] = []
    for (const at of byCost) {
      chosen.push(at)
      rest &= ~(1 << at)
      if (passes[rest] === 0) break
    }
    return chosen
  }

  /** How many names have one of the words that are similar enough to reach the score. */
  function costOf(expansion: Expansion): number {
    let { count } = expansion
    while (count > 0 && !isEnough(similarityAt(expansion, count - 1))) count--
    return count === 0 ? 0 : namesUpTo(expansion, count - 1)
  }

  /** Whether a name can reach the score when its least similar pair of words has this similarity. */
  function isEnough(similarity: number): boolean {
    return ((total - 1 + similarity / EXACT) / total) * doubt(similarity) >= scoreMin - 1e-9
  }

  function scan(expansion: Expansion, all: number): void {
    const onlyTwo = (namesIn[all] as number) === 2
    for (let n = 0; n < expansion.count; n++) {
      const id = idAt(expansion, n)
      if (wordRole[id] === INITIAL_ROLE) {
        if (onlyTwo && scoreMin > RULES.initialMax) continue
      } else if (!isEnough(similarityAt(expansion, n))) continue
      const own = (slotMask[slotOf(id)] as number) | always
      isLong = sizeOf(id) > longList
      if (isLong && passes[reachableBeside(id, own)] === 0) continue
      const from = Math.min(Math.max(0, otherWordsMin), CLASSES - 1)
      for (let kind = from; kind < CLASSES; kind++) scanClass(id, kind, own)
    }
  }

  /** The query words that a name with this word can match: those that occur with it in some name. */
  function reachableBeside(id: number, own: number): number {
    let mask = own
    partnerTags.length = 0
    for (let at = 0; at < words.length; at++) {
      if (own & (1 << at)) continue
      const others = relatives[at] as number[]
      for (let n = 0; n < others.length; n++) {
        if (!mayShareName(index, id, others[n] as number)) continue
        mask |= 1 << at
        partnerTags.push(tagOf(index, others[n] as number))
      }
    }
    return mask
  }

  /** Scans the names of one word that have `kind` other words. */
  function scanClass(id: number, kind: number, own: number): void {
    const list = id * CLASSES
    const from = postAt[list + kind] as number
    const end = postAt[list + kind + 1] as number
    if (from === end) return
    if (kind === 0 || kind > TAGGED_WORDS) {
      if (kind > 0 || passes[own] === 1) for (let k = from; k < end; k++) consider(post[k] as number)
      return
    }
    const needsMore = passes[own] === 0
    let tag = (tagsAt[id] as number) + classTags(postAt, list, kind)
    if (needsMore && isLong && kind <= SORTED_CLASSES) {
      searchSorted(tag, kind, from, end - from, own)
      return
    }
    for (let k = from; k < end; k++, tag += kind) {
      let bits = bitOf(tags[tag] as number)
      if (kind > 1) bits |= bitOf(tags[tag + 1] as number)
      if (kind > 2) bits |= bitOf(tags[tag + 2] as number)
      if (kind > 3) bits |= bitOf(tags[tag + 3] as number)
      if (needsMore && (bits & 1) === 0) continue
      let mask = own
      for (let n = 0; n < kind; n++) mask |= tagMask[tags[tag + n] as number] as number
      if (passes[mask] === 1) consider(post[k] as number)
    }
  }

  /** Finds the names of a long list that contain one of the wanted words by binary search. */
  function searchSorted(firstTag: number, kind: number, from: number, count: number, own: number): void {
    for (let n = 0; n < partnerTags.length; n++) {
      const wanted = partnerTags[n] as number
      const mask = own | (tagMask[wanted] as number)
      if (kind === 1 && passes[mask] === 0) continue
      let low = 0
      let high = count
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((tags[firstTag + middle * kind] as number) < wanted) low = middle + 1
        else high = middle
      }
      for (; low < count && tags[firstTag + low * kind] === wanted; low++) {
        const full = kind === 1 ? mask : mask | (tagMask[tags[firstTag + low * kind + 1] as number] as number)
        if (passes[full] === 1) consider(post[from + low] as number)
      }
    }
  }

  function consider(from: number): void {
    const place = Math.imul(from, 0x9e3779b1) >>> RECENT_SHIFT
    if (seen[place] === from + 1 && seenRound[place] === round) return
    seen[place] = from + 1
    seenRound[place] = round
    judge(from)
  }

  /** The lowest bit says whether a word with this tag may be one of the query's. */
  function bitOf(tag: number): number {
    return (tagBits[tag >>> 5] as number) >>> (tag & 31)
  }

  /** Scores the name that begins at this offset and keeps it if it is the entity's best. */
  function judge(from: number): void {
    let mask = always
    let count = 0
    for (let word = 0; word < LAST_WORD; count++) {
      word = nameWords[from + count] as number
      const slot = slotOf(word & ~LAST_WORD)
      if (slot >= 0) mask |= slotMask[slot] as number
    }
    if (passes[mask] === 0) return
    const name = queryScript < 0 ? -1 : nameBeginning(from)
    const sameCharacters = name >= 0 && nameScript[name] === queryScript
    const score = sameCharacters && nameNative[name] === queryNative ? 1 : compare(from, count, sameCharacters)
    if (score >= scoreMin) keep(nameBeginning(from), score)
  }

  function keep(name: number, score: number): void {
    const entity = nameEntity[name] as number
    const known = hits.get(entity)
    if (!known) hits.set(entity, { entity, name, score })
    else if (score > known.score || (score === known.score && name < known.name)) {
      known.name = name
      known.score = score
    }
  }

  /** The name whose words begin at this offset. */
  function nameBeginning(from: number): number {
    let name = nameNear[Math.floor(from / NEAR_WORDS)] as number
    while ((nameAt[name] as number) < from) name++
    return name
  }

  function compare(from: number, count: number, strict: boolean): number {
    table.listedLength = count
    table.listedMarker = -1
    const { similarity, listedRole } = table
    for (let j = 0; j < count; j++) {
      const id = (nameWords[from + j] as number) & ~LAST_WORD
      listedRole[j] = wordRole[id] as number
      if (table.listedMarker < 0 && markers.has(id)) table.listedMarker = j
      const slot = slotOf(id)
      const mask = slot < 0 ? 0 : (slotMask[slot] as number)
      for (let i = 0; i < words.length; i++) {
        let value = mask & (1 << i) ? (slotSimilarity[slot * MAX_WORDS + i] as number) : 0
        if (initials[i] !== -1 && wordRole[id] === FULL && wordBytes[wordAt[id] as number] === initials[i]) {
          value = INITIAL
        }
        similarity[i * MAX_WORDS + j] = strict && value < EXACT ? 0 : value
      }
    }
    const score = scoreTable(table)
    if (exactMask === 0) return strict ? Math.min(score, RULES.otherCharacters) : score
    for (let i = 0; i < words.length; i++) {
      if (exactMask & (1 << i) && (table.pairedWith[i] as number) < 0) return 0
    }
    return strict ? Math.min(score * RULES.joined, RULES.otherCharacters) : score * RULES.joined
  }

  return {
    counts: { prepared: 0, cached: 0, computed: 0, evicted: 0 },
    search(query, wanted) {
      hits = new Map()
      scoreMin = wanted
      if (!query.words.some(({ role }) => role === 'full')) return []
      for (const reading of readingsOf(query.words, divider.knows, divider.divisions)) search(reading, query)
      return [...hits.values()]
    },
  }
}
