import type { NotedRequest } from './ledger.ts'

/** What is needed of an entry of the browser's performance timeline. */
export interface Resource {
  entryType: string
  name: string
  initiatorType?: string
  /** After the time origin. */
  startTime: number
  transferSize?: number
}

/**
 * Requests that the browser made by itself: the page, its scripts and styles, and with `fetches` also what was asked for with
 * fetch. What came out of a cache was no request.
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
