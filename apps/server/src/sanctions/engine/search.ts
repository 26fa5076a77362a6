/**
 * Finds exactly the listed names that reach a score. A property test compares the result with that of comparing all names.
 * A name that reaches the score must contain at least one of a small set of the customer's words. So the search scans only
 * the names of the rarest such set, and compares only those whose other words, by their tags, could reach the score.
 */
import { EXACT, INITIAL, TWO_EDITS_MAX } from '../names/similarity.ts'
import { MAX_WORDS, type Name, type Word } from '../names/tokens.ts'
import { classTags, tagOf, wordKey } from './build.ts'
import { createDivider, sharedBit } from './divide.ts'
import {
  createExpander,
  type ExpanderOptions,
  type Expansion,
  type ExpansionCounts,
  PER_WORD,
  type Reach,
} from './expand.ts'
import { INITIAL_TAGS } from './hash.ts'
import { createJudge, type Hit } from './judge.ts'
import { createMasks } from './masks.ts'
import { createMeanings, SLOTS } from './meanings.ts'
import { CLASSES, type NameIndex, SORTED_CLASSES, TAGGED_WORDS } from './name-index.ts'
import { doubt, FULL, INITIAL_ROLE, ROLE_WEIGHT, RULES } from './name-score.ts'
import { type Reading, ROLE_NUMBER, readingsOf } from './pair.ts'
import { createQuery } from './query.ts'

export type { Hit } from './judge.ts'

export interface Searcher {
  search(query: Name, scoreMin: number): Hit[]
  counts: Readonly<ExpansionCounts>
}

export interface SearcherOptions extends ExpanderOptions {
  longList?: number
}

/** A word with more names than this is searched by pairs and tags instead of scanned. Measured with a million entities and three. */
const LONG_LIST = 2048
/** So few names without tags are read at once, instead of asking first whether they may have another wanted word. */
const FEW = 2
const ROUNDING = 1e-9

// A thread searches for one name at a time and keeps nothing between two readings, so all its lists share this memory.
const meanings = createMeanings()
const { slotOf: tagSlot, mask: tagMask, similarity: tagSimilarity } = meanings
const partnerTags = new Uint16Array(SLOTS * MAX_WORDS)
/** 1 for the tags that `partnerTags` holds while a long list is scanned. */
const partnerMarks = new Uint8Array(1 << 16)
const wantedIds = new Uint32Array(SLOTS)
const wantedTags = new Uint16Array(SLOTS)
const touched = new Int32Array(1)

export function createSearcher(
  index: NameIndex,
  { longList = LONG_LIST, ...ofExpander }: SearcherOptions = {},
): Searcher {
  const { postAt, post, tagsAt, tags, pairBits } = index
  const expander = createExpander(index, ofExpander)
  const divider = createDivider(index, expander.idOf)
  const masksFor = createMasks()
  const query = createQuery()
  const { roles, expansions, initials } = query
  const judge = createJudge(index, query, expander.idOf)
  const costs = new Float64Array(MAX_WORDS)
  /** Expansions of words that stand only for themselves. */
  const single = Array.from({ length: MAX_WORDS }, () => new Uint32Array(PER_WORD))
  let masks = query.masks
  let passes = masks.passes

  // The word whose names are scanned.
  let own = 0
  let ownSlot = 0
  /** Whether a name must also have another word that the query may mean. */
  let needsOther = false
  /** Whether the tags of a name's other words limit its score. */
  let isBounded = false
  /** Whether it has so many names that they are looked up by their other words. */
  let isLong = false
  /** How many words occur in some name together with it. */
  let partners = 0
  /** 1 for the tags of which a name must have one. */
  let marks = meanings.marks

  function search(reading: Reading, name: Name): void {
    query.words = reading.words
    query.count = reading.words.length
    query.exactMask = 0
    for (const at of reading.exactAt) query.exactMask |= 1 << at
    for (let at = 0; at < query.count; at++) roles[at] = ROLE_NUMBER[(reading.words[at] as Word).role]
    masks = masksFor(roles, query.count, query.exactMask, query.scoreMin)
    passes = masks.passes
    query.masks = masks
    const all = (1 << query.count) - 1
    if (passes[all] === 0) return
    if (reading.exactAt.length > 1 && !divider.mayOccurTogether(reading.exactAt.map((at) => reading.words[at] as Word)))
      return
    judge.beginReading(name)
    meanings.clear()
    query.always = 0
    // A pair of words that is not similar enough counts as a contradiction. If even that scores too low, it is left out.
    query.relatedMin = query.scoreMin > RULES.conflict ? masks.similarityMin : 0
    const reach: Reach = query.scoreMin > doubt(TWO_EDITS_MAX) ? 'near' : 'far'
    for (let at = 0; at < query.count; at++) expandAt(at, reach)
    scanCheapest(all)
  }

  function expandAt(at: number, reach: Reach): void {
    const expansion = expansions[at] as Expansion
    const word = query.words[at] as Word
    initials[at] = -1
    if (roles[at] !== FULL) {
      query.always |= 1 << at
      onlyItself(wordKey(word), at, expansion)
      if (word.role === 'initial') initials[at] = word.text.charCodeAt(0)
    } else if (query.exactMask & (1 << at)) onlyItself(word.text, at, expansion)
    else expander.expand(word.text, reach, expansion)
    const { numbers, from, count } = expansion
    if (count > SLOTS) throw new Error('A word may stand for more words than the search has room for')
    const last = Math.min(query.relatedMin, INITIAL)
    let n = from
    for (const end = from + count * PER_WORD; n < end; n += PER_WORD) {
      const both = numbers[n + 1] as number
      if (both >>> 16 < last) break
      if (both >>> 16 >= query.relatedMin || (both & 65535) < INITIAL_TAGS) meanings.add(both & 65535, at, both >>> 16)
    }
    query.relatedEnd[at] = n
  }

  function onlyItself(key: string, at: number, expansion: Expansion): void {
    const id = expander.idOf(key)
    expansion.numbers = single[at] as Uint32Array
    expansion.from = 0
    expansion.count = id < 0 ? 0 : 1
    if (id < 0) return
    expansion.numbers[0] = id
    expansion.numbers[1] = (EXACT << 16) | tagOf(index, id)
    expansion.numbers[2] = (postAt[(id + 1) * CLASSES] as number) - (postAt[id * CLASSES] as number)
  }

  /** Scans the cheapest set of query words of which a name must match at least one. */
  function scanCheapest(all: number): void {
    for (let at = 0; at < query.count; at++) costs[at] = roles[at] === FULL ? costOf(at) : -1
    let rest = all
    for (;;) {
      let cheapest = -1
      for (let at = 0; at < query.count; at++) {
        const mayScan = (costs[at] as number) >= 0 && (query.exactMask === 0 || query.exactMask & (1 << at))
        if (mayScan && (cheapest < 0 || (costs[at] as number) < (costs[cheapest] as number))) cheapest = at
      }
      if (cheapest < 0) return
      costs[cheapest] = -1
      rest &= ~(1 << cheapest)
      scan(cheapest)
      if (passes[rest] === 0) return
    }
  }

  /** How many names have one of the words that are similar enough to reach the score. */
  function costOf(at: number): number {
    const { numbers, from } = expansions[at] as Expansion
    let last = (query.relatedEnd[at] as number) - PER_WORD
    while (last >= from && (numbers[last + 1] as number) >>> 16 < masks.similarityMin) last -= PER_WORD
    return last < from ? 0 : (numbers[last + 2] as number)
  }

  /**
   * Reads the beginnings of the lists that will be scanned, one right after the other: the processor then waits for all of them at
   * once, and not for each in turn when it is scanned.
   */
  function touch(wanted: number): void {
    let sum = 0
    for (let n = 0; n < wanted; n++) {
      const id = wantedIds[n] as number
      sum ^= (postAt[id * CLASSES] as number) ^ (tagsAt[id] as number)
    }
    for (let n = 0; n < wanted; n++) sum ^= tags[tagsAt[wantedIds[n] as number] as number] as number
    touched[0] = sum
  }

  function scan(at: number): void {
    const { numbers, from } = expansions[at] as Expansion
    const withoutInitials = masks.names === 2 && query.scoreMin > RULES.initialMax
    const isWritten = judge.isWritten()
    const firstClass = Math.min(masks.otherWordsMin, CLASSES - 1)
    let wanted = 0
    for (let n = from, end = query.relatedEnd[at] as number; n < end; n += PER_WORD) {
      const both = numbers[n + 1] as number
      if ((both & 65535) < INITIAL_TAGS ? withoutInitials : both >>> 16 < masks.similarityMin) continue
      wantedIds[wanted] = numbers[n] as number
      wantedTags[wanted++] = both
    }
    touch(wanted)
    for (let n = 0; n < wanted; n++) {
      const id = wantedIds[n] as number
      const tag = wantedTags[n] as number
      ownSlot = tagSlot[tag] as number
      own = (tagMask[ownSlot] as number) | query.always
      isBounded = !isWritten && tag >= INITIAL_TAGS
      needsOther = passes[own] === 0 || masks.otherMeantMin > 0
      isLong = (postAt[(id + 1) * CLASSES] as number) - (postAt[id * CLASSES] as number) > longList
      if (isLong && needsOther && !mayReachBeside(id)) continue
      marks = isLong && needsOther ? partnerMarks : meanings.marks
      if (marks === partnerMarks) for (let n = 0; n < partners; n++) partnerMarks[partnerTags[n] as number] = 1
      for (let kind = firstClass; kind < CLASSES; kind++) scanClass(id, kind)
      if (marks === partnerMarks) for (let n = 0; n < partners; n++) partnerMarks[partnerTags[n] as number] = 0
    }
  }

  /** Whether a name with this word that must have another one too may reach the score. Finds its partners. */
  const mayReachBeside = (id: number) => passes[reachableBeside(id)] === 1 && partners > 0

  /**
   * The query words that a name with this word can match: those that occur with it in some name. The pair bits of a large list are in no
   * cache. So nothing here depends on what one look finds, and the processor waits for many of them at once.
   */
  function reachableBeside(id: number): number {
    let mask = own
    partners = 0
    for (let at = 0; at < query.count; at++) {
      // The other word must be one of another position, unless the scanned word may stand for several.
      if ((own & ~(1 << at)) === query.always || query.always & (1 << at)) continue
      const { numbers, from } = expansions[at] as Expansion
      const before = partners
      for (let n = from, end = query.relatedEnd[at] as number; n < end; n += PER_WORD) {
        const both = numbers[n + 1] as number
        if (both >>> 16 < query.relatedMin && (both & 65535) >= INITIAL_TAGS) continue
        partnerTags[partners] = both
        partners += sharedBit(pairBits, id, numbers[n] as number)
      }
      if (partners > before) mask |= 1 << at
    }
    return mask
  }

  /** Scans the names of one word that have `kind` other words. */
  function scanClass(id: number, kind: number): void {
    const list = id * CLASSES
    const from = postAt[list + kind] as number
    const end = postAt[list + kind + 1] as number
    if (from === end) return
    if (kind === 0 || kind > TAGGED_WORDS) {
      const isAlone = kind === 0 && needsOther
      if (isAlone || (needsOther && !isLong && end - from > FEW && !mayReachBeside(id))) return
      for (let k = from; k < end; k++) judge.judge(post[k] as number)
      return
    }
    let tag = (tagsAt[id] as number) + classTags(postAt, list, kind)
    if (needsOther && isLong && kind <= SORTED_CLASSES) {
      searchSorted(tag, kind, from, end - from)
      return
    }
    if (isBounded && kind > masks.otherWordsMax) scanInitials(tag, kind, from, end)
    else if (!needsOther) for (let k = from; k < end; k++, tag += kind) judgeEntry(tag, kind, k)
    else if (kind <= SORTED_CLASSES)
      // Each of the other words is in front once.
      for (let k = from; k < end; k++, tag += kind) {
        if (marks[tags[tag] as number] === 1) judgeEntry(tag, kind, k)
      }
    else
      for (let k = from; k < end; k++, tag += kind) {
        let isMeant = (marks[tags[tag] as number] as number) | (marks[tags[tag + 1] as number] as number)
        isMeant |= marks[tags[tag + 2] as number] as number
        if (kind > 3) isMeant |= marks[tags[tag + 3] as number] as number
        if (isMeant === 1) judgeEntry(tag, kind, k)
      }
  }

  /** Scans names with so many other words that only those with an initial among them may reach the score: initials weigh less. */
  function scanInitials(firstTag: number, kind: number, from: number, end: number): void {
    const isSorted = kind <= SORTED_CLASSES
    let tag = firstTag
    for (let k = from; k < end; k++, tag += kind) {
      let lowest = tags[tag] as number
      if (isSorted && lowest >= INITIAL_TAGS) return
      for (let n = 1; n < kind; n++) lowest = Math.min(lowest, tags[tag + n] as number)
      if (lowest < INITIAL_TAGS) judgeEntry(tag, kind, k)
    }
  }

  function judgeEntry(tag: number, kind: number, at: number): void {
    if (mayReach(tag, kind)) judge.judge(post[at] as number)
  }

  /** Finds the names of a long list that contain one of the wanted words by binary search. */
  function searchSorted(firstTag: number, kind: number, from: number, count: number): void {
    for (let n = 0; n < partners; n++) {
      const wanted = partnerTags[n] as number
      let low = 0
      let high = count
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((tags[firstTag + middle * kind] as number) < wanted) low = middle + 1
        else high = middle
      }
      for (; low < count && tags[firstTag + low * kind] === wanted; low++) {
        if (mayReach(firstTag + low * kind, kind)) judge.judge(post[from + low] as number)
      }
    }
  }

  /** Whether a name may reach the score that has the scanned word and others with these tags. */
  function mayReach(tag: number, kind: number): boolean {
    let mask = own
    let others = 0
    for (let n = 0; n < kind; n++) {
      const slot = tagSlot[tags[tag + n] as number] as number
      if (slot === 0) continue
      mask |= tagMask[slot] as number
      others++
    }
    if (passes[mask] === 0 || others < masks.otherMeantMin) return false
    return !isBounded || masks.needsAll[mask] === 0 || scoreMax(mask, tag, kind) >= query.scoreMin - ROUNDING
  }

  /**
   * The highest score of a name in which each full word of the mask is paired with a word of its own. Words that are known by no
   * tag, particles and what an initial stands for, count as if they matched.
   */
  function scoreMax(mask: number, tag: number, kind: number): number {
    let listedInitials = 0
    for (let n = 0; n < kind; n++) {
      const other = tags[tag + n] as number
      if (other >= INITIAL_TAGS) continue
      // A pair with an initial has another weight, and very few names have one.
      if (tagSlot[other] !== 0) return 1
      listedInitials++
    }
    let reached = 0
    let possible = 0
    let worst = EXACT
    let pairs = 0
    let extraQuery = 0
    let initialPairs = 0
    for (let at = 0; at < query.count; at++) {
      const role = roles[at] as 0 | 1 | 2 | 3
      if (role !== FULL) {
        reached += ROLE_WEIGHT[role]
        possible += ROLE_WEIGHT[role]
        if (role === INITIAL_ROLE) initialPairs++
        continue
      }
      if ((mask & (1 << at)) === 0) {
        extraQuery++
        continue
      }
      let best = tagSimilarity[ownSlot * MAX_WORDS + at] as number
      for (let n = 0; n < kind; n++) {
        const slot = tagSlot[tags[tag + n] as number] as number
        if (slot !== 0 && (tagSimilarity[slot * MAX_WORDS + at] as number) > best) {
          best = tagSimilarity[slot * MAX_WORDS + at] as number
        }
      }
      if (best < worst) worst = best
      reached += best / EXACT
      possible++
      pairs++
    }
    if (kind + 1 - listedInitials < pairs) return 0
    const listedLeft = Math.max(0, kind + 1 - pairs - initialPairs)
    const initialsLeft = Math.min(listedInitials, listedLeft)
    const extraListed = listedLeft - initialsLeft + ROLE_WEIGHT[INITIAL_ROLE] * initialsLeft
    let score = reached / (possible + RULES.extraQuery * extraQuery + RULES.extraListed * extraListed)
    for (let n = Math.min(extraQuery, listedLeft); n > 0; n--) score *= RULES.conflict
    return score * doubt(worst) * (query.exactMask === 0 ? 1 : RULES.joined)
  }

  return {
    counts: expander.counts,
    search(name, scoreMin) {
      judge.hits.clear()
      query.scoreMin = scoreMin
      if (!name.words.some(({ role }) => role === 'full')) return []
      for (const reading of readingsOf(name.words, divider.knows, divider.divisions)) search(reading, name)
      return [...judge.hits.values()]
    },
  }
}
