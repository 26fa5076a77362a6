import type { NotedRequest } from './ledger.ts'

/** The part of a performance entry that is used here. */
export interface Resource {
  entryType: string
  name: string
  initiatorType?: string
  /** Milliseconds after the time origin. */
  startTime: number
  transferSize?: number
}

/**
 * The request of a performance entry: the page, scripts and styles, and with `fetches` also requests by fetch. Undefined for
 * everything else and for cache hits.
 */
export function requestOf(
  { entryType, name, initiatorType, startTime, transferSize }: Resource,
  { timeOriginMs, fetches }: { timeOriginMs: number; fetches: boolean },
): NotedRequest | undefined {
  if (entryType !== 'navigation' && entryType !== 'resource') return undefined
  if (initiatorType === 'fetch' && !fetches) return undefined
  if (!/^https?:/.test(name) || transferSize === 0) return undefined
  return { method: 'GET', url: name, bytesOut: 0, atMs: Math.round(timeOriginMs + startTime) }
}
