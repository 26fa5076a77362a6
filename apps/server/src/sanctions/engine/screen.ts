/** Decides whether a row matches entities of a list. Pure, except that it reads the records of hits. */
import type { ListedMatch } from '@ostiary/contract'
import type { ListedEntity } from '../lists/listed.ts'
import { type Name, readName } from '../names/tokens.ts'
import { BIRTH_BONUS_MAX, type BirthSpan, compareBirths, formatBirth } from './birth.ts'
import { calibrate, nameScoreFor } from './calibration.ts'
import { explainBirth, explainNames } from './explain.ts'
import type { NameIndex } from './name-index.ts'
import type { Searcher } from './search.ts'

export interface SearchableList {
  dataset: string
  version: string
  index: NameIndex
  searcher: Searcher
  record(entity: number): ListedEntity
}

/** A match before its record is read. It has what is needed to rank it and to apply exceptions. */
export interface FoundMatch {
  list: SearchableList
  entity: number
  name: number
  score: number
  nameScore: number
}

const DIGITS = 10_000
/** A score that is rounded up to the threshold is a match: the published score and decision must agree. */
const HALF_A_DIGIT = 0.5 / DIGITS
const round = (score: number) => Math.round(score * DIGITS) / DIGITS

/** Every entity of a list at or above the threshold, unordered. */
export function findMatches(
  list: SearchableList,
  name: Name,
  birth: BirthSpan | null,
  threshold: number,
): FoundMatch[] {
  const scoreMin = nameScoreFor(threshold - HALF_A_DIGIT - (birth ? BIRTH_BONUS_MAX : 0)) - 1e-9
  const found: FoundMatch[] = []
  for (const hit of list.searcher.search(name, Math.max(scoreMin, 1e-6))) {
    const nameScore = calibrate(hit.score)
    const { effect } = compareBirths(birth, birth ? birthsOf(list.index, hit.entity) : [])
    const score = round(Math.min(1, Math.max(0, nameScore + effect)))
    if (score >= threshold) found.push({ list, entity: hit.entity, name: hit.name, score, nameScore: round(nameScore) })
  }
  return found
}

export function birthsOf({ birthAt, births }: NameIndex, entity: number): BirthSpan[] {
  const spans: BirthSpan[] = []
  for (let at = birthAt[entity] as number; at < (birthAt[entity + 1] as number); at += 2) {
    const from = births[at] as number
    spans.push({ from: Math.abs(from), to: births[at + 1] as number, circa: from < 0 })
  }
  return spans
}

/** The match in the form of the contract. */
export function describeMatch(found: FoundMatch, name: Name, birth: BirthSpan | null): ListedMatch {
  const { list, entity } = found
  const record = list.record(entity)
  const matchedName = record.names[list.index.nameNumber[found.name] as number]?.text ?? ''
  const births = birthsOf(list.index, entity)
  const evidence = compareBirths(birth, birth ? births : [])
  return {
    entityId: record.id,
    name: record.names[0]?.text ?? '',
    matchedName,
    score: found.score,
    birthDate: births.map(formatBirth),
    countries: record.countries,
    topics: record.topics,
    programs: record.programs,
    sourceUrl: record.sourceUrl,
    dataset: list.dataset,
    listVersion: list.version,
    explanation: {
      nameScore: found.nameScore,
      ...explainNames(name, readName(matchedName)),
      dob: explainBirth(birth, births, evidence),
    },
  }
}
