/**
 * Scores a name against a listed name, from a table of word similarities. The full comparison and the index both call
 * this, so they cannot disagree. The rules, in the order they apply: words are paired, most similar first; words left over
 * on one side cost little (lists include fathers' names, customers leave names out); words left over on both sides
 * contradict each other; one shared word alone is never enough; "Salman son of Omar" is not "Omar son of Salman".
 */
import { MAX_WORDS } from '../names/tokens.ts'

export const PARTICLE = 0
export const INITIAL_ROLE = 1
export const FULL = 2
export const LIGHT = 3
export const ROLE_WEIGHT = [0.2, 0.4, 1, 0.2] as const
type RoleNumber = 0 | 1 | 2 | 3

/** Words that are too frequent to find a name by: the index has no postings for them. */
export const isLight = (role: number): boolean => role === PARTICLE || role === LIGHT

export interface Rules {
  extraQuery: number
  extraListed: number
  conflict: number
  oneWordMax: number
  initialMax: number
  doubtfulBelow: number
  perDoubt: number
  reordered: number
  swappedFatherAndSon: number
  joined: number
  otherCharacters: number
}

export const RULES: Rules = {
  /** What a word costs that only the customer's name has, and one that only the listed name has, as parts of its weight. */
  extraQuery: 0.3,
  extraListed: 0.12,
  /** The factor for each pair of words that contradict each other. */
  conflict: 0.7,
  /** The highest score when the names share one word and either name has more than one. */
  oneWordMax: 0.6,
  /** The highest score when the names share one word and an initial. */
  initialMax: 0.86,
  /** A pair of words below this similarity is close to a contradiction; `perDoubt` is the cost of each thousandth below it. */
  doubtfulBelow: 820,
  perDoubt: 0.0015,
  reordered: 0.985,
  swappedFatherAndSon: 0.7,
  /** The factor when words were joined or divided to match the listed name. */
  joined: 0.98,
  /** The highest score for the same sound in the same script, but in other characters. */
  otherCharacters: 0.88,
}

/** The input of one comparison: the caller fills it, `scoreTable` reads it. Flat and reused, so that a search allocates nothing. */
export interface SimilarityTable {
  queryLength: number
  listedLength: number
  queryRole: Uint8Array
  listedRole: Uint8Array
  /** Row per query word, column per listed word, in thousandths. */
  similarity: Uint16Array
  /** After scoring: the listed word each query word was paired with, or -1. */
  pairedWith: Int8Array
  /** Position of a patronymic marker (bin, oglu …) in each name, or -1. */
  queryMarker: number
  listedMarker: number
}

export function createTable(): SimilarityTable {
  return {
    queryLength: 0,
    listedLength: 0,
    queryRole: new Uint8Array(MAX_WORDS),
    listedRole: new Uint8Array(MAX_WORDS),
    similarity: new Uint16Array(MAX_WORDS * MAX_WORDS),
    pairedWith: new Int8Array(MAX_WORDS),
    queryMarker: -1,
    listedMarker: -1,
  }
}

/** Pairs the words, most similar first. Equal pairs go by nearest position, so that a repeated name pairs in order. */
function pairWords(table: SimilarityTable): void {
  const { queryLength, listedLength, similarity, pairedWith } = table
  pairedWith.fill(-1)
  let listedUsed = 0
  for (;;) {
    let best = 0
    let query = -1
    let listed = -1
    for (let i = 0; i < queryLength; i++) {
      if ((pairedWith[i] as number) >= 0) continue
      for (let j = 0; j < listedLength; j++) {
        if (listedUsed & (1 << j)) continue
        const value = similarity[i * MAX_WORDS + j] as number
        if (value === 0) continue
        if (value > best || (value === best && Math.abs(i - j) < Math.abs(query - listed))) {
          best = value
          query = i
          listed = j
        }
      }
    }
    if (query < 0) return
    pairedWith[query] = listed
    listedUsed |= 1 << listed
  }
}

/** Returns 0 to 1, before calibration. The pairing stays in the table for the explanation. */
export function scoreTable(table: SimilarityTable, rules: Rules = RULES): number {
  pairWords(table)
  const { queryLength, listedLength, queryRole, listedRole, similarity, pairedWith } = table
  let reached = 0
  let possible = 0
  let extraQuery = 0
  let fullPairs = 0
  let initialPairs = 0
  let queryNames = 0
  let listedUsed = 0
  let queryLeft = 0
  let swapped = false
  let highest = -1
  let worst = 1000
  for (let i = 0; i < queryLength; i++) {
    const role = queryRole[i] as number
    if (!isLight(role)) queryNames++
    const j = pairedWith[i] as number
    if (j < 0) {
      extraQuery += ROLE_WEIGHT[role as RoleNumber]
      if (role !== PARTICLE) queryLeft++
      continue
    }
    listedUsed |= 1 << j
    const other = listedRole[j] as number
    const weight = ROLE_WEIGHT[Math.min(role, other) as RoleNumber]
    possible += weight
    reached += (weight * (similarity[i * MAX_WORDS + j] as number)) / 1000
    if (isLight(role)) continue
    if (role === FULL && other === FULL) {
      fullPairs++
      worst = Math.min(worst, similarity[i * MAX_WORDS + j] as number)
    }
    if (role !== FULL || other !== FULL) initialPairs++
    if (j < highest) swapped = true
    else highest = j
  }
  if (fullPairs === 0) return 0
  let extraListed = 0
  let listedNames = 0
  let listedLeft = 0
  for (let j = 0; j < listedLength; j++) {
    const role = listedRole[j] as number
    if (!isLight(role)) listedNames++
    if (listedUsed & (1 << j)) continue
    extraListed += ROLE_WEIGHT[role as RoleNumber]
    if (role !== PARTICLE) listedLeft++
  }
  let score = reached / (possible + rules.extraQuery * extraQuery + rules.extraListed * extraListed)
  const conflicts = Math.min(queryLeft, listedLeft)
  for (let n = 0; n < conflicts; n++) score *= rules.conflict
  score *= doubt(worst, rules)
  if (swapped) score *= isSwappedFatherAndSon(table) ? rules.swappedFatherAndSon : rules.reordered
  if (fullPairs === 1 && (queryNames > 1 || listedNames > 1)) {
    score = Math.min(score, initialPairs > 0 ? rules.initialMax : rules.oneWordMax)
  }
  return score
}

/** The factor for a name whose least similar pair of words has this similarity. */
export function doubt(worst: number, { doubtfulBelow, perDoubt }: Rules = RULES): number {
  return worst < doubtfulBelow ? 1 - perDoubt * (doubtfulBelow - worst) : 1
}

/** Whether both names have a patronymic marker, and father and son are swapped around it. */
function isSwappedFatherAndSon({
  queryMarker,
  listedMarker,
  pairedWith,
  queryLength,
  listedLength,
}: SimilarityTable): boolean {
  if (queryMarker < 1 || listedMarker < 1) return false
  if (queryMarker === queryLength - 1) {
    // The marker comes after the father's name: "Karvol Mendrik oglu".
    const last = listedMarker === listedLength - 1 && queryMarker > 1 && listedMarker > 1
    return last && pairedWith[queryMarker - 1] === listedMarker - 2 && pairedWith[queryMarker - 2] === listedMarker - 1
  }
  return pairedWith[queryMarker - 1] === listedMarker + 1 && pairedWith[queryMarker + 1] === listedMarker - 1
}
