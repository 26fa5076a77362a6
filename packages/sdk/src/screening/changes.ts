import type { ListedMatch, MatchedRecord, RowResult, RunRecord, ScreenReply } from '@ostiary/contract'
import type { ChangedHit, RunsClient } from './runs.ts'

/** A row as it stands in the file. */
export interface FileRow {
  /** Your own id of the row. */
  id: string
  /** As in the file. */
  firstname: string
  /** As in the file. */
  lastname: string
  /** As in the file; may be empty. */
  dob: string
  /** Known of rows that match. */
  line?: number
}

export interface ScreeningChange extends ChangedHit {
  /** The row in this file; undefined when the file does not have it any more. */
  row: FileRow | undefined
  /** The listed entry; undefined when it is gone, or beyond the entries that an answer shows. */
  match: ListedMatch | undefined
}

/** What has changed since an earlier run. */
export interface ScreeningChanges {
  /** The earlier run. Null when there was none yet: this is the first. */
  since: RunRecord | null
  /** Hits that only this run has. */
  new: ScreeningChange[]
  /** Hits that only the earlier run has. */
  gone: ScreeningChange[]
  /** Hits that both have, with another score or other facts. */
  changed: ScreeningChange[]
  /** What makes the two runs hard to compare, in sentences. */
  notes: string[]
}

export interface RunWanted {
  dataset: string
  series: string | undefined
  since: string | undefined
  signal: AbortSignal | undefined
}

/** A run that is under way. */
export interface OpenRun {
  id: string
  /** Takes the reply for a part. */
  add(reply: ScreenReply): void
  complete(parts: number, matched: readonly MatchedRecord[]): Promise<{ run: RunRecord; changes?: ScreeningChanges }>
  /** After a failure: nobody will complete the run. One that is complete stays, when only its comparison has failed. */
  abandon(): Promise<void>
}

/** Begins a run. The earlier one is looked up first, so that a wrong id is found before the file is sent. */
export async function openRun(runs: RunsClient, wanted: RunWanted): Promise<OpenRun> {
  const { dataset, series, since, signal } = wanted
  const options = { ...(signal && { signal }) }
  const earlier = since === undefined ? undefined : await earlierRun(runs, { ...wanted, since })
  // Of the rows that match no more, only those with a hit in the earlier run are kept in memory.
  const lookedFor = new Set<string>()
  if (earlier) for await (const { rowKey } of runs.hits(earlier.id, options)) lookedFor.add(rowKey)
  const rows = new Map<string, FileRow>()
  const { id } = await runs.begin({ dataset, ...(series !== undefined && { series }) }, options)
  let isComplete = false
  return {
    id,
    add({ results }) {
      for (const row of results) {
        if (row.rowKey !== undefined && lookedFor.has(row.rowKey)) rows.set(row.rowKey, rowOf(row))
      }
    },
    async complete(parts, matched) {
      const run = await runs.complete(id, { parts }, options)
      isComplete = true
      if (since === undefined) return { run }
      if (!earlier) return { run, changes: { since: null, new: [], gone: [], changed: [], notes: [] } }
      const { new: added, gone, changed, notes } = await runs.compare(id, { with: earlier.id, ...options })
      const named = createNaming(matched, rows)
      const changes = { new: added.map(named), gone: gone.map(named), changed: changed.map(named) }
      return { run, changes: { since: earlier, ...changes, notes } }
    },
    abandon: async () => {
      if (!isComplete) await runs.delete(id).catch(() => undefined)
    },
  }
}

/** `last` is the newest complete run of the same dataset and series. */
async function earlierRun(
  runs: RunsClient,
  { dataset, series, since, signal }: RunWanted & { since: string },
): Promise<RunRecord | undefined> {
  const options = { ...(signal && { signal }) }
  if (since !== 'last') {
    const run = await runs.get(since, options)
    if (run.state !== 'COMPLETE') throw new Error(`The run ${since} is not complete: nothing can be compared with it`)
    if (run.dataset !== dataset) throw new Error(`The run ${since} is of the dataset ${run.dataset}, not of ${dataset}`)
    return run
  }
  const filter = { dataset, state: 'COMPLETE' as const, ...(series !== undefined && { series }), ...options }
  for await (const run of runs.all(filter)) if (run.series === (series ?? null)) return run
  return undefined
}

/** Puts rows and entries of the present file to the keys. */
function createNaming(matched: readonly MatchedRecord[], rows: ReadonlyMap<string, FileRow>) {
  const byRow = new Map<string, MatchedRecord[]>()
  for (const record of matched) {
    const key = record.rowKey ?? ''
    byRow.set(key, [...(byRow.get(key) ?? []), record])
  }
  return (hit: ChangedHit): ScreeningChange => {
    const records = byRow.get(hit.rowKey) ?? []
    const hasMatch = ({ matches }: MatchedRecord) => matches.some(({ entityKey }) => entityKey === hit.entityKey)
    const record = records.find(hasMatch) ?? records[0]
    return {
      ...hit,
      row: record ? { ...rowOf(record), line: record.line } : rows.get(hit.rowKey),
      match: record?.matches.find(({ entityKey }) => entityKey === hit.entityKey),
    }
  }
}

const rowOf = ({ id, firstname, lastname, dob }: RowResult | MatchedRecord): FileRow => ({
  id,
  firstname,
  lastname,
  dob,
})
