import type { MatchedRecord, RowResult, RowWarning, ScreenReply } from '@ostiary/contract'

/** A row of which at least one entry was left out because of an exception. */
export type SilencedRow = RowResult & Required<Pick<RowResult, 'silenced'>>

/** What is known after all parts of a file were screened. */
export interface Outcome {
  fileName: string
  dataset: string
  version: string
  scorerVersion: string
  threshold: number
  /** One per part. */
  runIds: string[]
  total: number
  /** Best first; rows of one score in the order of the file. */
  matched: MatchedRecord[]
  /** Some matched rows show only their best entry. */
  truncated: boolean
  silenced: SilencedRow[]
  /** Ids of the rows with each warning. */
  warnings: Map<RowWarning, string[]>
  warnedRows: number
  /** All rows in the order of the file, where they were asked for. */
  results: RowResult[] | undefined
}

/** Several answers as one. All are of one version of the dataset, because each part after the first asks for it. */
export function mergeReplies(
  fileName: string,
  replies: Iterable<{ reply: ScreenReply; lineShift: number }>,
  keepResults: boolean,
): Outcome {
  let outcome: Outcome | undefined
  for (const { reply, lineShift } of replies) {
    outcome ??= emptyOutcome(fileName, reply, keepResults)
    add(outcome, reply, lineShift)
  }
  if (!outcome) throw new Error('The file has no part')
  outcome.matched.sort((a, b) => b.score - a.score || a.line - b.line)
  return outcome
}

function emptyOutcome(fileName: string, { summary }: ScreenReply, keepResults: boolean): Outcome {
  const { dataset, version, scorerVersion, scoreThreshold } = summary
  return {
    fileName,
    dataset,
    version,
    scorerVersion,
    threshold: scoreThreshold,
    runIds: [],
    total: 0,
    matched: [],
    truncated: false,
    silenced: [],
    warnings: new Map(),
    warnedRows: 0,
    results: keepResults ? [] : undefined,
  }
}

function add(outcome: Outcome, { summary, results }: ScreenReply, lineShift: number): void {
  if (summary.version !== outcome.version || summary.scorerVersion !== outcome.scorerVersion) {
    throw new Error('The service changed its matching rules between two parts of the file: screen it again')
  }
  outcome.runIds.push(summary.runId)
  outcome.total += summary.total
  outcome.warnedRows += summary.warnings
  outcome.truncated ||= summary.matched.truncated === true
  for (const record of summary.matched.records) outcome.matched.push({ ...record, line: record.line + lineShift })
  for (const row of results) {
    if (isSilenced(row)) outcome.silenced.push(row)
    for (const warning of row.warnings) {
      const ids = outcome.warnings.get(warning)
      if (ids) ids.push(row.id)
      else outcome.warnings.set(warning, [row.id])
    }
    outcome.results?.push(row)
  }
}

function isSilenced(row: RowResult): row is SilencedRow {
  return row.silenced !== undefined && row.silenced.length > 0
}

/** The answer of the service as it would be for the whole file, with all run ids. */
export function toJson(outcome: Outcome): object {
  const { total, matched, truncated, dataset, version, scorerVersion, threshold, runIds, warnedRows } = outcome
  return {
    summary: {
      total,
      matched: { count: matched.length, records: matched, ...(truncated && { truncated }) },
      dataset,
      version,
      scorerVersion,
      scoreThreshold: threshold,
      runIds,
      warnings: warnedRows,
    },
    results: outcome.results ?? [],
  }
}

/** When the first part was screened, by the service's clock: a run id begins with the time. */
export function screenedAt({ runIds }: Pick<Outcome, 'runIds'>): Date | undefined {
  const digits = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(runIds[0] ?? '')
  return digits ? new Date(Number.parseInt(`${digits[1]}${digits[2]}`, 16)) : undefined
}

export const entriesOf = ({ matched }: Pick<Outcome, 'matched'>) =>
  matched.reduce((sum, { matches, moreMatches = 0 }) => sum + matches.length + moreMatches, 0)

/** The name as in the row, or words where there is none. */
export function personOf({ firstname, lastname }: Pick<RowResult, 'firstname' | 'lastname'>): string {
  return [firstname.trim(), lastname.trim()].filter(Boolean).join(' ') || '(no name)'
}

export const count = (value: number) => value.toLocaleString('en-US')

export const plural = (value: number, one: string, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`
