import type { NotedRequest } from './ledger.ts'
import { watchTimeline } from './timeline.ts'

/** The message of the service worker about a network request. */
export interface ServiceWorkerMessage {
  ostiaryRequest: NotedRequest
}

/**
 * Reports requests that did not go through the ledger's fetch: those of the browser itself, and those of the service worker.
 * Call it before anything else, because earlier messages are lost. Returns a function that stops it.
 */
export function watchBrowserRequests(note: (request: NotedRequest) => void): () => void {
  const endTimeline = watchTimeline(note, { includeFetch: false })
  const { serviceWorker }: { serviceWorker?: ServiceWorkerContainer } = navigator
  const hear = ({ data }: MessageEvent<Partial<ServiceWorkerMessage> | null>) => {
    if (data?.ostiaryRequest) note(data.ostiaryRequest)
  }
  serviceWorker?.addEventListener('message', hear)
  return () => {
    endTimeline()
    serviceWorker?.removeEventListener('message', hear)
  }
}
