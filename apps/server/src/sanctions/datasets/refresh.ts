/** Keeps lists up to date from folders and URLs: those of the sources file, and those that were enabled by name. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Outbound } from '../../platform/outbound/index.ts'
import type { BuildProgress } from './build-main.ts'
import { checkFolder, downloadFiles, type FetchOptions } from './fetch-files.ts'
import type { DatasetFiles } from './files.ts'
import type { Importer, ImportOutcome } from './import.ts'
import { knownPeriodMs } from './known.ts'
import { createRefreshStates, isDue, type RefreshState, settingsOf } from './refresh-state.ts'
import { parseSources, type RefreshSource } from './sources.ts'

export interface Refresher {
  /** Imports the sources that are due and have changed. Returns how many lists changed. */
  run(now: Date): Promise<number>
  /** Imports a source at once, although nothing may have changed. Throws the problem; the version in service stays then. */
  bring(source: RefreshSource, options?: BringOptions): Promise<ImportOutcome>
}

export interface BringOptions extends Pick<FetchOptions, 'onDownload'> {
  onProgress?: ((progress: BuildProgress) => void) | undefined
  force?: boolean | undefined
}

export interface RefresherDeps {
  /** The folder of the datasets. */
  dir: string
  files: Pick<DatasetFiles, 'names' | 'source'>
  /** Read at every run, so that a change needs no restart. */
  sourcesFile: string | null
  importer: Pick<Importer, 'importList' | 'current' | 'confirm' | 'lastCheck'>
  outbound: Pick<Outbound, 'download'>
  clock: Clock
  log: Log
}

const STATE_FOLDER = '.refresh'
/** Names of errors whose messages never quote a list. */
const SAFE_TO_LOG = new Set(['Error', 'BrokenSnapshot', 'OutboundError'])

export function createRefresher({ dir, files, sourcesFile, importer, outbound, clock, log }: RefresherDeps): Refresher {
  const folder = join(dir, STATE_FOLDER)
  const states = createRefreshStates(folder)

  async function refresh(source: RefreshSource, now: Date): Promise<boolean> {
    const state = await states.read(source)
    const dataset = { name: source.dataset, tenantId: null }
    // A worker of the last release has stored no successful check: the list would be stale until the source is due.
    const isNoted = (await importer.lastCheck(dataset)) !== null
    if (state && !isDue(source, state, now) && (isNoted || state.failures > 0)) return false
    const checked = { checkedAt: now.toISOString(), settings: settingsOf(source) }
    let seen = state
    try {
      // A removed list, or one with changed settings, must be imported although the files are the same.
      const isChanged = state?.settings !== undefined && state.settings !== checked.settings
      if (isChanged || (await importer.current(dataset)) === null) seen = null
      const found = await look(source, seen, { now })
      if (found === 'not yet') return false
      if (found === 'nothing new') {
        if (confirmsUnchanged(source)) await importer.confirm(dataset, source.everyMs)
        await states.write(source, { ...seen, ...checked, failures: 0 })
        return false
      }
      const outcome = await importer.importList({ ...requestOf(source), paths: found.paths })
      await states.write(source, { ...checked, failures: 0, ...found.remember })
      await found.after?.()
      const detail = { detail: dataset.name, version: outcome.version, count: outcome.facts.entries }
      log.info(detail, `dataset ${outcome.state}`)
      return outcome.state === 'imported'
    } catch (err) {
      const reason = SAFE_TO_LOG.has((err as Error).name) ? `: ${(err as Error).message}` : ''
      log.error({ err, detail: `${dataset.name}${reason}` }, 'dataset not refreshed, the old version stays in service')
      // Validators of URLs are dropped: the downloaded parts may be of different versions, so the next run fetches all of them.
      const folderSeen = seen?.folder === undefined ? {} : { folder: seen.folder }
      await states.write(source, { ...folderSeen, ...checked, failures: (state?.failures ?? 0) + 1 })
      return false
    }
  }

  function look(source: RefreshSource, seen: RefreshState | null, options: FetchOptions & { now: Date }) {
    const { dataset, from } = source
    return 'urls' in from
      ? downloadFiles(outbound, { ...options, place: join(folder, dataset), urls: from.urls, ...seenUrls(seen) })
      : checkFolder({ dataset, from }, seen?.folder, options)
  }

  /** The operator's file wins. A source that cannot be read is logged, and the others get their turn. */
  async function enabled(stated: readonly RefreshSource[]): Promise<RefreshSource[]> {
    const sources: RefreshSource[] = []
    for (const name of await files.names(null)) {
      if (stated.some(({ dataset }) => dataset === name)) continue
      try {
        const json = await files.source({ name, tenantId: null })
        if (json !== null) sources.push(...parseSources(`[${json}]`))
      } catch (err) {
        log.error({ err, detail: name }, 'the source of a dataset cannot be read')
      }
    }
    return sources
  }

  return {
    async run(now) {
      const started = clock.monotonicMs()
      let changed = 0
      const refreshAll = async (sources: readonly RefreshSource[]) => {
        for (const source of sources) {
          // A large download takes a while, so each source is checked against the time at which its turn comes.
          const passed = clock.monotonicMs() - started
          if (await refresh(source, new Date(now.getTime() + passed))) changed++
        }
      }
      const stated = await readStated(sourcesFile)
      await refreshAll([...stated.sources, ...(await enabled(stated.sources))])
      if (stated.error) throw stated.error
      return changed
    },
    async bring(source, { onDownload, ...options } = {}) {
      const now = clock.now()
      const found = await look(source, null, { now, evenIfNew: true, onDownload })
      if (typeof found === 'string') throw new Error(`${source.dataset}: the source has no files`)
      const outcome = await importer.importList({ ...requestOf(source), ...options, paths: found.paths })
      const checked = { checkedAt: now.toISOString(), settings: settingsOf(source) }
      await states.write(source, { ...checked, failures: 0, ...found.remember })
      await found.after?.()
      return outcome
    },
  }
}

/**
 * A publisher that answers "unchanged" confirms the list. A folder that nobody filled confirms nothing: a public list from it grows old until
 * its files are written again. Own lists have no publisher who could be behind.
 */
function confirmsUnchanged({ dataset: name, from }: RefreshSource): boolean {
  return 'urls' in from || knownPeriodMs({ name, tenantId: null }) === null
}

function requestOf({ dataset: name, format, title, licence, kind, everyMs }: RefreshSource) {
  return { dataset: { name, tenantId: null }, format, title, licence, kind, everyMs }
}

function seenUrls(seen: RefreshState | null) {
  return seen?.urls === undefined ? {} : { seen: seen.urls }
}

/** An invalid file fails the job, but only after the lists that it does not concern. */
async function readStated(path: string | null): Promise<{ sources: RefreshSource[]; error?: unknown }> {
  if (path === null) return { sources: [] }
  try {
    return { sources: parseSources(await readFile(path, 'utf8')) }
  } catch (error) {
    return { sources: [], error }
  }
}
