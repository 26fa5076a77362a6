/** One row against one list: the decision itself. Pure but for the records, which are read when there is a hit. */
import type { ListedMatch } from '@ostiary/contract'
import type { ListedEntity } from '../lists/listed.ts'
import { type Name, readName } from '../names/tokens.ts'
import { compareBirths, MOST_BIRTH_BONUS, type Span, writeBirth } from './birth.ts'
import { publish, scoreFor } from './calibration.ts'
import { explainBirth, explainNames } from './explain.ts'
import type { NameIndex } from './name-index.ts'
import type { Searcher } from './search.ts'

export interface List {
  dataset: string
  version: string
  index: NameIndex
  searcher: Searcher
  record(entity: number): ListedEntity
}

/** A match before its record is read: enough to rank and to silence it. */
export interface Found {
  list: List
  entity: number
  name: number
  score: number
  nameScore: number
}

const DIGITS = 10_000
/** A score that is rounded up to the threshold counts: what is published must agree with itself. */
const HALF_A_DIGIT = 0.5 / DIGITS
const round = (score: number) => Math.round(score * DIGITS) / DIGITS

/** Every entity of a list at or above the threshold, in no order. */
export function findMatches(list: List, name: Name, birth: Span | null, threshold: number): Found[] {
  const least = scoreFor(threshold - HALF_A_DIGIT - (birth ? MOST_BIRTH_BONUS : 0)) - 1e-9
  const found: Found[] = []
  for (const hit of list.searcher.search(name, Math.max(least, 1e-6))) {
    const nameScore = publish(hit.score)
    const { effect } = compareBirths(birth, birth ? birthsOf(list.index, hit.entity) : [])
    const score = round(Math.min(1, Math.max(0, nameScore + effect)))
    if (score >= threshold) found.push({ list, entity: hit.entity, name: hit.name, score, nameScore: round(nameScore) })
  }
  return found
}

export function birthsOf({ birthAt, births }: NameIndex, entity: number): Span[] {
  const spans: Span[] = []
  for (let at = birthAt[entity] as number; at < (birthAt[entity + 1] as number); at += 2) {
    const from = births[at] as number
    spans.push({ from: Math.abs(from), to: births[at + 1] as number, circa: from < 0 })
  }
  return spans
}

/** The match as the answer shows it. */
export function describeMatch(found: Found, name: Name, birth: Span | null): ListedMatch {
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
    birthDate: births.map(writeBirth),
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
