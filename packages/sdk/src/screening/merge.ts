import type { MatchedRecord, RowResult, RowWarning, RunRecord, ScreenReply } from '@ostiary/contract'
import type { ScreeningChanges } from './changes.ts'

/** A row for which an exception left out at least one entry. */
export type SilencedRow = RowResult & Required<Pick<RowResult, 'silenced'>>

/** The screening of one file: the replies for all its parts, merged. */
export interface FileScreening {
  /** As it was sent. */
  fileName: string
  /** The dataset that was checked. */
  dataset: string
  /** Its version. */
  version: string
  /** The version of the matching rules. */
  scorerVersion: string
  /** The least score that counted as a match. */
  threshold: number
  /** `summary.runId` of each part: names of the calls, not of the run that is kept. */
  runIds: string[]
  /** Rows of the file. */
  total: number
  /** Best first; rows with the same score in file order. */
  matched: MatchedRecord[]
  /** Some matched rows show only their best entry. */
  truncated: boolean
  /** The source of a list was not checked with success for too long. */
  stale: boolean
  /** Rows for which an exception left out an entry. */
  silenced: SilencedRow[]
  /** Ids of the rows with each warning. */
  warnings: Map<RowWarning, string[]>
  /** How many rows have a warning. */
  warnedRows: number
  /** All rows in file order, if the caller asked to keep them. */
  results: RowResult[] | undefined
  /** The run that the service keeps, if the caller asked for one. */
  run?: RunRecord
  /** What has changed since an earlier run, if the caller named one. */
  changes?: ScreeningChanges
}

export interface Merging {
  /** Adds the reply for the next part. All parts use one version: each after the first requests the version of the first. */
  add(reply: ScreenReply, lineShift: number): void
  /** The version that the first part was checked with; undefined before. */
  version(): string | undefined
  end(): FileScreening
}

export function createMerging(fileName: string, keepResults: boolean): Merging {
  let screening: FileScreening | undefined
  return {
    add(reply, lineShift) {
      screening ??= emptyScreening(fileName, reply, keepResults)
      add(screening, reply, lineShift)
    },
    version: () => screening?.version,
    end() {
      if (!screening) throw new Error('The file has no part')
      screening.matched.sort((a, b) => b.score - a.score || a.line - b.line)
      return screening
    },
  }
}

function emptyScreening(fileName: string, { summary }: ScreenReply, keepResults: boolean): FileScreening {
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

function add(screening: FileScreening, { summary, results }: ScreenReply, lineShift: number): void {
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
