/** Scores the listed names that a search finds, and keeps the best name of each entity. */
import { EXACT, INITIAL } from '../names/similarity.ts'
import { PATRONYMIC_MARKERS } from '../names/tables.ts'
import { MAX_WORDS, type Name } from '../names/tokens.ts'
import { type Expansion, PER_WORD } from './expand.ts'
import { hashText, INITIAL_TAGS } from './hash.ts'
import { SLOTS } from './meanings.ts'
import { countWords, LAST_WORD, type NameIndex, NEAR_WORDS, SCRIPTS } from './name-index.ts'
import { createTable, FULL, RULES, scoreTable } from './name-score.ts'
import { markerOf } from './pair.ts'
import type { Query } from './query.ts'

export interface Hit {
  entity: number
  name: number
  /** Before calibration and birth date. */
  score: number
}

export interface Judge {
  /** The best name of each entity that reached the score since it was cleared. */
  hits: Map<number, Hit>
  beginReading(name: Name): void
  /** Whether a name in the query's own script can only be the same characters: see `judge`. */
  isWritten(): boolean
  /** Scores the name whose words begin at this offset. */
  judge(from: number): void
}

const SLOT_BITS = 15
const RECENT_NAMES = 4096
const RECENT_SHIFT = 20
const LAST_ROUND = 2 ** (32 - SLOT_BITS) - 1

// Valid for one reading, so that all lists of a thread share them.
const slotMask = new Uint16Array(SLOTS)
const slotSimilarity = new Uint16Array(SLOTS * MAX_WORDS)

export function createJudge(index: NameIndex, query: Query, idOf: (key: string) => number): Judge {
  const { wordAt, wordBytes, wordRole, nameAt, nameNear, nameWords, nameEntity, nameScript, nameNative } = index
  const table = createTable()
  const markers = markerIds(idOf)
  const hits = new Map<number, Hit>()

  // Each word of the list that the current reading may mean has a slot; `wordSlot` maps the word's id to it.
  // The same number also holds the round, so that slots of earlier rounds need not be cleared.
  const wordSlot = new Uint32Array(countWords(index))
  let slots = 0
  let hasSlots = false
  /** A cache of names that were judged lately. A name that has dropped out is judged again, with the same result. */
  const seen = new Uint32Array(RECENT_NAMES)
  const seenRound = new Uint32Array(RECENT_NAMES)
  let round = 0
  let queryNative = 0
  let queryScript = -1

  function slotOf(id: number): number {
    const value = wordSlot[id] as number
    return value >>> SLOT_BITS === round ? value & (SLOTS - 1) : -1
  }

  /** Gives each related word its slot. Few readings come to judge a name, so it is not done before. */
  function fillSlots(): void {
    hasSlots = true
    for (let at = 0; at < query.count; at++) {
      const { numbers, from } = query.expansions[at] as Expansion
      for (let n = from, end = query.relatedEnd[at] as number; n < end; n += PER_WORD) {
        const both = numbers[n + 1] as number
        if (both >>> 16 < query.relatedMin && (both & 65535) >= INITIAL_TAGS) continue
        const id = numbers[n] as number
        let slot = slotOf(id)
        if (slot < 0) {
          if (slots === SLOTS) throw new Error('A name may stand for more words than the search has slots for')
          slot = slots++
          wordSlot[id] = ((round << SLOT_BITS) | slot) >>> 0
          slotMask[slot] = 0
        }
        slotMask[slot] = (slotMask[slot] as number) | (1 << at)
        slotSimilarity[slot * MAX_WORDS + at] = both >>> 16
      }
    }
    table.queryLength = query.count
    table.queryMarker = markerOf(query.words)
    for (let at = 0; at < query.count; at++) table.queryRole[at] = query.roles[at] as number
  }

  /** Scores the name that begins at this offset and keeps it if it is the entity's best. */
  function judge(from: number): void {
    const place = Math.imul(from, 0x9e3779b1) >>> RECENT_SHIFT
    if (seen[place] === from + 1 && seenRound[place] === round) return
    seen[place] = from + 1
    seenRound[place] = round
    if (!hasSlots) fillSlots()
    let mask = query.always
    let count = 0
    for (let word = 0; word < LAST_WORD; count++) {
      word = nameWords[from + count] as number
      const slot = slotOf(word & ~LAST_WORD)
      if (slot >= 0) mask |= slotMask[slot] as number
    }
    if (query.masks.passes[mask] === 0) return
    const name = queryScript < 0 ? -1 : nameBeginning(from)
    const sameCharacters = name >= 0 && nameScript[name] === queryScript
    const isSame = sameCharacters && nameNative[name] === queryNative
    if (sameCharacters && !isSame && query.scoreMin > RULES.otherCharacters) return
    const score = isSame ? 1 : compare(from, count, sameCharacters)
    if (score >= query.scoreMin) keep(nameBeginning(from), score)
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
      for (let i = 0; i < query.count; i++) {
        let value = mask & (1 << i) ? (slotSimilarity[slot * MAX_WORDS + i] as number) : 0
        if (
          query.initials[i] !== -1 &&
          wordRole[id] === FULL &&
          wordBytes[wordAt[id] as number] === query.initials[i]
        ) {
          value = INITIAL
        }
        similarity[i * MAX_WORDS + j] = strict && value < EXACT ? 0 : value
      }
    }
    const score = scoreTable(table)
    if (query.exactMask === 0) return strict ? Math.min(score, RULES.otherCharacters) : score
    for (let i = 0; i < query.count; i++) {
      if (query.exactMask & (1 << i) && (table.pairedWith[i] as number) < 0) return 0
    }
    return strict ? Math.min(score * RULES.joined, RULES.otherCharacters) : score * RULES.joined
  }

  return {
    hits,
    judge,
    isWritten: () => queryScript >= 0,
    beginReading({ native, script }) {
      slots = 0
      hasSlots = false
      queryNative = native === '' ? 0 : hashText(native)
      queryScript = native === '' ? -1 : SCRIPTS.indexOf(script)
      if (++round <= LAST_ROUND) return
      round = 1
      wordSlot.fill(0)
      seenRound.fill(0)
    },
  }
}

export function markerIds(idOf: (key: string) => number): ReadonlySet<number> {
  const keys = [...PATRONYMIC_MARKERS].flatMap((text) => [text, `~${text}`])
  return new Set(keys.map(idOf).filter((id) => id >= 0))
}
