import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Gauge } from 'prom-client'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { createLabelledCounter, type LabelledCounter, type Metrics } from '../platform/metrics.ts'
import {
  lookUpNetwork,
  NETWORK_LISTS,
  type NetworkFacts,
  type NetworkListName,
  type NetworkLists,
  parseNetworkList,
} from './network-lists.ts'
import type { NetworkRanges } from './network-ranges.ts'

const NAMES = Object.keys(NETWORK_LISTS) as NetworkListName[]
/** Two million networks with a country. */
const FILE_BYTES_MAX = 64 * 1024 * 1024
const LOOK_EVERY_MS = 60_000

interface Deps {
  /** Where the files are; null if the operator has none. */
  dir: string | null
  clock: Clock
  log: Log
  metrics: Metrics
}

/** The operator's lists in memory. A file that changes is read again; a bad one is refused, and the list before it stays. */
export function createNetworkLists({ dir, clock, log, metrics }: Deps) {
  const lists: NetworkLists = {}
  const versions = new Map<NetworkListName, string>()
  const refused = watchLists(metrics, lists)
  let lookedMs = clock.monotonicMs()
  let looking: Promise<void> | undefined

  function take(name: NetworkListName, ranges: NetworkRanges): void {
    lists[name] = ranges
    log.info({ detail: NETWORK_LISTS[name], count: ranges.size }, 'network list loaded')
  }

  async function refreshOne(folder: string, name: NetworkListName): Promise<void> {
    const version = await versionOf(folder, name)
    if (version === versions.get(name)) return
    // Before it is read: a list that is refused is read again when it changes, not every minute.
    versions.set(name, version)
    try {
      if (version === MISSING) throw new Error('is missing')
      take(name, await readNetworkList(folder, name))
    } catch (error) {
      // The disk may be back in a minute.
      if (isFileError(error)) versions.delete(name)
      refused.count(name)
      log.error({ detail: `${NETWORK_LISTS[name]} ${reasonOf(error)}` }, 'network list not taken; the old one stays')
    }
  }

  async function refreshAll(folder: string): Promise<void> {
    for (const name of NAMES) await refreshOne(folder, name)
    looking = undefined
  }

  /** Looks whether a file has changed, at most once a minute. */
  function refresh(): Promise<void> {
    const isDue = dir !== null && clock.monotonicMs() - lookedMs >= LOOK_EVERY_MS
    if (!isDue || looking) return looking ?? Promise.resolve()
    lookedMs = clock.monotonicMs()
    looking = refreshAll(dir)
    return looking
  }

  return {
    /** Reads all files. Throws if one cannot be used: a list that is silently missing looks like a time without attacks. */
    async load(): Promise<void> {
      if (dir === null) return
      await assertFolder(dir)
      for (const name of NAMES) {
        const version = await versionOf(dir, name)
        versions.set(name, version)
        if (version !== MISSING) take(name, await readNetworkList(dir, name).catch((error) => refuse(name, error)))
      }
    },
    refresh,
    /** Answers from the lists as they are now; a file that has just changed counts for later calls. */
    find(address: string): NetworkFacts {
      void refresh()
      return lookUpNetwork(lists, address)
    },
    close: async () => looking,
  }
}
export type NetworkListFiles = ReturnType<typeof createNetworkLists>

/** For `ostiary doctor`: how many networks each list in the folder has. Throws like `load`. */
export async function countNetworks(dir: string): Promise<Map<string, number>> {
  await assertFolder(dir)
  const counts = new Map<string, number>()
  for (const name of NAMES) {
    if ((await versionOf(dir, name)) === MISSING) continue
    const { size } = await readNetworkList(dir, name).catch((error) => refuse(name, error))
    counts.set(NETWORK_LISTS[name], size)
  }
  return counts
}

function watchLists(metrics: Metrics, lists: NetworkLists): LabelledCounter {
  new Gauge({
    name: 'ostiary_network_list_networks',
    help: 'Networks in the operator’s lists',
    labelNames: ['list'],
    registers: [metrics.registry],
    collect() {
      for (const [list, { size }] of Object.entries(lists)) this.set({ list }, size)
    },
  })
  return metrics.add(
    createLabelledCounter('ostiary_network_list_refused_total', 'Changed network lists that were not taken', {
      label: 'list',
      values: NAMES,
    }),
  )
}

async function assertFolder(dir: string): Promise<void> {
  const found = await stat(dir).catch(() => undefined)
  if (!found?.isDirectory()) throw new Error('NETWORK_LISTS_DIR: there is no such folder')
}

/** Reads one list, in stretches, so that requests are answered meanwhile. */
async function readNetworkList(dir: string, name: NetworkListName): Promise<NetworkRanges> {
  const path = join(dir, NETWORK_LISTS[name])
  if ((await stat(path)).size > FILE_BYTES_MAX) throw new Error('is larger than 64 MB')
  const reading = parseNetworkList(name, await readFile(path, 'utf8'))
  for (;;) {
    const { done, value } = reading.next()
    if (done) return value
    await nextTurn()
  }
}

const MISSING = 'missing'

/** Changes whenever the file is written or replaced. A file that cannot be looked at is not missing: reading it says why. */
async function versionOf(dir: string, name: NetworkListName): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(join(dir, NETWORK_LISTS[name]))
    return `${mtimeMs}/${size}/${ino}`
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? MISSING : String(code)
  }
}

function refuse(name: NetworkListName, error: unknown): never {
  throw new Error(`NETWORK_LISTS_DIR: ${NETWORK_LISTS[name]} ${reasonOf(error)}`)
}

/** The parser's own words, or the code of a file error, whose message would show the path. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return isFileError(error) ? `cannot be read (${code})` : message
}

const isFileError = (error: unknown) => (error as NodeJS.ErrnoException).code !== undefined
