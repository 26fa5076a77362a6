/** Turns a chunk of a customer's file into a chunk of the answer, already as JSON, inside the thread that matches it. */
import { type ListedMatch, type MatchedRecord, type RowResult, SANCTIONS_LIMITS } from '@ostiary/contract'
import type { Person } from '../csv.ts'
import { readDob } from '../dob.ts'
import { readPerson } from '../names/tokens.ts'
import type { ExpansionCounts } from './expand.ts'
import { createHitWriter, type HitWriter, keyText } from './hits.ts'
import { type PackedText, packText } from './packed-text.ts'
import { describeMatch, type FoundMatch, findMatches, type SearchableList } from './screen.ts'

export const MATCHES_PER_ROW = SANCTIONS_LIMITS.matchesPerRow

/** A row of a customer's file with the exceptions that apply to it. */
export interface ScreeningRow extends Person {
  exceptions?: { entityId: string; exceptionId: string; reason: string; expiresAt: string }[]
}

export interface RowsAnswer {
  /** How many of the task's rows are answered, from the first one on. */
  rows: number
  /** Comma-separated entries of `results`, and below of `summary.matched.records`. */
  results: PackedText
  records: PackedText
  matched: number
  warned: number
  /** Whether matches were left out to limit the size of the file's answer. */
  shortened: boolean
  /** Where the expansions of the rows' words came from. */
  expansions: ExpansionCounts
  /** The hits as keyed hashes, for a file that is a part of a run. Those that the answer leaves out are among them. */
  hits?: Uint8Array<ArrayBuffer>
}

export interface RowsTask {
  dataset: string
  threshold: number
  rows: readonly ScreeningRow[]
  /** How many more matched rows show all their matches. The rest show their best one, which limits the size of a file's answer. */
  fullyShownRows: number
  /** The key of the run's hashes; only for a file that is a part of a run. */
  hitKey?: Uint8Array
}

/**
 * Answers rows, at least one, until the time is up. The lists are those of the dataset: one, or the members of a collection.
 */
export function answerRows(
  lists: readonly SearchableList[],
  { dataset, threshold, rows, fullyShownRows, hitKey }: RowsTask,
  isTimeUp: () => boolean,
): RowsAnswer {
  const results: string[] = []
  const records: string[] = []
  let warned = 0
  let shortened = false
  const writer = hitKey && createHitWriter(hitKey)
  const before = countsOf(lists)
  for (const row of rows) {
    const isFullyShown = records.length < fullyShownRows
    const shown = isFullyShown ? MATCHES_PER_ROW : 1
    const { result, record } = answerRow(lists, row, { dataset, threshold, shown, writer })
    results.push(JSON.stringify(result))
    if (record) {
      records.push(JSON.stringify(record))
      shortened ||= !isFullyShown && record.moreMatches !== undefined
    }
    if (result.warnings.length > 0) warned++
    if (isTimeUp()) break
  }
  return {
    rows: results.length,
    results: packText(results.join(',')),
    records: packText(records.join(',')),
    matched: records.length,
    warned,
    shortened,
    expansions: sumCounts(countsOf(lists), before, -1),
    ...(writer && { hits: writer.bytes() }),
  }
}

const NO_COUNTS: ExpansionCounts = { prepared: 0, cached: 0, computed: 0, evicted: 0 }

const countsOf = (lists: readonly SearchableList[]) =>
  lists.reduce((sum, { searcher }) => sumCounts(sum, searcher.counts), NO_COUNTS)

function sumCounts(a: ExpansionCounts, b: ExpansionCounts, sign = 1): ExpansionCounts {
  return {
    prepared: a.prepared + sign * b.prepared,
    cached: a.cached + sign * b.cached,
    computed: a.computed + sign * b.computed,
    evicted: a.evicted + sign * b.evicted,
  }
}

interface Answering {
  dataset: string
  threshold: number
  /** How many matches the answer shows. */
  shown: number
  writer: HitWriter | undefined
}

function answerRow(
  lists: readonly SearchableList[],
  row: ScreeningRow,
  { dataset, threshold, shown, writer }: Answering,
): { result: RowResult; record: MatchedRecord | null } {
  const { id, firstname, lastname, dob, line } = row
  const echo = { id, firstname, lastname, dob }
  const hasName = !row.warnings.includes('EMPTY_NAME')
  const name = hasName ? readPerson(firstname, lastname) : NO_NAME
  const compares = !hasName || name.words.some(({ role }) => role === 'full')
  const warnings = compares ? row.warnings : [...row.warnings, 'NAME_NOT_COMPARABLE' as const]
  const span = readDob(dob)
  const birth = span === undefined || span === 'invalid' ? null : { ...span, circa: false }
  const found = hasName ? lists.flatMap((list) => findMatches(list, name, birth, threshold)).sort(byScore) : []
  const { kept, silenced } = silence(found, row)
  const best = kept[0]
  const matched = best !== undefined
  const ownKey = writer?.rowKey(row)
  const rowKey = ownKey && { rowKey: keyText(ownKey) }
  const result: RowResult = {
    ...echo,
    match: matched ? 'true' : 'false',
    score: best?.score ?? silenced[0]?.score ?? null,
    warnings,
    ...(silenced.length > 0 && { silenced }),
    ...rowKey,
  }
  if (!matched) return { result, record: null }
  if (ownKey) writer?.add(row, ownKey, kept)
  const matches: ListedMatch[] = kept.slice(0, shown).map((each) => ({
    ...describeMatch(each, name, birth),
    ...(writer && { entityKey: keyText(writer.entityKey(each)) }),
  }))
  const more = kept.length - matches.length
  const record: MatchedRecord = {
    ...echo,
    score: best.score,
    match: 'true',
    dataset,
    line,
    matches,
    ...(more > 0 && { moreMatches: more }),
    ...rowKey,
  }
  return { result, record }
}

const NO_NAME = readPerson('', '')
const byScore = (a: FoundMatch, b: FoundMatch) => b.score - a.score || b.nameScore - a.nameScore || a.entity - b.entity

/** An exception removes one listed entry from the matches of one row. The answer reports it as silenced. */
function silence(found: readonly FoundMatch[], { exceptions }: ScreeningRow) {
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
