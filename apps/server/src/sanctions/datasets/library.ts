/**
 * The datasets in service. The `current.json` of a list names the version to serve. A new version is loaded in the background
 * while the old one serves, then replaces it. A file that is being screened holds its versions until it is answered, so
 * every answer comes from one version.
 */
import { stat } from 'node:fs/promises'
import type { Dataset } from '@ostiary/contract'
import type { Clock } from '../../platform/clock.ts'
import { AppError } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import { createSingleFlight } from '../../platform/single-flight.ts'
import type { Pool } from '../engine/pool.ts'
import { openSnapshot, readFacts, type SnapshotFacts } from '../engine/snapshot.ts'
import { describeCollection, describeDataset, unknownDataset } from './describe.ts'
import { CUSTOM_PREFIX, DATASET_NAME, type DatasetFiles, type DatasetId, VERSION } from './files.ts'
import { createFreshnessReader, type Freshness } from './freshness.ts'
import { DEMO } from './known.ts'

/** Names that stand for several lists. A list that is imported under such a name replaces the collection. */
export const COLLECTIONS: Readonly<Record<string, { title: string; kind: string | null }>> = {
  default: { title: 'All lists', kind: null },
  sanctions: { title: 'All sanctions lists', kind: 'sanctions' },
  peps: { title: 'All lists of politically exposed persons', kind: 'peps' },
  crime: { title: 'All lists of wanted persons', kind: 'crime' },
}
const CHECK_EVERY_MS = 2_000

/** The versions of a dataset that one file is screened against. They stay open until `release`. */
export interface HeldDataset {
  dataset: string
  version: string
  /** One of the lists was not confirmed by its source for too long. */
  stale: boolean
  /** The keys of the lists in the pool. */
  keys: string[]
  release(): void
}

export interface Library {
  hold(name: string, tenantId: string | null, version?: string): Promise<HeldDataset>
  list(tenantId: string | null): Promise<Dataset[]>
  /** How fresh the shared lists in service are. Reads files only: also for a process that serves no lists. */
  freshness(): Promise<ListFreshness[]>
  /** Loads the versions in service and keeps checking for new ones, even when it rejects because the first check failed. */
  start(): Promise<void>
  /** Waits for the look that is under way. */
  stop(): Promise<void>
}

export interface ListFreshness extends Freshness {
  dataset: string
  /** When the version in service was imported. */
  importedAt: Date
}

interface Loaded {
  id: DatasetId
  version: string
  key: string
  facts: SnapshotFacts
  holders: number
  /** Not the version in service: closed when the last holder releases it. */
  retired: boolean
}

interface Deps {
  files: DatasetFiles
  pool: Pool
  clock: Clock
  log: Log
  /** Builds the bundled list if it is missing; runs before the first check. */
  prepare(): Promise<void>
}

const nameOf = ({ name, tenantId }: DatasetId) => `${tenantId ?? ''}/${name}`

export function createLibrary({ files, pool, clock, log, prepare }: Deps): Library {
  const serving = new Map<string, Loaded>()
  const loading = createSingleFlight<Loaded>()
  /** All versions that are open in the pool, by key. Each is opened once for all files. */
  const opened = new Map<string, Loaded>()
  const facts = new Map<string, SnapshotFacts>()
  const freshness = createFreshnessReader(files, clock)
  let prepared: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let checking: Promise<void> = Promise.resolve()

  /** If the bundled list cannot be built, the others serve without it, and the next check tries again. */
  const ready = () => {
    prepared ??= prepare().catch((err) => {
      log.error({ err }, 'the bundled list cannot be built')
      prepared = undefined
    })
    return prepared
  }

  function load(id: DatasetId, version: string): Promise<Loaded> {
    const key = `${nameOf(id)}@${version}`
    const known = opened.get(key)
    if (known) return Promise.resolve(known)
    return loading.run(key, () => read(id, version, key))
  }

  async function read(id: DatasetId, version: string, key: string): Promise<Loaded> {
    const started = clock.monotonicMs()
    const {
      facts: about,
      index,
      expansions,
      path,
      recordsAt,
      recordsLength,
    } = await openSnapshot(files.pathOf(id, version))
    const records = { path, at: recordsAt, length: recordsLength }
    pool.open(key, { dataset: id.name, version, index, expansions, records })
    const durationMs = Math.round(clock.monotonicMs() - started)
    log.info({ detail: id.name, version, durationMs }, 'dataset read')
    const loaded: Loaded = { id, version, key, facts: about, holders: 0, retired: false }
    opened.set(key, loaded)
    return loaded
  }

  function retire(loaded: Loaded): void {
    loaded.retired = true
    closeUnused(loaded)
  }

  function closeUnused(loaded: Loaded): void {
    if (loaded.holders > 0 || !loaded.retired || opened.get(loaded.key) !== loaded) return
    opened.delete(loaded.key)
    facts.delete(files.pathOf(loaded.id, loaded.version))
    pool.close(loaded.key)
  }

  /** Loads the version that `current.json` names. If it cannot be read, the old version stays in service. */
  async function check(id: DatasetId): Promise<Loaded | null> {
    const name = nameOf(id)
    const old = serving.get(name)
    const version = await files.current(id)
    if (version === null) {
      if (old) retire(old)
      serving.delete(name)
      return null
    }
    if (old?.version === version && opened.get(old.key) === old) return old
    try {
      const loaded = await load(id, version)
      const before = serving.get(name)
      if (before === loaded) return loaded
      loaded.retired = false
      serving.set(name, loaded)
      if (before) retire(before)
      return loaded
    } catch (err) {
      log.error({ err, detail: id.name, version }, 'dataset cannot be read')
      if (old) return old
      return refuse(err)
    }
  }

  async function checkAll(): Promise<void> {
    await ready()
    const shared = (await files.names(null)).map((name): DatasetId => ({ name, tenantId: null }))
    const known = [...serving.values()].map(({ id }) => id)
    const all = new Map([...shared, ...known].map((id) => [nameOf(id), id]))
    for (const id of all.values()) {
      if (stopped) return
      await check(id).catch((err) => log.error({ err, detail: id.name }, 'dataset cannot be checked'))
    }
  }

  /** The lists that a name stands for. Custom lists are found only for their own tenant. */
  async function membersOf(name: string, tenantId: string | null): Promise<DatasetId[]> {
    if (!DATASET_NAME.test(name)) return []
    if (name.startsWith(CUSTOM_PREFIX)) {
      const own = tenantId === null ? [] : await files.names(tenantId)
      return own.includes(name) ? [{ name, tenantId }] : []
    }
    const names = await files.names(null)
    const itself: DatasetId = { name, tenantId: null }
    if (names.includes(name) && (await isList(itself))) return [itself]
    const collection = COLLECTIONS[name]
    if (!collection) return []
    const members: DatasetId[] = []
    for (const each of names) {
      const id: DatasetId = { name: each, tenantId: null }
      if (each === DEMO || !(await isList(id))) continue
      // Fails if the kind of a list is unknown. Leaving the list out could answer "no match" without searching it.
      const { kind } = serving.get(nameOf(id))?.facts ?? (await factsOfCurrent(id)) ?? refuse(new Error('No facts'))
      if (collection.kind === null || kind === collection.kind) members.push(id)
    }
    return members
  }

  /** Whether the dataset has a version in service. A failed first import leaves a folder without one. */
  async function isList(id: DatasetId): Promise<boolean> {
    if (serving.has(nameOf(id))) return true
    const version = await files.current(id).catch((err) => refuse(err))
    return version !== null
  }

  async function factsOf(id: DatasetId, version: string): Promise<SnapshotFacts | null> {
    const path = files.pathOf(id, version)
    const known = facts.get(path)
    if (known) return known
    const found = await readFacts(path).catch(() => null)
    if (found) facts.set(path, found)
    return found
  }

  async function factsOfCurrent(id: DatasetId): Promise<SnapshotFacts | null> {
    const version = await files.current(id)
    return version === null ? null : factsOf(id, version)
  }

  async function unknown(name: string, tenantId: string | null): Promise<AppError> {
    return unknownDataset(name, await list(tenantId))
  }

  /** Has the code of an unknown dataset but another message: a caller that repeats a check has named the dataset correctly. */
  async function unknownVersion(name: string, members: readonly DatasetId[]): Promise<AppError> {
    const known: string[] = []
    for (const id of members) {
      const versions = await files.versions(id)
      known.push(...versions.map((version) => (id.name === name ? version : `${id.name}@${version}`)))
    }
    const isOneList = members.some((id) => id.name === name)
    const message = `must be ${isOneList ? 'one of' : 'made, with + between, of'} ${known.join(', ')}`
    const details = [{ pointer: '/query/version', message }]
    return new AppError('not_found', 'UNKNOWN_DATASET', 'Unknown version of the dataset', { details })
  }

  /** Holds the version in service immediately, because it may be replaced while another list is loaded. */
  async function take(id: DatasetId): Promise<Loaded | null> {
    for (;;) {
      const known = serving.get(nameOf(id))
      const loaded = known && opened.get(known.key) === known ? known : await check(id)
      if (!loaded) return null
      if (opened.get(loaded.key) !== loaded) {
        serving.delete(nameOf(id))
        continue
      }
      loaded.holders++
      return loaded
    }
  }

  async function held(dataset: string, version: string, lists: readonly Loaded[]): Promise<HeldDataset> {
    const fresh = await Promise.all(lists.map(({ id, facts: about }) => freshness(id, about.createdAt)))
    const stale = fresh.some(({ isStale }) => isStale)
    return { dataset, version, stale, keys: lists.map(({ key }) => key), release: releaserOf(lists) }
  }

  function releaserOf(lists: readonly Loaded[]): () => void {
    let released = false
    return () => {
      if (released) return
      released = true
      for (const each of lists) {
        each.holders--
        closeUnused(each)
      }
    }
  }

  async function list(tenantId: string | null): Promise<Dataset[]> {
    await ready()
    const shared = (await files.names(null)).map((name): DatasetId => ({ name, tenantId: null }))
    const own = tenantId === null ? [] : (await files.names(tenantId)).map((name): DatasetId => ({ name, tenantId }))
    const lists: Dataset[] = []
    for (const id of [...shared, ...own]) {
      const about = await factsOfCurrent(id)
      if (!about) continue
      const { isStale: stale } = await freshness(id, about.createdAt)
      lists.push(describeDataset({ name: id.name, facts: about, versions: await files.versions(id), stale }))
    }
    const collections: Dataset[] = []
    for (const [name, { title }] of Object.entries(COLLECTIONS)) {
      const members = await membersOf(name, null)
      if (members.length === 0 || members[0]?.name === name) continue
      const parts = lists.filter((each) => members.some((member) => member.name === each.name))
      collections.push(describeCollection(name, title, parts))
    }
    return [...collections, ...lists]
  }

  return {
    list,
    async freshness() {
      const found: ListFreshness[] = []
      for (const name of await files.names(null)) {
        const id: DatasetId = { name, tenantId: null }
        const about = await factsOfCurrent(id).catch(() => null)
        if (!about) continue
        const importedAt = new Date(about.createdAt)
        found.push({ dataset: name, importedAt, ...(await freshness(id, about.createdAt)) })
      }
      return found
    },
    async hold(name, tenantId, version) {
      await ready()
      const members = await membersOf(name, tenantId)
      if (members.length === 0) throw await unknown(name, tenantId)
      if (version !== undefined) return replay(name, members, version)
      const lists: Loaded[] = []
      try {
        for (const id of members) {
          const loaded = await take(id)
          if (loaded) lists.push(loaded)
        }
        if (lists.length === 0) throw await unknown(name, tenantId)
        return await held(name, versionOf(name, lists), lists)
      } catch (error) {
        releaserOf(lists)()
        throw error
      }
    },
    async start() {
      stopped = false
      const again = () => {
        if (stopped) return
        timer = setTimeout(() => {
          checking = checkAll()
            .catch((err) => log.error({ err }, 'datasets cannot be checked'))
            .finally(again)
        }, CHECK_EVERY_MS)
        timer.unref()
      }
      // Also after a failed first check: the problem may be gone at the next one.
      checking = checkAll().finally(again)
      await checking
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await checking.catch(() => undefined)
    },
  }

  /** Holds an earlier version, which is loaded for this file and closed after it unless it is in service. */
  async function replay(name: string, members: DatasetId[], version: string): Promise<HeldDataset> {
    const wanted = parseVersion(version, members)
    if (!wanted) throw await unknownVersion(name, members)
    const lists: Loaded[] = []
    try {
      for (const { id, version: each } of wanted) {
        const current = serving.get(nameOf(id))
        const known = current?.version === each ? current : null
        if (!known && !(await exists(files.pathOf(id, each)))) throw await unknownVersion(name, members)
        const loaded = known ?? (await load(id, each).catch((err) => refuse(err)))
        // HeldDataset immediately: while the next list is loaded, another file may release this one.
        loaded.holders++
        if (serving.get(nameOf(id)) !== loaded) loaded.retired = true
        lists.push(loaded)
      }
      return await held(name, version, lists)
    } catch (error) {
      releaserOf(lists)()
      throw error
    }
  }

  function refuse(cause: unknown): never {
    throw new AppError('unavailable', 'DATASET_UNAVAILABLE', 'The dataset cannot be read', { cause })
  }
}

/** The version of a list, or the versions of all members of a collection: `us_ofac_sdn@…+un_sc_sanctions@…`. */
function versionOf(name: string, lists: readonly Loaded[]): string {
  const [only, ...more] = lists
  if (only && more.length === 0 && only.id.name === name) return only.version
  return lists.map(({ id, version }) => `${id.name}@${version}`).join('+')
}

/** Null where the text is not a version of these lists, for example if it names another list, or one list twice. */
function parseVersion(version: string, members: readonly DatasetId[]): { id: DatasetId; version: string }[] | null {
  const [only, ...more] = members
  if (only && more.length === 0 && VERSION.test(version)) return [{ id: only, version }]
  const parts = version.split('+').map((part) => part.split('@'))
  const wanted = parts.flatMap(([name, each = '', ...rest]) => {
    const id = members.find((member) => member.name === name)
    return id && rest.length === 0 && VERSION.test(each) ? [{ id, version: each }] : []
  })
  const isWhole = wanted.length === parts.length && new Set(wanted.map(({ id }) => id)).size === parts.length
  return isWhole ? wanted : null
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
