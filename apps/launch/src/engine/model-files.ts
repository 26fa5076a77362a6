import { NETS, type NetId } from '@ostiary/faces'
import { createDownloadQueue } from './download-queue.ts'
import { EngineLoadError, type LoadProgress } from './engine.ts'

/** A file with its expected size and hash. */
export interface PinnedFile {
  /** Relative to the page's folder. */
  path: string
  sizeBytes: number
  /** Hexadecimal. */
  sha256: string
  /** Its compressed size, where the build knows it. The answer's own `content-length` counts more. */
  travelBytes?: number
}

export interface ModelSet {
  id: string
  hash: string
  nets: ReadonlyMap<NetId, PinnedFile>
}

export interface ModelFilesOptions {
  baseUrl: string
  fetch: typeof globalThis.fetch
  onProgress(progress: LoadProgress): void
  /** Whether the service worker has the file at this address. */
  isCached?: (url: string) => Promise<boolean>
  /** If no byte of any file arrives for this long, all downloads fail: a dead connection reports no error. */
  silentMs?: number
}

const SILENT_MS = 30_000
const DOWNLOADS_MAX = 3

type ResponseListener = (response: Response) => void

export const MANIFEST_PATH = 'models/manifest.json'

/** Fetches models and runtime, counts their bytes, and refuses files with another size or hash. */
export function createModelFiles({
  baseUrl,
  fetch,
  onProgress,
  isCached = async () => false,
  silentMs = SILENT_MS,
}: ModelFilesOptions) {
  /** The files that are counted, with their sizes as they travel. */
  const expected = { first: new Map<string, number>(), rest: new Map<string, number>() }
  /** The share of each file that has come. */
  const shares = new Map<string, number>()
  const enqueue = createDownloadQueue(DOWNLOADS_MAX)
  const files = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  const here = new Set<string>()
  let models: Promise<ModelSet> | undefined
  let underWay = 0
  let cut = new AbortController()
  let silence: ReturnType<typeof setTimeout> | undefined

  /** One timer for all files, because browsers start some downloads only when others are done. */
  function heard(): void {
    clearTimeout(silence)
    if (underWay === 0) return
    silence = setTimeout(() => {
      cut.abort(new Error(`Nothing came for ${silentMs} ms`))
      cut = new AbortController()
    }, silentMs)
  }

  async function unlessSilent<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    underWay++
    heard()
    try {
      return await work(cut.signal)
    } finally {
      underWay--
      heard()
    }
  }

  function count(path: string, share: number): void {
    shares.set(path, share)
    tell()
  }

  function tell(): void {
    onProgress({ ...sumOf(expected.first), rest: sumOf(expected.rest) })
  }

  function sumOf(sizes: ReadonlyMap<string, number>) {
    let [loadedBytes, totalBytes] = [0, 0]
    for (const [path, bytes] of sizes) {
      loadedBytes += Math.round(bytes * (shares.get(path) ?? 0))
      totalBytes += bytes
    }
    return { loadedBytes, totalBytes }
  }

  /** The real size, known when the answer begins. A file in the cache stays at nothing. */
  function correct(path: string, { headers }: Response): void {
    const bytes = Number(headers.get('content-length') ?? 0)
    for (const sizes of Object.values(expected)) if (bytes > 0 && sizes.get(path)) sizes.set(path, bytes)
  }

  async function request(path: string, options: RequestInit): Promise<Response> {
    const response = await fetch(new URL(path, baseUrl).href, options)
    if (!response.ok) throw new Error(`The answer was ${response.status}`)
    return response
  }

  async function download(file: PinnedFile, onResponse: ResponseListener): Promise<Uint8Array<ArrayBuffer>> {
    const { path, sizeBytes, sha256 } = file
    count(path, 0)
    const bytes = await unlessSilent(async (signal) => {
      const response = await request(path, { signal, priority: 'low' })
      correct(path, response)
      onResponse(response)
      return readBody(response, sizeBytes, (read) => {
        heard()
        count(path, read / sizeBytes)
      })
    })
    const found = hexOf(await crypto.subtle.digest('SHA-256', bytes))
    if (found !== sha256) throw new Error(`SHA-256 is ${found} instead of ${sha256}`)
    return bytes
  }

  return {
    /** The set that is served now. */
    models(): Promise<ModelSet> {
      models ??= unlessSilent(async (signal) => {
        const response = await request(MANIFEST_PATH, { cache: 'no-cache', signal })
        return readManifest(await response.json())
      }).catch((error) => {
        models = undefined
        throw new EngineLoadError(MANIFEST_PATH, error)
      })
      return models
    },
    /** Adds files to the progress: those that must come first, and the rest. A file in the cache counts as nothing. */
    async expect(first: readonly PinnedFile[], rest: readonly PinnedFile[] = []): Promise<void> {
      const note = async (part: keyof typeof expected, { path, sizeBytes, travelBytes = sizeBytes }: PinnedFile) => {
        const isHere = await isCached(new URL(path, baseUrl).href).catch(() => false)
        if (!expected[part].has(path)) expected[part].set(path, isHere ? 0 : travelBytes)
      }
      await Promise.all([...first.map((file) => note('first', file)), ...rest.map((file) => note('rest', file))])
      tell()
    },
    /**
     * Fetches a file once, in the order of the calls. Only a failed file is fetched again. `onResponse` gets the answer before its body is
     * read: what it makes of a copy must not be used before this resolves, because the hash is not checked yet.
     */
    get(file: PinnedFile, onResponse: ResponseListener = () => {}): Promise<Uint8Array<ArrayBuffer>> {
      const known = files.get(file.path)
      if (known) return known
      const coming = enqueue(() => download(file, onResponse)).then(
        (bytes) => {
          here.add(file.path)
          return bytes
        },
        (error) => {
          files.delete(file.path)
          throw new EngineLoadError(file.path, error)
        },
      )
      files.set(file.path, coming)
      return coming
    },
    /** Whether the file has come, and its bytes are kept. */
    has: (file: PinnedFile): boolean => here.has(file.path),
    /** The net is built, so its bytes are no longer needed. */
    drop(file: PinnedFile): void {
      here.delete(file.path)
      files.delete(file.path)
    },
  }
}

/** What the page needs of the manifest; the rest is for people (docs/models.md). */
export function readManifest(json: unknown): ModelSet {
  const { id, hash, nets } = recordOf(json)
  if (typeof id !== 'string' || typeof hash !== 'string' || !Array.isArray(nets))
    throw new Error('This is not a manifest of models')
  const byId = new Map(nets.map(recordOf).map((net) => [net.id, net]))
  const files = NETS.map((net): [NetId, PinnedFile] => {
    const { file, bytes, sha256 } = byId.get(net) ?? {}
    if (typeof file !== 'string' || typeof bytes !== 'number' || typeof sha256 !== 'string')
      throw new Error(`The manifest does not say where ${net} is`)
    return [net, { path: `models/${file}`, sizeBytes: bytes, sha256 }]
  })
  return { id, hash, nets: new Map(files) }
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Reads into one buffer of the expected size, so that large files are not copied twice. */
async function readBody(
  { body }: Response,
  sizeBytes: number,
  onRead: (readBytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(sizeBytes)
  let read = 0
  const reader = body?.getReader()
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    if (done || !value) break
    if (read + value.length > sizeBytes) throw new Error(`More than the expected ${sizeBytes} bytes came`)
    bytes.set(value, read)
    read += value.length
    onRead(read)
  }
  if (read < sizeBytes) throw new Error(`Only ${read} of ${sizeBytes} bytes came`)
  return bytes
}

function hexOf(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
