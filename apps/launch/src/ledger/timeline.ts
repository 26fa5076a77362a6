import type { NotedRequest } from './ledger.ts'
import { requestOf } from './resources.ts'

/**
 * Tells of what this thread's browser fetched by itself, also of what it fetched before now, and with `fetches` of what was asked
 * for with fetch. Returns what ends it.
 */
export function watchTimeline(note: (request: NotedRequest) => void, { fetches }: { fetches: boolean }): () => void {
  if (typeof PerformanceObserver === 'undefined') return () => {}
  const known = new Set<string>()
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // A page is told of twice: when someone asks, and when it is complete.
      const name = `${entry.entryType} ${entry.startTime} ${entry.name}`
      const request = known.has(name) ? undefined : requestOf(entry, { timeOriginMs: performance.timeOrigin, fetches })
      known.add(name)
      if (request) note(request)
    }
  })
  for (const type of ['navigation', 'resource'])
    if (PerformanceObserver.supportedEntryTypes.includes(type)) observer.observe({ type, buffered: true })
  return () => observer.disconnect()
}
