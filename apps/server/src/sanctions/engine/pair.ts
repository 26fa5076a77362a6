/** Compares two names in full, without an index. The index must agree with it, and explanations of hits use it. */
import { spellingOf, tableSimilarity } from '../names/groups.ts'
import { EXACT, INITIAL, skeletonOf, wordSimilarity } from '../names/similarity.ts'
import { PATRONYMIC_MARKERS } from '../names/tables.ts'
import { MAX_WORDS, type Name, particleOf, type Role, type Word } from '../names/tokens.ts'
import {
  createTable,
  FULL,
  INITIAL_ROLE,
  isLight,
  LIGHT,
  PARTICLE,
  RULES,
  type Rules,
  type SimilarityTable,
  scoreTable,
} from './name-score.ts'

export const ROLE_NUMBER: Readonly<Record<Role, number>> = {
  particle: PARTICLE,
  initial: INITIAL_ROLE,
  full: FULL,
  light: LIGHT,
}

/** The similarity of two words in their roles, in thousandths. */
export function compareWords(query: Word, listed: Word): number {
  if (isLight(ROLE_NUMBER[query.role]) || isLight(ROLE_NUMBER[listed.role])) {
    return query.role === listed.role && query.text === listed.text ? EXACT : 0
  }
  if (query.role === 'initial' || listed.role === 'initial') {
    if (query.text[0] !== listed.text[0]) return 0
    return query.role === listed.role ? EXACT : INITIAL
  }
  if (query.text === listed.text) return EXACT
  return Math.max(
    wordSimilarity(query.text, listed.text, skeletonOf(query.text), skeletonOf(listed.text)),
    tableSimilarity(spellingOf(query.text), spellingOf(listed.text)),
  )
}

/** The position of the first patronymic marker, or -1. */
export function markerOf(words: readonly Word[]): number {
  return words.findIndex(({ text }) => PATRONYMIC_MARKERS.has(text))
}

/** One way to read the customer's name: as written, or with words joined or divided as in the list. */
export interface Reading {
  words: readonly Word[]
  /** Positions that must match a word of the listed name exactly. */
  exactAt: readonly number[]
}

const table = createTable()

export function scoreReading(
  reading: Reading,
  listed: Name,
  strict: boolean,
  rules: Rules = RULES,
): { score: number; table: SimilarityTable } {
  fill(reading.words, listed.words, (i, j) => {
    const value = compareWords(reading.words[i] as Word, listed.words[j] as Word)
    return value < EXACT && (strict || reading.exactAt.includes(i)) ? 0 : value
  })
  const score = scoreTable(table, rules)
  const met = reading.exactAt.every((at) => (table.pairedWith[at] as number) >= 0)
  return { score: met ? score * (reading.exactAt.length > 0 ? rules.joined : 1) : 0, table }
}

function fill(query: readonly Word[], listed: readonly Word[], similarity: (i: number, j: number) => number): void {
  table.queryLength = query.length
  table.listedLength = listed.length
  table.queryMarker = markerOf(query)
  table.listedMarker = markerOf(listed)
  for (let j = 0; j < listed.length; j++) table.listedRole[j] = ROLE_NUMBER[(listed[j] as Word).role]
  for (let i = 0; i < query.length; i++) {
    table.queryRole[i] = ROLE_NUMBER[(query[i] as Word).role]
    for (let j = 0; j < listed.length; j++) table.similarity[i * MAX_WORDS + j] = similarity(i, j)
  }
}

const MAX_JOINED = 3
export const MIN_JOINED_LENGTH = 5
const MIN_PART = 3
const MIN_PARTICLE = 2
const MIN_RECUT = 2

/** Every reading of a name whose joined or divided words `has` accepts. The first is the name as written. */
export function readingsOf(
  words: readonly Word[],
  has: (word: Word) => boolean,
  divide: (text: string) => readonly Word[][] = divisionsOf,
): Reading[] {
  const readings: Reading[] = [{ words, exactAt: [] }]
  for (let from = 0; from < words.length; from++) {
    const word = words[from] as Word
    let text = word.text
    for (let to = from + 1; to < words.length && to < from + MAX_JOINED; to++) {
      text += (words[to] as Word).text
      if (text.length < MIN_JOINED_LENGTH) continue
      const joined: Word = { text, role: 'full' }
      if (has(joined)) readings.push(replaced(words, from, to + 1, [joined]))
    }
    const next = words[from + 1]
    if (word.role === 'full' && next?.role === 'full') {
      for (const parts of recut(word.text, next.text, has)) readings.push(replaced(words, from, from + 2, parts))
    }
    if (word.role !== 'full' || words.length === MAX_WORDS) continue
    for (const parts of divide(word.text)) {
      if (parts.every(has)) readings.push(replaced(words, from, from + 1, parts))
    }
  }
  return readings
}

/** The name with other words in place of those from `from` to `to`. They must match exactly. */
function replaced(words: readonly Word[], from: number, to: number, parts: readonly Word[]): Reading {
  return {
    words: [...words.slice(0, from), ...parts, ...words.slice(to)],
    exactAt: parts.length === 1 ? [from] : [from, from + 1],
  }
}

/** Every way to divide a word in two: two names, or an article and a name. */
export function divisionsOf(text: string): Word[][] {
  const divisions: Word[][] = []
  if (text.length < MIN_JOINED_LENGTH) return divisions
  for (let cut = MIN_PARTICLE; cut <= text.length - MIN_PART; cut++) {
    const start = text.slice(0, cut)
    const first = particleOf(start) ?? { text: start, role: 'full' }
    if (first.role === 'full' && cut < MIN_PART) continue
    divisions.push([first, { text: text.slice(cut), role: 'full' }])
  }
  return divisions
}

/** Moves a space by one letter: "lauren tnkunda". Hardly any such word is in the list, so most end with the first. */
function recut(first: string, second: string, has: (word: Word) => boolean): Word[][] {
  const text = first + second
  const found: Word[][] = []
  for (let cut = first.length - 1; cut <= first.length + 1; cut += 2) {
    if (cut < MIN_RECUT || cut > text.length - MIN_RECUT) continue
    const start: Word = { text: text.slice(0, cut), role: 'full' }
    if (!has(start)) continue
    const end: Word = { text: text.slice(cut), role: 'full' }
    if (has(end)) found.push([start, end])
  }
  return found
}

/** The best reading of the customer's name against one listed name, before calibration. */
export function scoreNames(query: Name, listed: Name, rules: Rules = RULES): number {
  return bestReading(query, listed, rules).score
}

export function bestReading(
  query: Name,
  listed: Name,
  rules: Rules = RULES,
): { score: number; reading: Reading; sameCharacters: boolean } {
  const sameCharacters = query.native !== '' && query.script === listed.script
  const asWritten: Reading = { words: query.words, exactAt: [] }
  if (sameCharacters && query.native === listed.native) return { score: 1, reading: asWritten, sameCharacters }
  const has = (word: Word) => listed.words.some(({ text, role }) => role === word.role && text === word.text)
  let best = { score: 0, reading: asWritten, sameCharacters }
  for (const reading of readingsOf(query.words, has)) {
    const { score } = scoreReading(reading, listed, sameCharacters, rules)
    if (score > best.score) best = { score, reading, sameCharacters }
  }
  if (sameCharacters) best.score = Math.min(best.score, rules.otherCharacters)
  return best
}
