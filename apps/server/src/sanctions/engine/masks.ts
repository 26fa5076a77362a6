/**
 * Which sets of the customer's words could reach the score if each word of the set matched. It depends only on the roles of the
 * words and on the score, and most names have two or three full words, so the results are kept.
 */
import { EXACT } from '../names/similarity.ts'
import { MAX_WORDS } from '../names/tokens.ts'
import { doubt, FULL, INITIAL_ROLE, isLight, ROLE_WEIGHT, RULES } from './name-score.ts'

/** Sets of words are bit masks: bit `n` stands for the word at position `n`. */
export interface Masks {
  /** 1 where a name that matches exactly these words may reach the score. */
  passes: Uint8Array
  /** 1 where a set may reach the score, but not without any one of its full words. */
  needsAll: Uint8Array
  /** How many of the words can find a name. */
  names: number
  /** How many words besides the scanned one a name must have to reach the score. */
  otherWordsMin: number
  /** The same, without words that an initial of the query stands for: those are not found by their tags. */
  otherMeantMin: number
  /** With how many words besides the scanned one, none of them an initial, a name can reach the score at most. */
  otherWordsMax: number
  /** A name can reach the score when its least similar pair of words has at least this similarity. */
  similarityMin: number
}

const MASKS_KEPT_MAX = 2_000
const ROUNDING = 1e-9

export function createMasks(): (roles: Uint8Array, count: number, exactMask: number, scoreMin: number) => Masks {
  const kept = new Map<number, Map<number, Masks>>()
  let size = 0
  return (roles, count, exactMask, scoreMin) => {
    let key = count * 2 ** MAX_WORDS + exactMask
    for (let at = 0; at < count; at++) key = key * 4 + (roles[at] as number)
    let ofScore = kept.get(scoreMin)
    const known = ofScore?.get(key)
    if (known) return known
    if (size++ >= MASKS_KEPT_MAX) {
      kept.clear()
      size = 1
      ofScore = undefined
    }
    if (!ofScore) {
      ofScore = new Map()
      kept.set(scoreMin, ofScore)
    }
    const made = makeMasks(roles.subarray(0, count), exactMask, scoreMin)
    ofScore.set(key, made)
    return made
  }
}

function makeMasks(roles: Uint8Array, exactMask: number, scoreMin: number): Masks {
  const all = (1 << roles.length) - 1
  const weights = new Float64Array(all + 1)
  const namesIn = new Uint8Array(all + 1)
  for (let mask = 1; mask <= all; mask++) {
    const role = roles[31 - Math.clz32(mask & -mask)] as 0 | 1 | 2 | 3
    weights[mask] = (weights[mask & (mask - 1)] as number) + ROLE_WEIGHT[role]
    namesIn[mask] = (namesIn[mask & (mask - 1)] as number) + (isLight(role) ? 0 : 1)
  }
  const total = weights[all] as number
  const scoreMax = (mask: number) => {
    if ((mask & exactMask) !== exactMask) return 0
    const met = weights[mask] as number
    const most = met / (met + RULES.extraQuery * (total - met))
    return (namesIn[mask] as number) < 2 && (namesIn[all] as number) > 1 ? Math.min(most, RULES.oneWordMax) : most
  }
  const passes = Uint8Array.from({ length: all + 1 }, (_, mask) => (scoreMax(mask) >= scoreMin ? 1 : 0))
  const passing = [...passes.keys()].filter((mask) => passes[mask] === 1)
  const isMinimal = (mask: number) => {
    for (let at = 0; at < roles.length; at++) {
      if (roles[at] === FULL && mask & (1 << at) && passes[mask & ~(1 << at)] === 1) return false
    }
    return true
  }
  const needsAll = new Uint8Array(all + 1)
  for (const mask of passing) if (isMinimal(mask)) needsAll[mask] = 1
  const otherWordsMin = Math.max(0, Math.min(roles.length, ...passing.map((mask) => (namesIn[mask] as number) - 1)))
  return {
    passes,
    needsAll,
    names: namesIn[all] as number,
    otherWordsMin,
    otherMeantMin: otherWordsMin - roles.filter((role) => role === INITIAL_ROLE).length,
    otherWordsMax: otherWordsFor(total, namesIn[all] as number, scoreMin),
    similarityMin: similarityFor(total, scoreMin),
  }
}

/** Where each of `names` words has found an equal one, further words of the listed name still lower the score. */
function otherWordsFor(total: number, names: number, scoreMin: number): number {
  const leftMax = Math.floor((total / (scoreMin - ROUNDING) - total) / RULES.extraListed)
  return Math.max(0, names - 1 + leftMax)
}

/** The score rises with the similarity of the least similar pair, so a binary search finds where it reaches the minimum. */
function similarityFor(total: number, scoreMin: number): number {
  let low = 0
  let high = EXACT + 1
  while (low < high) {
    const middle = (low + high) >>> 1
    const score = ((total - 1 + middle / EXACT) / total) * doubt(middle)
    if (score >= scoreMin - ROUNDING) high = middle
    else low = middle + 1
  }
  return low
}
