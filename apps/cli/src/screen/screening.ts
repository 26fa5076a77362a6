import type { MatchedRecord, RowResult, RowWarning, ScreenReply } from '@ostiary/contract'

/** A row for which an exception left out at least one entry. */
export type SilencedRow = RowResult & Required<Pick<RowResult, 'silenced'>>

/** The screening of one file: the replies for all its parts, merged. */
export interface Screening {
  fileName: string
  dataset: string
  version: string
  scorerVersion: string
  threshold: number
  /** One per part. */
  runIds: string[]
  total: number
  /** Best first; rows with the same score in file order. */
  matched: MatchedRecord[]
  /** Some matched rows show only their best entry. */
  truncated: boolean
  /** The source of a list was not checked with success for too long. */
  stale: boolean
  silenced: SilencedRow[]
  /** Ids of the rows with each warning. */
  warnings: Map<RowWarning, string[]>
  warnedRows: number
  /** All rows in file order, if the caller asked to keep them. */
  results: RowResult[] | undefined
}

/** Merges the replies for all parts. All use one version of the dataset: each part after the first requests the version of the first. */
export function mergeReplies(
  fileName: string,
  replies: Iterable<{ reply: ScreenReply; lineShift: number }>,
  keepResults: boolean,
): Screening {
  let screening: Screening | undefined
  for (const { reply, lineShift } of replies) {
    screening ??= emptyScreening(fileName, reply, keepResults)
    add(screening, reply, lineShift)
  }
  if (!screening) throw new Error('The file has no part')
  screening.matched.sort((a, b) => b.score - a.score || a.line - b.line)
  return screening
}

function emptyScreening(fileName: string, { summary }: ScreenReply, keepResults: boolean): Screening {
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
    stale: false,
    silenced: [],
    warnings: new Map(),
    warnedRows: 0,
    results: keepResults ? [] : undefined,
  }
}

function add(screening: Screening, { summary, results }: ScreenReply, lineShift: number): void {
  if (summary.version !== screening.version || summary.scorerVersion !== screening.scorerVersion) {
    throw new Error('The service changed its matching rules between two parts of the file: screen it again')
  }
  screening.runIds.push(summary.runId)
  screening.total += summary.total
  screening.warnedRows += summary.warnings
  screening.truncated ||= summary.matched.truncated === true
  screening.stale ||= summary.stale === true
  for (const record of summary.matched.records) screening.matched.push({ ...record, line: record.line + lineShift })
  for (const row of results) {
    if (isSilenced(row)) screening.silenced.push(row)
    for (const warning of row.warnings) {
      const ids = screening.warnings.get(warning)
      if (ids) ids.push(row.id)
      else screening.warnings.set(warning, [row.id])
    }
    screening.results?.push(row)
  }
}

function isSilenced(row: RowResult): row is SilencedRow {
  return row.silenced !== undefined && row.silenced.length > 0
}

/** The reply that the service would give for the whole file, with the run ids of all parts. */
export function toJson(screening: Screening): object {
  const { total, matched, truncated, dataset, version, scorerVersion, threshold, runIds, warnedRows, stale } = screening
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
      stale,
    },
    results: screening.results ?? [],
  }
}

/** When the service screened the first part. A run id is a UUID of version 7, which begins with the time. */
export function screenedAt({ runIds }: Pick<Screening, 'runIds'>): Date | undefined {
  const digits = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(runIds[0] ?? '')
  return digits ? new Date(Number.parseInt(`${digits[1]}${digits[2]}`, 16)) : undefined
}

export const entriesOf = ({ matched }: Pick<Screening, 'matched'>) =>
  matched.reduce((sum, { matches, moreMatches = 0 }) => sum + matches.length + moreMatches, 0)

/** The name in the row, or "(no name)". */
export function personOf({ firstname, lastname }: Pick<RowResult, 'firstname' | 'lastname'>): string {
  return [firstname.trim(), lastname.trim()].filter(Boolean).join(' ') || '(no name)'
}

export const count = (value: number) => value.toLocaleString('en-US')

export const plural = (value: number, one: string, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`
