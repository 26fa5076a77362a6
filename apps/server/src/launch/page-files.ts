import { createHash } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'

export interface PageFile {
  /** Below the page's own address, with forward slashes. */
  path: string
  /** On this machine. */
  file: string
  /** The same bytes compressed, where the build has left them beside the file. */
  gzipFile: string | null
  contentType: string
  sizeBytes: number
  isDocument: boolean
  /** Whether other bytes would have another name, so that a browser need not revalidate the file. */
  isImmutable: boolean
  /** Changes when the bytes do. */
  tag: string
}

/**
 * The files of a built page, as they are when the process starts: what is not in this list has no address, so no path can
 * lead out of the folder. Undefined when there is no page in it.
 */
export async function listPageFiles(folder: string): Promise<PageFile[] | undefined> {
  let root: string
  let entries: Dirent[]
  try {
    root = await realpath(folder)
    entries = await readdir(root, { recursive: true, withFileTypes: true })
  } catch {
    return undefined
  }
  const inside = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const real = await Promise.all(inside.map(async (file) => ((await realpath(file)) === file ? [file] : [])))
  const known = new Set(real.flat())
  const served = [...known].filter((file) => PLAIN_PATH.test(pathOf(root, file)) && !isCompressed(file, known))
  const files = await Promise.all(served.map((file) => describe(root, file, known)))
  return files.some(({ path }) => path === INDEX) ? files.toSorted((a, b) => (a.path < b.path ? -1 : 1)) : undefined
}

export const INDEX = 'index.html'

/** Which set of models a built page runs, as its manifest says; undefined when it has none that can be read. */
export async function findPageModels(folder: string): Promise<{ id: string; hash: string } | undefined> {
  try {
    const manifest: unknown = JSON.parse(await readFile(join(folder, 'models/manifest.json'), 'utf8'))
    if (typeof manifest !== 'object' || manifest === null || !('id' in manifest && 'hash' in manifest)) return undefined
    return { id: String(manifest.id), hash: String(manifest.hash) }
  } catch {
    return undefined
  }
}

/** Names that mean nothing to a router and are not hidden. */
const PLAIN_PATH = /^[A-Za-z0-9_][A-Za-z0-9._-]*(\/[A-Za-z0-9_][A-Za-z0-9._-]*)*$/

const pathOf = (root: string, file: string) =>
  file
    .slice(root.length + 1)
    .split(sep)
    .join('/')

const isCompressed = (file: string, known: ReadonlySet<string>) => file.endsWith('.gz') && known.has(file.slice(0, -3))

async function describe(root: string, file: string, known: ReadonlySet<string>): Promise<PageFile> {
  const path = pathOf(root, file)
  const { size: sizeBytes, mtimeMs } = await stat(file)
  const isImmutable = IMMUTABLE.test(path)
  // The name of an immutable file holds a hash of its bytes already, and these are the large ones.
  const hashed = isImmutable ? path : await readFile(file)
  return {
    path,
    file,
    gzipFile: known.has(`${file}.gz`) && (await stat(`${file}.gz`)).mtimeMs >= mtimeMs ? `${file}.gz` : null,
    contentType: CONTENT_TYPES[/\.[^./]+$/.exec(path)?.[0] ?? ''] ?? 'application/octet-stream',
    sizeBytes,
    isDocument: path.endsWith('.html'),
    isImmutable,
    tag: createHash('sha256').update(hashed).digest('base64url').slice(0, 22),
  }
}

/** Files whose names get a hash or a version from the build: scripts and styles, nets, the runtime. */
export const IMMUTABLE =
  /^(assets\/.+-[A-Za-z0-9_-]{8,}\.[a-z0-9]+|models\/[^/]+\/[0-9a-f]{12}\/.+|ort\/\d+\.\d+\.\d+[^/]*\/.+)$/

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
}
