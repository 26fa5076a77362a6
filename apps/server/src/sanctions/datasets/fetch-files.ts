/** Looks for the files of a source: in a folder, or at URLs. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Outbound, OutboundError } from '../../platform/outbound/index.ts'
import { pickFiles, publishedList } from './published.ts'
import type { RefreshState, Validators } from './refresh-state.ts'
import { type FromFolder, fileNameOf } from './sources.ts'

/** The files to import from a source, and the state to store once they are imported. */
export interface NewFiles {
  paths: string[]
  remember: Pick<RefreshState, 'folder' | 'urls'>
  after?: () => Promise<void>
}

export interface FetchOptions {
  /** The files that a person names now are complete, however new they are. */
  evenIfNew?: boolean
  onDownload?: ((file: string) => void) | undefined
}

const MAX_BYTES = 4 * 1024 ** 3
const TIMEOUT_MS = 2 * 3_600_000
const MAX_REDIRECTS = 3
/** A file that changed more recently than this may still be being copied. */
const SETTLED_MS = 60_000

export async function checkFolder(
  { dataset, from }: { dataset: string; from: FromFolder },
  seen: string | undefined,
  { now, evenIfNew = false }: FetchOptions & { now: Date },
): Promise<NewFiles | 'nothing new' | 'not yet'> {
  const paths = (await filesIn(dataset, from)).map((name) => join(from.folder, name))
  const stats = await Promise.all(paths.map((path) => stat(path)))
  const isNew = stats.some(({ mtimeMs }) => Math.abs(now.getTime() - mtimeMs) < SETTLED_MS)
  if (isNew && !evenIfNew) return 'not yet'
  const found = JSON.stringify(paths.map((path, at) => [path, stats[at]?.size, stats[at]?.mtimeMs]))
  return found === seen ? 'nothing new' : { paths, remember: { folder: found } }
}

async function filesIn(dataset: string, { folder, files, published }: FromFolder): Promise<readonly string[]> {
  const list = published ? publishedList(dataset) : undefined
  const found = await namesIn(folder, { links: list !== undefined })
  if (found.length === 0) throw new Error(`${folder} is empty`)
  const wanted = list ? (pickFiles(list, basename(folder), found) ?? list.files.slice(0, 1)) : files
  const missing = wanted?.find((name) => !found.includes(name))
  if (missing !== undefined) throw new Error(`${missing} is not in ${folder}`)
  return wanted ?? found.sort()
}

/** The files of a folder. With `links` also links to files, such as `sdn.csv` to the edition of the day. */
export async function namesIn(folder: string, { links }: { links: boolean }): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names: string[] = []
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    const leadsToFile = links && entry.isSymbolicLink() && (await isFile(join(folder, entry.name)))
    if (entry.isFile() || leadsToFile) names.push(entry.name)
  }
  return names
}

/** Where a list has several files, the unchanged ones are kept from the last run: an import needs all of them. */
export async function downloadFiles(
  outbound: Pick<Outbound, 'download'>,
  {
    place,
    urls,
    seen = {},
    onDownload,
  }: FetchOptions & { place: string; urls: readonly string[]; seen?: RefreshState['urls'] },
): Promise<NewFiles | 'nothing new'> {
  await mkdir(place, { recursive: true })
  const validators: Record<string, Validators> = {}
  let changed = false
  for (const url of urls) {
    const name = fileNameOf(url) ?? ''
    const to = join(place, name)
    onDownload?.(name)
    const before = urls.length === 1 || (await exists(to)) ? seen[url] : undefined
    const fetched = await fetchFile(outbound, { url, to, before })
    changed ||= fetched !== null
    validators[url] = fetched ?? before ?? {}
  }
  if (!changed) return 'nothing new'
  const paths = urls.map((url) => join(place, fileNameOf(url) ?? ''))
  const after = urls.length === 1 ? () => rm(place, { recursive: true, force: true }) : undefined
  return { paths, remember: { urls: validators }, ...(after && { after }) }
}

interface Fetch {
  url: string
  to: string
  before: Validators | undefined
}

/** Null when the server says that nothing changed. */
async function fetchFile(outbound: Pick<Outbound, 'download'>, { url, to, before }: Fetch): Promise<Validators | null> {
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
    if (!(error instanceof OutboundError)) throw error
    if (error.status === 304 && before) return null
    throw downloadError(url, error)
  }
}

/** Names the file, and leaves out what follows the path: it may hold a password of the mirror. */
function downloadError(url: string, { message, reason, status, code }: OutboundError): Error {
  const { origin, pathname } = new URL(url)
  const detail = status ?? code
  const way = reason === 'forbidden_address' ? '; networks of your own are allowed with OUTBOUND_ALLOW_NETWORKS' : ''
  return new Error(`${origin}${pathname}: ${message}${detail === undefined ? '' : ` (${detail})`}${way}`)
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
