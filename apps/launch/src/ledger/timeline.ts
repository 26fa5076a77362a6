import type { NotedRequest } from './ledger.ts'
import { requestOf } from './resources.ts'

/**
 * Reports the requests that the browser itself made in this thread, including earlier ones; with `includeFetch` also requests by
 * fetch(). Returns a function that stops it.
 */
export function watchTimeline(
  note: (request: NotedRequest) => void,
  { includeFetch }: { includeFetch: boolean },
): () => void {
  if (typeof PerformanceObserver === 'undefined') return () => {}
  const known = new Set<string>()
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // Browsers report the page twice: at the first query and when it is complete.
      const name = `${entry.entryType} ${entry.startTime} ${entry.name}`
      const request = known.has(name)
        ? undefined
        : requestOf(entry, { timeOriginMs: performance.timeOrigin, includeFetch })
      known.add(name)
      if (request) note(request)
    }
  })
  for (const type of ['navigation', 'resource'])
    if (PerformanceObserver.supportedEntryTypes.includes(type)) observer.observe({ type, buffered: true })
  return () => observer.disconnect()
}
