import type { HitChange, RunHit, RunHitPage, RunPage, RunRecord, RunState } from '@ostiary/contract'
import type { CallOptions, Send } from '../http.ts'
import { allPages } from '../session-list.ts'

export interface ListRunsOptions extends CallOptions {
  /** How many on a page. */
  limit?: number
  /** `nextCursor` of the page before. */
  cursor?: string
  /** Only the runs of this dataset. */
  dataset?: string
  /** Only the runs that were begun with this name. */
  series?: string
  /** Only runs in this state. */
  state?: RunState
}

export interface ListRunHitsOptions extends CallOptions {
  /** The id of an earlier run: only what differs from it. */
  since?: string
}

/** How a run is begun. */
export interface BeginRun {
  /** Name of the dataset. */
  dataset: string
  /** Your name for files that are compared with each other. */
  series?: string
}

/** How a run is closed. */
export interface CompleteRun {
  /** How many parts were sent. */
  parts: number
}

export interface CompareRunsOptions extends CallOptions {
  /** The earlier run, of the same dataset. */
  with: string
}

/** A hit that one of two runs has, or that both have with another score or other facts. */
export type ChangedHit = RunHit & {
  /** Whether it is new, gone or changed. */
  change: HitChange
  /** In the earlier run; null where it was not there. */
  earlierScore: number | null
}

export interface RunComparison {
  /** The run that you asked about. */
  run: RunRecord
  /** The earlier run. */
  with: RunRecord
  /** Hits that only this run has. */
  new: ChangedHit[]
  /** Hits that only the earlier run has. */
  gone: ChangedHit[]
  /** Hits that both have, with another score or other facts. */
  changed: ChangedHit[]
  /** What makes the two runs hard to compare, in sentences: another threshold, or other matching rules. */
  notes: string[]
}

const RUNS = '/v2/open-sanctions/runs'
const HITS_PER_PAGE = 1_000
const pathOf = (id: string) => `${RUNS}/${encodeURIComponent(id)}`

/** Runs of area B that the tenant keeps. */
export function createRunsClient(send: Send) {
  const list = ({ signal, timeoutMs, ...query }: ListRunsOptions = {}): Promise<RunPage> =>
    send({ operation: 'listRuns', method: 'GET', path: RUNS, query, signal, timeoutMs })
  const get = (id: string, options: CallOptions = {}): Promise<RunRecord> =>
    send({ ...options, operation: 'getRun', method: 'GET', path: pathOf(id) })

  /** The hits of a complete run as keyed hashes; with `since`, what differs from that earlier run. */
  const hits = (id: string, { since, ...options }: ListRunHitsOptions = {}): AsyncGenerator<RunHit> =>
    allPages(({ cursor }) =>
      send<RunHitPage>({
        ...options,
        operation: 'listRunHits',
        method: 'GET',
        path: `${pathOf(id)}/hits`,
        query: { since, limit: HITS_PER_PAGE, cursor },
      }),
    )

  async function compare(id: string, { with: earlier, ...options }: CompareRunsOptions): Promise<RunComparison> {
    const [run, before] = [await get(id, options), await get(earlier, options)]
    const found: Record<HitChange, ChangedHit[]> = { new: [], gone: [], changed: [] }
    for await (const { change, earlierScore = null, ...hit } of hits(id, { ...options, since: earlier })) {
      if (change) found[change].push({ ...hit, change, earlierScore })
    }
    return { run, with: before, ...found, notes: differencesOf(run, before) }
  }

  return {
    /** One page of runs, newest first. */
    list,
    /** All pages of `list`, newest first. */
    all: (options: Omit<ListRunsOptions, 'cursor'> = {}): AsyncGenerator<RunRecord> =>
      allPages((page) => list({ ...options, ...page })),
    /** Reads a run. */
    get,
    /** The hits of a complete run as keyed hashes; with `since`, what differs from that earlier run. */
    hits,
    /** What differs from an earlier run. */
    compare,
    /** Deletes a run and its hits. */
    delete: (id: string, options: CallOptions = {}): Promise<void> =>
      send({ ...options, operation: 'deleteRun', method: 'DELETE', path: pathOf(id) }),
    /** `screenAll` with `run` or `since` does this. A repeated call only leaves a run that is deleted after a day. */
    begin: (body: BeginRun, options: CallOptions = {}): Promise<RunRecord> =>
      send({ ...options, operation: 'createRun', method: 'POST', path: RUNS, body }),
    /** Closes a run when all its parts were sent. */
    complete: (id: string, body: CompleteRun, options: CallOptions = {}): Promise<RunRecord> =>
      send({ ...options, operation: 'completeRun', method: 'POST', path: `${pathOf(id)}/complete`, body }),
  }
}
export interface RunsClient extends ReturnType<typeof createRunsClient> {}

function differencesOf(run: RunRecord, earlier: RunRecord): string[] {
  const notes: string[] = []
  if (run.scoreThreshold !== earlier.scoreThreshold) {
    notes.push(
      `The threshold was ${earlier.scoreThreshold} and is ${run.scoreThreshold}: hits between the two are new or gone`,
    )
  }
  if (run.scorerVersion !== earlier.scorerVersion) {
    notes.push('The matching rules have changed in between: many hits may have another score')
  }
  if (run.series !== earlier.series) notes.push('The runs are of different series: are they of the same file?')
  return notes
}
