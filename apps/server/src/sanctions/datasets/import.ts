/**
 * Lists come in here, and versions change here. Whatever fails, the version that serves goes on serving: a new one takes
 * its place only when it is whole, verified and not suspiciously small.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Ids } from '../../platform/ids.ts'
import { INDEX_FORMAT, readFacts, type SnapshotFacts } from '../engine/snapshot.ts'
import { findDeltas } from '../lists/ftm-delta.ts'
import { detectFormat, type ListFormat } from '../lists/read-list.ts'
import { type BuildOptions, runBuild } from './build.ts'
import type { BuildJob } from './build-main.ts'
import type { DatasetFiles, DatasetId } from './files.ts'
import { DEMO, datasetNameProblem, describeList, type ListKind } from './known.ts'
import { verifySnapshot } from './verify.ts'

export interface ImportRequest extends BuildOptions {
  dataset: DatasetId
  /** What is known about the list is taken where these are not said. */
  title?: string | undefined
  licence?: string | undefined
  kind?: ListKind | undefined
  paths: readonly string[]
  /** Told by the files themselves when it is not said. */
  format?: ListFormat | undefined
  /** OpenSanctions' deltas in a folder, from the version that the file is. */
  deltas?: { dir: string; since: string } | undefined
  /** Also when the list shrank by more than half, and also when nothing changed. */
  force?: boolean | undefined
}

export interface ImportOutcome {
  /** `unchanged`: this very list is there already. */
  state: 'imported' | 'unchanged'
  version: string
  /** Another one than `version` after a rollback. */
  serving: string
  format: ListFormat
  facts: SnapshotFacts
  /** Old versions that were removed. */
  removed: string[]
}

export interface DatasetOverview {
  dataset: DatasetId
  current: string | null
  /** Newest first. */
  versions: string[]
  /** Of the current version. Null when there is none, or it cannot be read. */
  facts: SnapshotFacts | null
  /** Of the current version, and of all together. */
  bytes: number
  bytesOnDisk: number
}

export interface Importer {
  importList(request: ImportRequest): Promise<ImportOutcome>
  /** Reads a version to its last byte and asks its canaries; the current one when none is named. Throws what is wrong. */
  verify(dataset: DatasetId, version?: string): Promise<SnapshotFacts>
  /** Puts another version into service: the one before the current one when none is named. */
  rollback(dataset: DatasetId, to?: string): Promise<{ from: string | null; to: string }>
  /** Makes the index of the current version anew from its records. Null when it is of this engine already. */
  rebuild(dataset: DatasetId, options?: BuildOptions & { force?: boolean }): Promise<SnapshotFacts | null>
  remove(dataset: DatasetId): Promise<void>
  /** Everybody's lists first, then those of the tenants. */
  list(): Promise<DatasetOverview[]>
}

export interface ImporterDeps {
  files: DatasetFiles
  clock: Clock
  ids: Ids
  keepVersions: number
}

/** No import leaves its draft untouched for so long. */
const STALE_DRAFT_MS = 3_600_000
const FIRST_BYTES = 65_536

type NewFacts = BuildJob['facts']

export function createImporter({ files, clock, ids, keepVersions }: ImporterDeps): Importer {
  /** Builds a version and puts it into service. */
  async function build(
    dataset: DatasetId,
    from: BuildJob['from'],
    facts: Omit<NewFacts, 'dataset' | 'version' | 'createdAt'>,
    { force, ...options }: BuildOptions & { force?: boolean | undefined },
  ): Promise<{ facts: SnapshotFacts; removed: string[] }> {
    const before = await files.current(dataset)
    const now = clock.now()
    const version = await freshVersion(dataset, now, facts.sources)
    await files.sweep(dataset, new Date(now.getTime() - STALE_DRAFT_MS))
    const draft = await files.draftOf(dataset, version, ids.nextUnbound())
    try {
      const created = { dataset: dataset.name, version, createdAt: now.toISOString() }
      const made = await runBuild({ draft, from, facts: { ...facts, ...created } }, options)
      if ((await files.current(dataset)) !== before) throw new Error('Another import of this list ended meanwhile')
      if (!force) await refuseShrunken(dataset, before, made)
      await files.keep(draft, dataset, version)
      await files.putIntoService(dataset, version)
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

  /** A download that broke off must not take most of the people off the list. */
  async function refuseShrunken(dataset: DatasetId, before: string | null, made: SnapshotFacts): Promise<void> {
    const old = before === null ? null : await factsOf(dataset, before)
    if (!old || made.entries * 2 >= old.entries) return
    throw new Error(
      `The new list has ${made.entries} entries, the one in service ${old.entries}: refused, as more than half are gone. ` +
        'If that is right, import it with --force',
    )
  }

  async function factsOf(dataset: DatasetId, version: string): Promise<SnapshotFacts | null> {
    try {
      return await readFacts(files.pathOf(dataset, version))
    } catch {
      return null // broken or gone: whoever serves or verifies it says so
    }
  }

  /** The newest version, if it is of these very bytes and of this engine. */
  async function sameList(dataset: DatasetId, wanted: Omit<NewFacts, 'skipped' | 'dataset' | 'version' | 'createdAt'>) {
    const [newest] = await files.versions(dataset)
    const facts = newest === undefined ? null : await factsOf(dataset, newest)
    if (newest === undefined || facts?.format !== INDEX_FORMAT) return null
    const isSame =
      digestOf(facts.sources) === digestOf(wanted.sources) &&
      (['title', 'licence', 'kind'] as const).every((key) => facts[key] === wanted[key])
    return isSame ? { version: newest, facts } : null
  }

  async function importList(request: ImportRequest): Promise<ImportOutcome> {
    const { dataset, force, onProgress, signal } = request
    const problem = datasetNameProblem(dataset)
    if (problem) throw new Error(problem)
    const deltas = request.deltas ? await findDeltas(request.deltas.dir, request.deltas.since) : []
    const paths = [...request.paths, ...deltas.map(({ name }) => name)]
    const format = request.format ?? (await tellFormat(paths))
    const known = describeList(dataset, format)
    const hashes = await Promise.all(paths.map((path) => hashFile(path, signal)))
    const wanted = {
      title: request.title ?? known.title,
      licence: request.licence ?? known.licence,
      kind: request.kind ?? known.kind,
      sources: paths.map((path, at) => ({ name: basename(path), sha256: hashes[at] as string })),
    }
    const same = force ? null : await sameList(dataset, wanted)
    if (same) return { state: 'unchanged', format, removed: [], serving: await serve(dataset, same.version), ...same }
    const from = { format, files: paths.map((path, at) => ({ path, sha256: hashes[at] as string })) }
    const built = await build(dataset, from, { ...wanted, skipped: {} }, { force, onProgress, signal })
    const { version } = built.facts
    return { state: 'imported', version, serving: version, format, ...built }
  }

  /** An import that died at its last step left a whole version that does not serve; one that was rolled back stays back. */
  async function serve(dataset: DatasetId, version: string): Promise<string> {
    const current = await files.current(dataset)
    if (current !== null && (current === version || (await files.setAside(dataset)) === version)) return current
    await files.putIntoService(dataset, version)
    return version
  }

  async function verify(dataset: DatasetId, version?: string): Promise<SnapshotFacts> {
    const wanted = version ?? (await files.current(dataset))
    if (wanted === null) throw new Error(`There is no dataset ${dataset.name}`)
    await refuseMissing(dataset, wanted)
    const facts = await verifySnapshot(files.pathOf(dataset, wanted))
    if (facts.dataset !== dataset.name || facts.version !== wanted)
      throw new Error('The snapshot is that of another list')
    return facts
  }

  async function refuseMissing(dataset: DatasetId, version: string): Promise<void> {
    const versions = await files.versions(dataset)
    if (versions.includes(version)) return
    const others = versions.length > 0 ? `: there are ${versions.join(', ')}` : ''
    throw new Error(`There is no version ${version} of ${dataset.name}${others}`)
  }

  async function overview(dataset: DatasetId): Promise<DatasetOverview> {
    const [current, versions] = [await files.current(dataset), await files.versions(dataset)]
    const sizes = await Promise.all(versions.map(async (version) => (await stat(files.pathOf(dataset, version))).size))
    return {
      dataset,
      current,
      versions,
      facts: current === null ? null : await factsOf(dataset, current),
      bytes: sizes[versions.indexOf(current ?? '')] ?? 0,
      bytesOnDisk: sizes.reduce((sum, size) => sum + size, 0),
    }
  }

  return {
    importList,
    verify,
    async rollback(dataset, to) {
      const [from, versions] = [await files.current(dataset), await files.versions(dataset)]
      const target = to ?? (from === null ? undefined : versions[versions.indexOf(from) + 1])
      if (target === undefined) throw new Error(`There is no earlier version of ${dataset.name} on this machine`)
      await verify(dataset, target)
      const [newest] = versions
      await files.putIntoService(dataset, target, newest === target ? undefined : newest)
      return { from, to: target }
    },
    async rebuild(dataset, { force = false, ...options } = {}) {
      if (dataset.name === DEMO) return null // made anew at every start that needs it
      const current = await files.current(dataset)
      if (current === null) throw new Error(`There is no dataset ${dataset.name}`)
      const path = files.pathOf(dataset, current)
      const { title, licence, kind, sources, skipped, entries, format } = await readFacts(path)
      if (format === INDEX_FORMAT && !force) return null
      const { 'no comparable name': _counted, ...kept } = skipped
      const facts = { title, licence, kind, sources, skipped: kept }
      return (await build(dataset, { snapshot: path, entries }, facts, options)).facts
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
      // A first import that failed leaves an empty folder.
      return (await Promise.all(found.flat().map(overview))).filter(({ versions }) => versions.length > 0)
    },
  }
}

/** One digest for all files of a list, in whatever order they were named. */
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

async function tellFormat(paths: readonly string[]): Promise<ListFormat> {
  const [first] = paths
  if (first === undefined) throw new Error('Name the files of the list')
  const file = await open(first, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_BYTES), 0, FIRST_BYTES, 0)
    const format = detectFormat(paths, buffer.subarray(0, bytesRead))
    if (format === null) throw new Error(`${first}: its format could not be told; say which with --format`)
    return format
  } finally {
    await file.close()
  }
}
