/** Caches models, runtime and scripts, so that a second visit does not download them. It never handles calls of the flow. */
import { cacheRuleFor, isForEverySession, outdatedCaches, type Releases } from './cache-rules.ts'
import type { ServiceWorkerMessage } from './ledger/browser-requests.ts'
import { watchTimeline } from './ledger/timeline.ts'

declare const RELEASES: Releases

/** The part of a service worker's global scope that is used here: TypeScript cannot load its types together with the DOM's. */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface FetchEvent extends WorkerEvent {
  request: Request
  respondWith(response: Promise<Response>): void
}
interface ServiceWorker {
  registration: { scope: string }
  clients: {
    claim(): Promise<void>
    matchAll(options: { includeUncontrolled: boolean }): Promise<{ postMessage(message: ServiceWorkerMessage): void }[]>
  }
  skipWaiting(): Promise<void>
  addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void
}
// The page's types do not describe a service worker's global object.
const worker = globalThis as unknown as ServiceWorker

// A page cannot see which of its files the service worker took from the network, so the worker reports them.
watchTimeline(
  async (ostiaryRequest) => {
    if (ostiaryRequest.url.split('?')[0] === worker.registration.scope) return
    for (const page of await worker.clients.matchAll({ includeUncontrolled: true }))
      page.postMessage({ ostiaryRequest })
  },
  { includeFetch: true },
)

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()))

worker.addEventListener('activate', (event) => {
  const tidy = async () => {
    for (const name of outdatedCaches(await caches.keys(), RELEASES)) await caches.delete(name)
    await worker.clients.claim()
  }
  event.waitUntil(tidy())
})

worker.addEventListener('fetch', (event) => {
  const { method, url, mode } = event.request
  const { scope } = worker.registration
  const rule = cacheRuleFor({ method, url, isNavigation: mode === 'navigate' }, scope, RELEASES)
  if (rule.rule === 'pass') return
  event.respondWith(
    caches.open(rule.cache).then((cache) => {
      const place = { cache, key: rule.key, event }
      return rule.rule === 'keep' ? keep(place) : refresh(place)
    }),
  )
})

interface Place {
  cache: Cache
  key: string
  event: FetchEvent
}

async function keep(place: Place): Promise<Response> {
  return (await place.cache.match(place.key)) ?? fetchInto(place)
}

async function refresh(place: Place): Promise<Response> {
  try {
    return await fetchInto(place)
  } catch (error) {
    const kept = await place.cache.match(place.key)
    if (kept) return kept
    throw error
  }
}

async function fetchInto({ cache, key, event }: Place): Promise<Response> {
  const response = await fetch(event.request)
  const isKept = event.request.mode !== 'navigate' || isForEverySession(response.headers.get('content-security-policy'))
  // If the disk is full, the response is still used.
  if (isKept && response.ok && !response.redirected) event.waitUntil(cache.put(key, response.clone()).catch(() => {}))
  return response
}
