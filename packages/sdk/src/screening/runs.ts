import type { HitChange, RunHit, RunHitPage, RunPage, RunRecord, RunState } from '@ostiary/contract'
import type { Send } from '../http.ts'

export interface ListRunsOptions {
  limit?: number
  cursor?: string
  dataset?: string
  /** Only the runs that were begun with this name. */
  series?: string
  state?: RunState
  signal?: AbortSignal
}

export interface CompareRunsOptions {
  /** The earlier run, of the same dataset. */
  with: string
  signal?: AbortSignal
}

/** A hit that one of two runs has, or that both have with another score or other facts. */
export type ChangedHit = RunHit & { change: HitChange; earlierScore: number | null }

export interface RunComparison {
  run: RunRecord
  /** The earlier run. */
  with: RunRecord
  new: ChangedHit[]
  gone: ChangedHit[]
  changed: ChangedHit[]
  /** What makes the two runs hard to compare, in sentences: another threshold, or other matching rules. */
  notes: string[]
}

type Signal = { signal?: AbortSignal }

const RUNS = '/v2/open-sanctions/runs'
const HITS_PER_PAGE = 1_000
const pathOf = (id: string) => `${RUNS}/${encodeURIComponent(id)}`
const withSignal = ({ signal }: Signal) => (signal ? { signal } : {})

/** Runs of area B that the tenant keeps. */
export function createRunsClient(send: Send) {
  const list = ({ signal, ...query }: ListRunsOptions = {}): Promise<RunPage> =>
    send({ method: 'GET', path: RUNS, query, ...withSignal({ ...(signal && { signal }) }) })
  const get = (id: string, options: Signal = {}): Promise<RunRecord> =>
    send({ method: 'GET', path: pathOf(id), ...withSignal(options) })

  /** All pages of `list`, newest first. */
  async function* all(options: Omit<ListRunsOptions, 'cursor'> = {}): AsyncGenerator<RunRecord, void> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: RunPage = await list({ ...options, ...(cursor !== undefined && { cursor }) })
      yield* page.items
      cursor = page.nextCursor
    }
  }

  /** The hits of a complete run as keyed hashes; with `since`, what differs from that earlier run. */
  async function* hits(id: string, options: Signal & { since?: string } = {}): AsyncGenerator<RunHit, void> {
    const { since } = options
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = { since, limit: HITS_PER_PAGE, cursor }
      const page: RunHitPage = await send({ method: 'GET', path: `${pathOf(id)}/hits`, query, ...withSignal(options) })
      yield* page.items
      cursor = page.nextCursor
    }
  }

  async function compare(id: string, { with: earlier, signal }: CompareRunsOptions): Promise<RunComparison> {
    const options = { ...(signal && { signal }) }
    const [run, before] = [await get(id, options), await get(earlier, options)]
    const found: Record<HitChange, ChangedHit[]> = { new: [], gone: [], changed: [] }
    for await (const { change, earlierScore = null, ...hit } of hits(id, { since: earlier, ...options })) {
      if (change) found[change].push({ ...hit, change, earlierScore })
    }
    return { run, with: before, ...found, notes: differencesOf(run, before) }
  }

  return {
    list,
    all,
    get,
    hits,
    compare,
    delete: (id: string, options: Signal = {}): Promise<void> =>
      send({ method: 'DELETE', path: pathOf(id), ...withSignal(options) }),
    /** `screenAll` with `run` or `since` does this. A repeated call only leaves a run that is deleted after a day. */
    begin: (body: { dataset: string; series?: string }, options: Signal = {}): Promise<RunRecord> =>
      send({ method: 'POST', path: RUNS, body, ...withSignal(options) }),
    complete: (id: string, body: { parts: number }, options: Signal = {}): Promise<RunRecord> =>
      send({ method: 'POST', path: `${pathOf(id)}/complete`, body, ...withSignal(options) }),
  }
}
export type RunsClient = ReturnType<typeof createRunsClient>

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
