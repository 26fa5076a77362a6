/**
 * The score of one name against one listed name, from a table of word similarities. Both the plain comparison and the
 * index end here, so they cannot disagree. The rules, in the order they are applied:
 * words are paired best first; what is left over on one side costs little (lists carry fathers' names, customers leave
 * names out); words left over on both sides contradict each other; one shared word alone is never enough; "Salman son of
 * Omar" is not "Omar son of Salman".
 */
import { MAX_WORDS } from '../names/tokens.ts'

export const PARTICLE = 0
export const INITIAL_ROLE = 1
export const FULL = 2
export const LIGHT = 3
export const ROLE_WEIGHT = [0.2, 0.4, 1, 0.2] as const
type RoleNumber = 0 | 1 | 2 | 3

/** Words too light to find a name by: the index keeps no list of the names they are in. */
export const isLight = (role: number): boolean => role === PARTICLE || role === LIGHT

export interface Rules {
  extraQuery: number
  extraListed: number
  conflict: number
  oneWordMost: number
  initialMost: number
  doubtfulBelow: number
  perDoubt: number
  reordered: number
  fatherAndSon: number
  joined: number
  otherSigns: number
}

export const RULES: Rules = {
  /** Cost of a word that only the customer's name has, and of one only the listed name has, as parts of its weight. */
  extraQuery: 0.3,
  extraListed: 0.12,
  /** What is left of the score for each pair of words that contradict each other. */
  conflict: 0.7,
  /** One word in common, and more than one word in either name. */
  oneWordMost: 0.6,
  /** One word and an initial. */
  initialMost: 0.86,
  /** A pair of words below this similarity is close to a contradiction; how much each thousandth below it costs. */
  doubtfulBelow: 820,
  perDoubt: 0.0015,
  reordered: 0.985,
  fatherAndSon: 0.7,
  /** Words run together or apart to meet the list. */
  joined: 0.98,
  /** The same sound in the same script, but other signs. */
  otherSigns: 0.88,
}

/** One comparison at a time: the caller fills it, `scoreTable` reads it. Kept flat so that the index allocates nothing. */
export interface Table {
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

export function createTable(): Table {
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

/** Pairs the words best first; of equal pairs the one nearest in position, so that a repeated name pairs in order. */
function pairWords(table: Table): void {
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

/** 0 to 1 before calibration. Leaves the pairing in the table for whoever explains the score. */
export function scoreTable(table: Table, rules: Rules = RULES): number {
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
  if (swapped) score *= isFatherAndSon(table) ? rules.fatherAndSon : rules.reordered
  if (fullPairs === 1 && (queryNames > 1 || listedNames > 1)) {
    score = Math.min(score, initialPairs > 0 ? rules.initialMost : rules.oneWordMost)
  }
  return score
}

/** What is left of a score whose worst pair of words is this alike. */
export function doubt(worst: number, { doubtfulBelow, perDoubt }: Rules = RULES): number {
  return worst < doubtfulBelow ? 1 - perDoubt * (doubtfulBelow - worst) : 1
}

/** Both names say whose son someone is, and the two have changed places around the marker. */
function isFatherAndSon({ queryMarker, listedMarker, pairedWith, queryLength, listedLength }: Table): boolean {
  if (queryMarker < 1 || listedMarker < 1) return false
  if (queryMarker === queryLength - 1) {
    // The marker follows the father: "Karvol Mendrik oglu".
    const last = listedMarker === listedLength - 1 && queryMarker > 1 && listedMarker > 1
    return last && pairedWith[queryMarker - 1] === listedMarker - 2 && pairedWith[queryMarker - 2] === listedMarker - 1
  }
  return pairedWith[queryMarker - 1] === listedMarker + 1 && pairedWith[queryMarker + 1] === listedMarker - 1
}
