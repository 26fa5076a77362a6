/**
 * The files of datasets. A version is one immutable file, written under another name and renamed when it is complete. One
 * small file, replaced by a rename, names the version in service. So a process that dies at any moment leaves either the
 * old state or the new one.
 *
 *   <dir>/<dataset>/<version>.snapshot      <dir>/<dataset>/current.json, checked.json, source.json
 *   <dir>/tenants/<tenant id>/custom_<name>/…      lists that belong to one tenant
 */
import { constants, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newRandom } from '../../platform/random.ts'

export const DATASET_NAME = /^[a-z0-9_]{1,64}$/
export const CUSTOM_PREFIX = 'custom_'
export const VERSION = /^[A-Za-z0-9][A-Za-z0-9.-]{0,63}$/
const SUFFIX = '.snapshot'
const DRAFT = '.tmp'
const CHECKED = 'checked.json'
const CHECKED_BYTES = 96
const SOURCE = 'source.json'
export const TENANTS = 'tenants'

/** A dataset by its name, and by its tenant if it belongs to one. */
export interface DatasetId {
  name: string
  tenantId: string | null
}

/** The version that a rollback took out of service. */
export interface SetAside {
  version: string
  /** The digest of the list's files. Null where an older release, which stored no digest, did the rollback. */
  digest: string | null
}

/** The last time that the source of a list confirmed its version in service. */
export interface LastCheck {
  at: Date
  /** How often the source is to be checked. Null where a person imported the list. */
  everyMs: number | null
}

export interface DatasetFiles {
  /** Names of the shared datasets, or of those of one tenant. */
  names(tenantId: string | null): Promise<string[]>
  /** Tenants with their own lists. */
  tenants(): Promise<string[]>
  /** Versions on disk, newest first. */
  versions(dataset: DatasetId): Promise<string[]>
  current(dataset: DatasetId): Promise<string | null>
  /**
   * Makes this version the current one. A rollback also names the version that it took out of service. `unique` as in `draftOf`;
   * random by default.
   */
  putIntoService(dataset: DatasetId, version: string, setAside?: SetAside | null, unique?: string): Promise<void>
  /** The version that a rollback took out of service. Importing the same list again must not put it back. */
  setAside(dataset: DatasetId): Promise<SetAside | null>
  /** Null where no check is stored, as in a folder of an older release. */
  lastCheck(dataset: DatasetId): Promise<LastCheck | null>
  markChecked(dataset: DatasetId, check: LastCheck): Promise<void>
  /** Where the worker gets the list from (JSON), if it was enabled by name. Null for other lists. */
  source(dataset: DatasetId): Promise<string | null>
  keepSource(dataset: DatasetId, json: string): Promise<void>
  pathOf(dataset: DatasetId, version: string): string
  /** The path for a new version until it is complete. Two imports of one dataset never share it. */
  draftOf(dataset: DatasetId, version: string, unique: string): Promise<string>
  /** The path for the next `current.json` until it is complete. */
  draftOfCurrent(dataset: DatasetId, unique: string): string
  /** Turns a complete draft into a version. */
  keep(draft: string, dataset: DatasetId, version: string): Promise<void>
  /** Removes the drafts of killed imports: those that were last written before `since`. */
  sweep(dataset: DatasetId, since: Date): Promise<void>
  /** Removes all versions but the newest `count` and the current one. Returns the removed versions. */
  prune(dataset: DatasetId, count: number): Promise<string[]>
  remove(dataset: DatasetId): Promise<void>
  /** For this process, a shared dataset is stored in another folder. */
  relocate(name: string, dir: string): void
}

/** The content of `current.json`. */
interface CurrentFile {
  version: string
  setAside?: string
  setAsideDigest?: string
}

export function createDatasetFiles(dir: string): DatasetFiles {
  const elsewhere = new Map<string, string>()
  const folderOf = ({ name, tenantId }: DatasetId) => {
    if (!DATASET_NAME.test(name)) throw new Error('Invalid name of a dataset')
    if (tenantId !== null && !/^[0-9a-f-]{36}$/.test(tenantId)) throw new Error('Invalid id of a tenant')
    return tenantId === null ? join(elsewhere.get(name) ?? dir, name) : join(dir, TENANTS, tenantId, name)
  }
  const pathOf = (dataset: DatasetId, version: string) => {
    if (!VERSION.test(version)) throw new Error('Invalid name of a version')
    return join(folderOf(dataset), `${version}${SUFFIX}`)
  }
  async function readCurrent(dataset: DatasetId): Promise<CurrentFile | null> {
    try {
      const content = JSON.parse(await readFile(join(folderOf(dataset), 'current.json'), 'utf8')) as CurrentFile
      if (isVersion(content.version)) return content
      throw new Error('current.json does not name a version')
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
  }
  const files: DatasetFiles = {
    async names(tenantId) {
      const own = await list(tenantId === null ? dir : join(dir, TENANTS, tenantId))
      const names = tenantId === null ? [...own.filter((name) => name !== TENANTS), ...elsewhere.keys()] : own
      return [...new Set(names)].filter((name) => DATASET_NAME.test(name)).sort()
    },
    tenants: () => list(join(dir, TENANTS)),
    async versions(dataset) {
      const found = (await list(folderOf(dataset))).filter((name) => name.endsWith(SUFFIX))
      return found
        .map((name) => name.slice(0, -SUFFIX.length))
        .sort()
        .reverse()
    },
    current: async (dataset) => (await readCurrent(dataset))?.version ?? null,
    async setAside(dataset) {
      const { setAside, setAsideDigest = null } = (await readCurrent(dataset)) ?? {}
      if (setAside === undefined) return null
      if (!isVersion(setAside)) throw new Error('setAside in current.json is not a version')
      return { version: setAside, digest: setAsideDigest }
    },
    async putIntoService(dataset, version, setAside, unique = newRandom(16).toString('hex')) {
      const draft = files.draftOfCurrent(dataset, unique)
      const file = await open(draft, 'w')
      try {
        const content: CurrentFile = {
          version,
          ...(setAside && { setAside: setAside.version }),
          ...(setAside?.digest && { setAsideDigest: setAside.digest }),
        }
        await file.writeFile(JSON.stringify(content))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, join(folderOf(dataset), 'current.json'))
      await syncFolder(folderOf(dataset))
    },
    async lastCheck(dataset) {
      const text = await readFile(join(folderOf(dataset), CHECKED), 'utf8').catch(() => '')
      return parseCheck(text)
    },
    async markChecked(dataset, { at, everyMs }) {
      // Written in place, always with the same length: a killed process leaves the old content or the new one, and no draft.
      const text = JSON.stringify({ at: at.toISOString(), everyMs }).padEnd(CHECKED_BYTES)
      const file = await open(join(folderOf(dataset), CHECKED), constants.O_RDWR | constants.O_CREAT)
      try {
        await file.write(text, 0)
        await file.truncate(CHECKED_BYTES)
      } finally {
        await file.close()
      }
    },
    async source(dataset) {
      try {
        return await readFile(join(folderOf(dataset), SOURCE), 'utf8')
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },
    keepSource: (dataset, json) => replace(join(folderOf(dataset), SOURCE), json),
    draftOfCurrent: (dataset, unique) => join(folderOf(dataset), `current.json.${unique}${DRAFT}`),
    pathOf,
    async draftOf(dataset, version, unique) {
      await mkdir(folderOf(dataset), { recursive: true })
      return `${pathOf(dataset, version)}.${unique}${DRAFT}`
    },
    async keep(draft, dataset, version) {
      await rename(draft, pathOf(dataset, version))
      await syncFolder(folderOf(dataset))
    },
    async sweep(dataset, since) {
      for (const name of await list(folderOf(dataset))) {
        const path = join(folderOf(dataset), name)
        if (name.endsWith(DRAFT) && (await stat(path)).mtime < since) await rm(path, { force: true })
      }
    },
    async prune(dataset, count) {
      const current = await files.current(dataset)
      const old = (await files.versions(dataset)).filter((version) => version !== current).slice(Math.max(0, count - 1))
      for (const version of old) await rm(pathOf(dataset, version), { force: true })
      return old
    },
    async remove(dataset) {
      await rm(folderOf(dataset), { recursive: true, force: true })
    },
    relocate: (name, folder) => void elsewhere.set(name, folder),
  }
  return files
}

/** A file that cannot be read counts as missing: the import's own time is used then, which is never later. */
function parseCheck(text: string): LastCheck | null {
  try {
    const { at, everyMs } = JSON.parse(text) as { at?: unknown; everyMs?: unknown }
    const time = new Date(String(at))
    if (Number.isNaN(time.getTime())) return null
    return { at: time, everyMs: typeof everyMs === 'number' && everyMs > 0 ? everyMs : null }
  } catch {
    return null
  }
}

async function replace(path: string, text: string): Promise<void> {
  const draft = `${path}.${newRandom(16).toString('hex')}${DRAFT}`
  await writeFile(draft, text)
  await rename(draft, path)
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function isVersion(text: unknown): boolean {
  return typeof text === 'string' && VERSION.test(text)
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

/** A rename is durable only after its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
