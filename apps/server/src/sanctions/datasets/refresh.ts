/**
 * Keeps lists up to date from folders and URLs. The state of each source is stored beside the datasets, so that a restarted
 * or another worker continues where the last one stopped.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type Outbound, OutboundError } from '../../platform/outbound/index.ts'
import type { Importer } from './import.ts'
import { fileNameOf, parseSources, type RefreshSource } from './sources.ts'

export interface Refresher {
  /** Imports the sources that are due and have changed. Returns how many lists changed. */
  run(now: Date): Promise<number>
}

interface Deps {
  /** The folder of the datasets. */
  dir: string
  /** Read at every run, so that a change needs no restart. */
  sourcesFile: string | null
  importer: Pick<Importer, 'importList' | 'current'>
  outbound: Pick<Outbound, 'download'>
  clock: Clock
  log: Log
}

/** Headers of a download that make the next request conditional. */
interface Validators {
  etag?: string
  modified?: string
}

interface State {
  checkedAt: string
  /** Consecutive failures. */
  failures: number
  /** A digest of the source's settings. Missing in the state of an older release. */
  settings?: string
  /** For a folder: names, sizes and times of its files. For URLs: the validators of each. */
  folder?: string
  urls?: Record<string, Validators>
}

/** The files to import from a source, and the state to store once they are imported. */
interface NewFiles {
  paths: string[]
  remember: Pick<State, 'folder' | 'urls'>
  after?: () => Promise<void>
}
type CheckResult = NewFiles | 'nothing new' | 'not yet'

const MAX_BYTES = 4 * 1024 ** 3
const TIMEOUT_MS = 2 * 3_600_000
const MAX_REDIRECTS = 3
/** A file that changed more recently than this may still be being copied. */
const SETTLED_MS = 60_000
/** The delay after the first failure. It doubles up to the source's own interval, to spare the publisher's server. */
const FIRST_RETRY_MS = 5 * 60_000
/** Tolerance for the job, which runs every five minutes but not to the millisecond. */
const EARLY_MS = 30_000
const STATE_FOLDER = '.refresh'
/** Names of errors whose messages never quote a list. */
const SAFE_TO_LOG = new Set(['Error', 'BrokenSnapshot', 'OutboundError'])

export function createRefresher({ dir, sourcesFile, importer, outbound, clock, log }: Deps): Refresher {
  const folder = join(dir, STATE_FOLDER)
  const stateFile = (dataset: string) => join(folder, `${dataset}.json`)

  async function refresh(source: RefreshSource, now: Date): Promise<boolean> {
    const state = await readState(stateFile(source.dataset))
    if (state && !isDue(source, state, now)) return false
    const checked = { checkedAt: now.toISOString(), settings: settingsOf(source) }
    const { dataset: name, format, title, licence, kind, from } = source
    const dataset = { name, tenantId: null }
    let seen = state
    try {
      // A removed list, or one with changed settings, must be imported although the files are the same.
      const isChanged = state?.settings !== undefined && state.settings !== checked.settings
      if (isChanged || (await importer.current(dataset)) === null) seen = null
      const checkResult =
        'urls' in from ? await download(source, from.urls, seen) : await checkFolder(source, seen, now)
      if (checkResult === 'not yet') return false
      if (checkResult === 'nothing new') {
        await remember(source, { ...seen, ...checked, failures: 0 })
        return false
      }
      const outcome = await importer.importList({ dataset, format, title, licence, kind, paths: checkResult.paths })
      await remember(source, { ...checked, failures: 0, ...checkResult.remember })
      await checkResult.after?.()
      log.info({ detail: name, version: outcome.version, count: outcome.facts.entries }, `dataset ${outcome.state}`)
      return outcome.state === 'imported'
    } catch (err) {
      const reason = SAFE_TO_LOG.has((err as Error).name) ? `: ${(err as Error).message}` : ''
      log.error({ err, detail: `${name}${reason}` }, 'dataset not refreshed, the old version stays in service')
      // Validators of URLs are dropped: the downloaded parts may be of different versions, so the next run fetches all of them.
      const folderSeen = seen?.folder === undefined ? {} : { folder: seen.folder }
      await remember(source, { ...folderSeen, ...checked, failures: (state?.failures ?? 0) + 1 })
      return false
    }
  }

  async function checkFolder({ from }: RefreshSource, state: State | null, now: Date): Promise<CheckResult> {
    if (!('folder' in from)) return 'nothing new'
    const entries = await readdir(from.folder, { withFileTypes: true })
    const found = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).map(({ name }) => name)
    const missing = from.files?.find((name) => !found.includes(name))
    if (missing !== undefined) throw new Error(`${missing} is not in ${from.folder}`)
    const paths = (from.files ?? found.sort()).map((name) => join(from.folder, name))
    if (paths.length === 0) throw new Error(`${from.folder} is empty`)
    const stats = await Promise.all(paths.map((path) => stat(path)))
    if (stats.some(({ mtimeMs }) => Math.abs(now.getTime() - mtimeMs) < SETTLED_MS)) return 'not yet'
    const seen = JSON.stringify(paths.map((path, at) => [path, stats[at]?.size, stats[at]?.mtimeMs]))
    return seen === state?.folder ? 'nothing new' : { paths, remember: { folder: seen } }
  }

  /** Where a list has several files, the unchanged ones are kept from the last run: an import needs all of them. */
  async function download(
    { dataset }: RefreshSource,
    urls: readonly string[],
    state: State | null,
  ): Promise<CheckResult> {
    const place = join(folder, dataset)
    await mkdir(place, { recursive: true })
    const seen: Record<string, Validators> = {}
    let changed = false
    for (const url of urls) {
      const to = join(place, fileNameOf(url) ?? '')
      const before = urls.length === 1 || (await exists(to)) ? state?.urls?.[url] : undefined
      const fetched = await fetchFile(url, to, before)
      changed ||= fetched !== null
      seen[url] = fetched ?? before ?? {}
    }
    if (!changed) return 'nothing new'
    const paths = urls.map((url) => join(place, fileNameOf(url) ?? ''))
    const after = urls.length === 1 ? () => rm(place, { recursive: true, force: true }) : undefined
    return { paths, remember: { urls: seen }, ...(after && { after }) }
  }

  /** Null when the server says that nothing changed. */
  async function fetchFile(url: string, to: string, before: Validators | undefined): Promise<Validators | null> {
    try {
      const { headers } = await outbound.download(url, {
        to,
        maxBytes: MAX_BYTES,
        timeoutMs: TIMEOUT_MS,
        maxRedirects: MAX_REDIRECTS,
        headers: {
          ...(before?.etag !== undefined && { 'if-none-match': before.etag }),
          ...(before?.modified !== undefined && { 'if-modified-since': before.modified }),
        },
      })
      const { etag, 'last-modified': modified } = headers
      return { ...(etag !== undefined && { etag }), ...(modified !== undefined && { modified }) }
    } catch (error) {
      if (error instanceof OutboundError && error.status === 304 && before) return null
      throw error
    }
  }

  async function remember({ dataset }: RefreshSource, state: State): Promise<void> {
    await mkdir(folder, { recursive: true })
    const draft = `${stateFile(dataset)}.tmp`
    await writeFile(draft, JSON.stringify(state))
    await rename(draft, stateFile(dataset))
  }

  return {
    async run(now) {
      if (sourcesFile === null) return 0
      const started = clock.monotonicMs()
      let changed = 0
      for (const source of parseSources(await readFile(sourcesFile, 'utf8'))) {
        // A large download takes a while, so each source is checked against the time at which its turn comes.
        const passed = clock.monotonicMs() - started
        if (await refresh(source, new Date(now.getTime() + passed))) changed++
      }
      return changed
    },
  }
}

function isDue({ everyMs }: RefreshSource, { checkedAt, failures }: State, now: Date): boolean {
  const wait = failures === 0 ? everyMs : Math.min(everyMs, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 16))
  return now.getTime() - Date.parse(checkedAt) >= wait - EARLY_MS
}

/** A digest of all settings but the interval. */
function settingsOf({ format, title, licence, kind, from }: RefreshSource): string {
  return createHash('sha256')
    .update(JSON.stringify([format, title, licence, kind, from]))
    .digest('hex')
}

async function readState(path: string): Promise<State | null> {
  try {
    const state = JSON.parse(await readFile(path, 'utf8')) as Partial<State>
    const isOurs = typeof state.checkedAt === 'string' && Number.isInteger(state.failures)
    return isOurs ? (state as State) : null
  } catch {
    return null // never checked, or unreadable: the source is due
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
