import { LAUNCH_API } from '@ostiary/contract/paths'
import type { DeviceClock } from '@ostiary/device'

/** The purpose of a request: the page, its models, a step of the flow, a token or probe of the face, or the result. */
export type LedgerKind = 'page' | 'model' | 'call' | 'token' | 'submit'

export interface LedgerEntry {
  /** Unix milliseconds. */
  atMs: number
  method: string
  /** Includes the query, which is sent too, and the origin if it is not the page's. */
  path: string
  /** Size of the body, without headers. */
  bytesOut: number
  kind: LedgerKind
}

/** A request that was not made through the ledger's own fetch. */
export interface NotedRequest {
  method: string
  url: string
  bytesOut: number
  /** Unix milliseconds. Default: now. */
  atMs?: number
}

export interface Ledger {
  fetch: typeof globalThis.fetch
  note(request: NotedRequest): void
  /** Oldest first. */
  entries(): readonly LedgerEntry[]
  /** Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void
}

export interface LedgerOptions {
  fetch: typeof globalThis.fetch
  clock: Pick<DeviceClock, 'nowMs'>
  /** Address of the page. */
  pageUrl: string
}

/** Lists everything that leaves the device: each request with the bytes that it sent. */
export function createLedger({ fetch, clock, pageUrl }: LedgerOptions): Ledger {
  const entries: LedgerEntry[] = []
  const listeners = new Set<() => void>()
  const note = ({ method, url, bytesOut, atMs = clock.nowMs() }: NotedRequest) => {
    entries.push({ atMs, method, path: pathOf(url, pageUrl), bytesOut, kind: kindOf(url, pageUrl) })
    entries.sort((a, b) => a.atMs - b.atMs)
    for (const listener of listeners) listener()
  }
  return {
    fetch: (input, options = {}) => {
      const request = typeof input === 'object' && 'url' in input ? input : undefined
      // The body of a Request object cannot be counted without reading it, and the page sends none that way.
      if (request?.body) throw new TypeError('Give the body to fetch itself: only there it can be counted')
      note({
        method: (options.method ?? request?.method ?? 'GET').toUpperCase(),
        url: request?.url ?? String(input),
        bytesOut: sizeOf(options.body),
      })
      return fetch(input, options)
    },
    note,
    entries: () => [...entries],
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Throws for a body of an unknown kind, so that nothing is sent uncounted. */
function sizeOf(body: BodyInit | null | undefined): number {
  if (body === null || body === undefined) return 0
  if (typeof body === 'string') return new TextEncoder().encode(body).length
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return body.byteLength
  if (body instanceof Blob) return body.size
  throw new TypeError('A body of this kind cannot be counted')
}

export function kindOf(url: string, pageUrl: string): LedgerKind {
  const { pathname } = new URL(url, pageUrl)
  if (pathname.endsWith('/submit') && pathname.includes(LAUNCH_API)) return 'submit'
  if (/\/token\/(enrol|probe)$/.test(pathname) && pathname.includes(LAUNCH_API)) return 'token'
  if (pathname.includes(LAUNCH_API)) return 'call'
  const folder = new URL('.', pageUrl).pathname
  const below = pathname.startsWith(folder) ? pathname.slice(folder.length) : ''
  return /^(models|ort)\//.test(below) ? 'model' : 'page'
}

function pathOf(url: string, pageUrl: string): string {
  const { origin, pathname, search } = new URL(url, pageUrl)
  return (origin === new URL(pageUrl).origin ? '' : origin) + pathname + search
}
