import type { NotedRequest } from './ledger.ts'
import { watchTimeline } from './timeline.ts'

/** What the service worker tells its pages when it asked the network. */
export interface ServiceWorkerMessage {
  ostiaryRequest: NotedRequest
}

/**
 * Tells of the requests of this page that did not go through the ledger's own fetch: those of the browser, and those that the
 * service worker made in its place. To be called first of all: what nobody listens to is lost. Returns what ends it.
 */
export function watchBrowserRequests(note: (request: NotedRequest) => void): () => void {
  const endTimeline = watchTimeline(note, { fetches: false })
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
