/** A piece of a customer's file becomes a piece of the answer, already as JSON: it is made in the thread that matched it. */
import { type ListedMatch, type MatchedRecord, type RowResult, SANCTIONS_LIMITS } from '@ostiary/contract'
import type { Person } from '../csv.ts'
import { readDob } from '../dob.ts'
import { readPerson } from '../names/tokens.ts'
import { describeMatch, type Found, findMatches, type List } from './screen.ts'

export const MATCHES_PER_ROW = SANCTIONS_LIMITS.matchesPerRow

/** A row, with the exceptions that hold for it. */
export interface Row extends Person {
  exceptions?: { entityId: string; exceptionId: string; reason: string; expiresAt: string }[]
}

export interface RowsAnswer {
  /** Entries of `results`, comma-separated; entries of `summary.matched.records` likewise. */
  results: string
  records: string
  matched: number
  warned: number
  /** Matches were left out to keep the answer of the file bounded. */
  shortened: boolean
}

export interface RowsTask {
  dataset: string
  threshold: number
  rows: Row[]
  /** Matches shown per row: fewer once a file has shown very many. */
  matchesPerRow: number
}

/** The lists are those of the dataset: one, or the members of a collection. */
export function answerRows(lists: readonly List[], { dataset, threshold, rows, matchesPerRow }: RowsTask): RowsAnswer {
  const results: string[] = []
  const records: string[] = []
  let warned = 0
  let shortened = false
  for (const row of rows) {
    const { result, record } = answerRow(lists, dataset, row, threshold, matchesPerRow)
    results.push(JSON.stringify(result))
    if (record) {
      records.push(JSON.stringify(record))
      shortened ||= matchesPerRow < MATCHES_PER_ROW && record.moreMatches !== undefined
    }
    if (result.warnings.length > 0) warned++
  }
  return { results: results.join(','), records: records.join(','), matched: records.length, warned, shortened }
}

function answerRow(
  lists: readonly List[],
  dataset: string,
  row: Row,
  threshold: number,
  shown: number,
): { result: RowResult; record: MatchedRecord | null } {
  const { id, firstname, lastname, dob, line } = row
  const echo = { id, firstname, lastname, dob }
  const name = readPerson(firstname, lastname)
  const compares = name.words.some(({ role }) => role === 'full') || row.warnings.includes('EMPTY_NAME')
  const warnings = compares ? row.warnings : [...row.warnings, 'NAME_NOT_COMPARABLE' as const]
  const span = readDob(dob)
  const birth = span === undefined || span === 'invalid' ? null : { ...span, circa: false }
  const found = lists.flatMap((list) => findMatches(list, name, birth, threshold)).sort(byScore)
  const { kept, silenced } = silence(found, row)
  const best = kept[0]
  const matched = best !== undefined
  const result: RowResult = {
    ...echo,
    match: matched ? 'true' : 'false',
    score: best?.score ?? silenced[0]?.score ?? null,
    warnings,
    ...(silenced.length > 0 && { silenced }),
  }
  if (!matched) return { result, record: null }
  const matches: ListedMatch[] = kept.slice(0, shown).map((each) => describeMatch(each, name, birth))
  const more = kept.length - matches.length
  const record: MatchedRecord = {
    ...echo,
    score: best.score,
    match: 'true',
    dataset,
    line,
    matches,
    ...(more > 0 && { moreMatches: more }),
  }
  return { result, record }
}

const byScore = (a: Found, b: Found) => b.score - a.score || b.nameScore - a.nameScore || a.entity - b.entity

/** An exception takes one listed entry out of one row's matches, and the answer says so. */
function silence(found: readonly Found[], { exceptions }: Row) {
  if (!exceptions || exceptions.length === 0) return { kept: found, silenced: [] }
  const silenced: NonNullable<RowResult['silenced']> = []
  const kept = found.filter(({ list, entity, score }) => {
    const entityId = list.record(entity).id
    const exception = exceptions.find((each) => each.entityId === entityId)
    if (!exception) return true
    const { exceptionId, reason, expiresAt } = exception
    silenced.push({ entityId, score, exceptionId, reason, expiresAt })
    return false
  })
  return { kept, silenced }
}
