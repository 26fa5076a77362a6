import type { NotedRequest } from './ledger.ts'

/** The fields of a performance timeline entry that are used here. */
export interface Resource {
  entryType: string
  name: string
  initiatorType?: string
  /** Milliseconds after the time origin. */
  startTime: number
  /** 0: a cache or the service worker answered, which reports its own requests. */
  transferSize?: number
}

/**
 * Turns an entry of the performance timeline (page, script, style, image, font) into an entry for the ledger. Returns undefined if
 * nothing went over the network. `includeFetch` adds requests by fetch(): the web worker and the service worker set it, because
 * only the page's fetch goes through the ledger. The timeline has no method and no body size, so every request is listed as a
 * GET with 0 bytes; that is true as long as the workers only download.
 */
export function requestOf(
  { entryType, name, initiatorType, startTime, transferSize }: Resource,
  { timeOriginMs, includeFetch }: { timeOriginMs: number; includeFetch: boolean },
): NotedRequest | undefined {
  if (entryType !== 'navigation' && entryType !== 'resource') return undefined
  if (initiatorType === 'fetch' && !includeFetch) return undefined
  if (!/^https?:/.test(name) || transferSize === 0) return undefined
  return { method: 'GET', url: name, bytesOut: 0, atMs: Math.round(timeOriginMs + startTime) }
}
