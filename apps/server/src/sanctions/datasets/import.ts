/**
 * Imports lists and switches between their versions. When an import fails, the version in service stays in service: a new
 * one replaces it only when it is complete, verified and not suspiciously small.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Ids } from '../../platform/ids.ts'
import { isUpToDate, readFacts, type SnapshotFacts } from '../engine/snapshot.ts'
import { findDeltas } from '../lists/ftm-delta.ts'
import { missingAliasFiles } from '../lists/ofac.ts'
import { detectFormat, type ListFormat } from '../lists/read-list.ts'
import { type BuildOptions, buildSnapshot } from './build.ts'
import type { BuildJob } from './build-main.ts'
import type { DatasetFiles, DatasetId, LastCheck, SetAside } from './files.ts'
import { freshnessOf } from './freshness.ts'
import { DEMO, datasetNameProblem, describeList, type ListKind } from './known.ts'
import { verifySnapshot } from './verify.ts'

export interface ImportRequest extends BuildOptions {
  dataset: DatasetId
  /** The defaults of these three come from known.ts. */
  title?: string | undefined
  licence?: string | undefined
  kind?: ListKind | undefined
  paths: readonly string[]
  /** Detected from the files by default. */
  format?: ListFormat | undefined
  /** A folder with deltas of OpenSanctions, and the version of the file that they are applied to. */
  deltas?: { dir: string; since: string } | undefined
  /** How often the source of the list is checked. Undefined when a person imports it. */
  everyMs?: number | undefined
  /** Imports a list even if it shrank by more than half, lacks its aliases or did not change. */
  force?: boolean | undefined
}

export interface ImportOutcome {
  /** `unchanged`: the same list is already installed, or a rollback took it out of service. */
  state: 'imported' | 'unchanged'
  version: string
  /** The version in service. It differs from `version` after a rollback. */
  serving: string
  /** Whether a rollback to `version` is possible: an old snapshot may be deleted or of another index format. */
  canServe: boolean
  format: ListFormat
  facts: SnapshotFacts
  /** Old versions that this import deleted. */
  removed: string[]
}

export interface DatasetOverview {
  dataset: DatasetId
  current: string | null
  /** Newest first. */
  versions: string[]
  /** Facts of the current version. Null when there is no current version, or it cannot be read. */
  facts: SnapshotFacts | null
  /** Size of the current version, and of all versions together. */
  bytes: number
  bytesOnDisk: number
  /** When its source last confirmed it, or a person imported it. Null when there is no current version. */
  checkedAt: string | null
  stale: boolean
  /** Whether it was enabled by name, so that the worker keeps it fresh. */
  enabled: boolean
}

export interface Importer {
  /** The version in service. */
  current(dataset: DatasetId): Promise<string | null>
  importList(request: ImportRequest): Promise<ImportOutcome>
  /** The source of the list has nothing new: the version in service is fresh, unless a rollback holds the source's version back. */
  confirm(dataset: DatasetId, everyMs: number): Promise<void>
  lastCheck(dataset: DatasetId): Promise<LastCheck | null>
  /** Checks all bytes of a version and searches for its canaries. Default: the current version. Throws the problem it finds. */
  verify(dataset: DatasetId, version?: string): Promise<SnapshotFacts>
  /** Puts another version into service. Default: the one before the current version. */
  rollback(dataset: DatasetId, to?: string): Promise<{ from: string | null; to: string }>
  /** Rebuilds the index of the current version from its records. Null when it is already complete and as this release writes it. */
  rebuild(dataset: DatasetId, options?: BuildOptions & { force?: boolean }): Promise<SnapshotFacts | null>
  remove(dataset: DatasetId): Promise<void>
  /** Shared lists first, then those of the tenants. */
  list(): Promise<DatasetOverview[]>
}

export interface ImporterDeps {
  files: DatasetFiles
  clock: Clock
  ids: Ids
  keepVersions: number
}

/** A running import writes to its draft more often than this. An older draft belongs to an import that was killed. */
const STALE_DRAFT_MS = 3_600_000
const FIRST_BYTES = 65_536

type NewFacts = BuildJob['facts']

export function createImporter({ files, clock, ids, keepVersions }: ImporterDeps): Importer {
  /** Builds a version and puts it into service. */
  async function build(
    dataset: DatasetId,
    from: BuildJob['from'],
    facts: Omit<NewFacts, 'dataset' | 'version' | 'createdAt'>,
    { force, setAside, ...options }: BuildOptions & { force?: boolean | undefined; setAside?: SetAside | null },
  ): Promise<{ facts: SnapshotFacts; removed: string[] }> {
    const before = await files.current(dataset)
    const now = clock.now()
    const version = await freshVersion(dataset, now, facts.sources)
    await files.sweep(dataset, new Date(now.getTime() - STALE_DRAFT_MS))
    const unique = ids.nextUnbound()
    const draft = await files.draftOf(dataset, version, unique)
    try {
      const created = { dataset: dataset.name, version, createdAt: now.toISOString() }
      const draftOfCurrent = files.draftOfCurrent(dataset, unique)
      const job = { draft, draftOfCurrent, from, facts: { ...facts, ...created } }
      const made = await buildSnapshot(job, options, async (complete) => {
        if ((await files.current(dataset)) !== before)
          throw new Error('Another import of this list ended in the meantime')
        if (!force) await refuseShrunken(dataset, before, complete)
        await files.keep(draft, dataset, version)
        await files.putIntoService(dataset, version, setAside, unique)
        return complete
      })
      return { facts: made, removed: await files.prune(dataset, keepVersions) }
    } finally {
      await rm(draft, { force: true })
    }
  }

  async function freshVersion(dataset: DatasetId, now: Date, sources: NewFacts['sources']): Promise<string> {
    const version = `${now.toISOString().replaceAll(/\D/g, '').slice(0, 14)}-${digestOf(sources).slice(0, 6)}`
    const taken = (await files.versions(dataset)).filter((other) => other.startsWith(version))
    return taken.length === 0 ? version : `${version}-${taken.length + 1}`
  }

  /** A truncated download must not remove most of the people from the list. */
  async function refuseShrunken(dataset: DatasetId, before: string | null, made: SnapshotFacts): Promise<void> {
    const old = before === null ? null : await factsOf(dataset, before)
    // Compares names too: a list that lost its aliases has as many entries as before.
    const shrunken = (['entries', 'names'] as const).find((each) => old && made[each] * 2 < old[each])
    if (!old || !shrunken) return
    throw new Error(
      `The new list has ${made[shrunken]} ${shrunken}, the one in service ${old[shrunken]}: refused, because more than half are missing. ` +
        'If the new list is correct, import it with --force',
    )
  }

  async function factsOf(dataset: DatasetId, version: string): Promise<SnapshotFacts | null> {
    try {
      return await readFacts(files.pathOf(dataset, version))
    } catch {
      return null // broken or deleted: serving or verifying it reports the reason
    }
  }

  async function isWhole(dataset: DatasetId, version: string): Promise<boolean> {
    return verify(dataset, version).then(
      () => true,
      () => false,
    )
  }

  /** The version in service, or else the newest one, if it has the same bytes and this index format and is complete. */
  async function sameList(dataset: DatasetId, wanted: Omit<NewFacts, 'skipped' | 'dataset' | 'version' | 'createdAt'>) {
    const [current, [newest]] = [await files.current(dataset), await files.versions(dataset)]
    for (const version of new Set([current, newest])) {
      const facts = version ? await factsOf(dataset, version) : null
      const isSame =
        facts &&
        digestOf(facts.sources) === digestOf(wanted.sources) &&
        (['title', 'licence', 'kind'] as const).every((key) => facts[key] === wanted[key])
      if (version && isSame && (await isWhole(dataset, version))) return { version, facts }
    }
    return null
  }

  async function setAsideOf(dataset: DatasetId): Promise<SetAside | null> {
    const aside = await files.setAside(dataset)
    if (!aside || aside.digest !== null) return aside
    const facts = await factsOf(dataset, aside.version)
    return { ...aside, digest: facts && digestOf(facts.sources) }
  }

  /** A list that a rollback took out of service stays out, unless the version in service is a broken copy of the same files. */
  async function heldBack(dataset: DatasetId, digest: string) {
    const [aside, serving] = [await setAsideOf(dataset), await files.current(dataset)]
    if (aside?.digest !== digest || serving === null) return null
    const current = await factsOf(dataset, serving)
    if (current && digestOf(current.sources) === digest && !(await isWhole(dataset, serving))) return null
    const facts = (await factsOf(dataset, aside.version)) ?? current
    if (!facts) return null
    return { version: aside.version, serving, facts, canServe: await isWhole(dataset, aside.version) }
  }

  async function importList(request: ImportRequest): Promise<ImportOutcome> {
    const at = clock.now()
    const outcome = await importFiles(request)
    // After a rollback the version in service is not the source's.
    if (outcome.serving === outcome.version)
      await files.markChecked(request.dataset, { at, everyMs: request.everyMs ?? null })
    return outcome
  }

  async function importFiles(request: ImportRequest): Promise<ImportOutcome> {
    const { dataset, force, onProgress, signal } = request
    const problem = datasetNameProblem(dataset)
    if (problem) throw new Error(problem)
    const deltas = request.deltas ? await findDeltas(request.deltas.dir, request.deltas.since) : []
    const paths = [...request.paths, ...deltas.map(({ name }) => name)]
    const format = request.format ?? (await detectFormatOf(paths))
    if (format === 'ofac' && !force) refuseWithoutAliases(paths)
    const known = describeList(dataset, format)
    const hashes = await Promise.all(paths.map((path) => hashFile(path, signal)))
    const wanted = {
      title: request.title ?? known.title,
      licence: request.licence ?? known.licence,
      kind: request.kind ?? known.kind,
      sources: paths.map((path, at) => ({ name: basename(path), sha256: hashes[at] as string })),
    }
    const installed = force ? null : await findInstalled(dataset, wanted)
    if (installed) return { state: 'unchanged', format, removed: [], ...installed }
    const from = { format, files: paths.map((path, at) => ({ path, sha256: hashes[at] as string })) }
    const built = await build(dataset, from, { ...wanted, skipped: {} }, { force, onProgress, signal })
    const { version } = built.facts
    return { state: 'imported', version, serving: version, canServe: true, format, ...built }
  }

  async function findInstalled(dataset: DatasetId, wanted: Parameters<typeof sameList>[1]) {
    const held = await heldBack(dataset, digestOf(wanted.sources))
    const same = held ? null : await sameList(dataset, wanted)
    if (!same) return held
    // An earlier import may have died at its last step and left a complete version that is not in service.
    if ((await files.current(dataset)) !== same.version) await files.putIntoService(dataset, same.version)
    return { ...same, serving: same.version, canServe: true }
  }

  async function verify(dataset: DatasetId, version?: string): Promise<SnapshotFacts> {
    const wanted = version ?? (await files.current(dataset))
    if (wanted === null) throw new Error(`There is no dataset ${dataset.name}`)
    await refuseMissing(dataset, wanted)
    const facts = await verifySnapshot(files.pathOf(dataset, wanted))
    if (facts.dataset !== dataset.name || facts.version !== wanted)
      throw new Error('The snapshot belongs to another list or version')
    return facts
  }

  async function refuseMissing(dataset: DatasetId, version: string): Promise<void> {
    const versions = await files.versions(dataset)
    if (versions.includes(version)) return
    const others = versions.length > 0 ? `: there are ${versions.join(', ')}` : ''
    throw new Error(`There is no version ${version} of ${dataset.name}${others}`)
  }

  async function reindex(dataset: DatasetId, version: string, options: BuildOptions): Promise<SnapshotFacts> {
    const path = files.pathOf(dataset, version)
    const { title, licence, kind, sources, skipped, entries, createdAt } = await readFacts(path)
    // The list is as old as before, although its new version is not.
    if (!(await files.lastCheck(dataset))) await files.markChecked(dataset, { at: new Date(createdAt), everyMs: null })
    const { 'no comparable name': _counted, ...kept } = skipped
    const facts = { title, licence, kind, sources, skipped: kept }
    const setAside = await setAsideOf(dataset)
    return (await build(dataset, { snapshot: path, entries }, facts, { ...options, setAside })).facts
  }

  async function overview(dataset: DatasetId): Promise<DatasetOverview> {
    const [current, versions] = [await files.current(dataset), await files.versions(dataset)]
    const sizes = await Promise.all(versions.map(async (version) => (await stat(files.pathOf(dataset, version))).size))
    const facts = current === null ? null : await factsOf(dataset, current)
    const checked = await files.lastCheck(dataset)
    const fresh = facts && freshnessOf(dataset, { checked, importedAt: facts.createdAt }, clock.now())
    return {
      dataset,
      current,
      versions,
      facts,
      checkedAt: fresh?.checkedAt.toISOString() ?? null,
      stale: fresh?.isStale ?? false,
      enabled: (await files.source(dataset)) !== null,
      bytes: sizes[versions.indexOf(current ?? '')] ?? 0,
      bytesOnDisk: sizes.reduce((sum, size) => sum + size, 0),
    }
  }

  return {
    current: files.current,
    importList,
    async confirm(dataset, everyMs) {
      if ((await files.setAside(dataset)) === null) await files.markChecked(dataset, { at: clock.now(), everyMs })
    },
    lastCheck: files.lastCheck,
    verify,
    async rollback(dataset, to) {
      const [from, versions] = [await files.current(dataset), await files.versions(dataset)]
      const target = to ?? (from === null ? undefined : versions[versions.indexOf(from) + 1])
      if (target === undefined) throw new Error(`There is no earlier version of ${dataset.name} on this machine`)
      await verify(dataset, target)
      const [newest] = versions
      const facts = newest === undefined ? null : await factsOf(dataset, newest)
      const aside =
        newest === undefined || newest === target ? null : { version: newest, digest: facts && digestOf(facts.sources) }
      await files.putIntoService(dataset, target, aside)
      return { from, to: target }
    },
    async rebuild(dataset, { force = false, ...options } = {}) {
      if (dataset.name === DEMO) return null // rebuilt when the API starts, if necessary
      const current = await files.current(dataset)
      if (current === null) throw new Error(`There is no dataset ${dataset.name}`)
      const isDone = async () => (await isWhole(dataset, current)) && isUpToDate(files.pathOf(dataset, current))
      if (!force && (await isDone())) return null
      return reindex(dataset, current, options).catch((error) => {
        throw unreadable(dataset, error)
      })
    },
    async remove(dataset) {
      const problem = datasetNameProblem(dataset)
      if (problem) throw new Error(problem)
      if ((await files.versions(dataset)).length === 0) throw new Error(`There is no dataset ${dataset.name}`)
      await files.remove(dataset)
    },
    async list() {
      const tenants = [null, ...(await files.tenants())]
      const found = await Promise.all(
        tenants.map(async (tenantId) => (await files.names(tenantId)).map((name) => ({ name, tenantId }))),
      )
      // A failed first import leaves an empty folder.
      return (await Promise.all(found.flat().map(overview))).filter(({ versions }) => versions.length > 0)
    },
  }
}

function refuseWithoutAliases(paths: readonly string[]): void {
  const missing = missingAliasFiles(paths)
  if (missing.length === 0) return
  throw new Error(
    `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not among the files: refused, because OFAC's aliases would be missing. ` +
      'To import the list without them, use --force',
  )
}

/** Adds what to do when a snapshot cannot be read. It replaces texts of parser errors because they may quote the list. */
function unreadable(dataset: DatasetId, error: Error & { code?: string }): Error {
  const isBroken = error.name === 'BrokenSnapshot' || error.code === 'ENOENT'
  if (!isBroken && !(error.name === 'SyntaxError' || error.name === 'RangeError')) return error
  const what = isBroken ? error.message : 'Its records cannot be read'
  return new Error(`${what}: ${dataset.name} cannot be indexed again, import the list again`, { cause: error })
}

/** One digest for all files of a list; their order does not matter. */
function digestOf(sources: readonly { sha256: string }[]): string {
  const hashes = sources.map(({ sha256 }) => sha256).sort()
  return createHash('sha256').update(hashes.join('\n')).digest('hex')
}

async function hashFile(path: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, ...(signal && { signal }) })) {
    hash.update(chunk as Buffer)
  }
  return hash.digest('hex')
}

async function detectFormatOf(paths: readonly string[]): Promise<ListFormat> {
  const [first] = paths
  if (first === undefined) throw new Error('No file of the list is given')
  const file = await open(first, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_BYTES), 0, FIRST_BYTES, 0)
    const format = detectFormat(paths, buffer.subarray(0, bytesRead))
    if (format === null) throw new Error(`${first}: the format could not be detected; set it with --format`)
    return format
  } finally {
    await file.close()
  }
}
