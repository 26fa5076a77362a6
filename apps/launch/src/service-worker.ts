/** Keeps models, runtime and scripts, so that a second visit fetches none of them. Calls of the flow never come by here. */
import { cacheRuleFor, outdatedCaches, type Releases } from './cache-rules.ts'
import type { ServiceWorkerMessage } from './ledger/browser-requests.ts'
import { watchTimeline } from './ledger/timeline.ts'

declare const RELEASES: Releases

/** What is needed of a service worker's world: its types and those of a page cannot be had together. */
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
// A service worker's global object is none that the page's types know.
const worker = globalThis as unknown as ServiceWorker

// A page that has its files from here cannot tell which of them came from the network. Its own address it knows.
watchTimeline(
  async (ostiaryRequest) => {
    if (ostiaryRequest.url.split('?')[0] === worker.registration.scope) return
    for (const page of await worker.clients.matchAll({ includeUncontrolled: true }))
      page.postMessage({ ostiaryRequest })
  },
  { fetches: true },
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
  // A full disk is no reason to refuse what has just arrived.
  if (response.ok && !response.redirected) event.waitUntil(cache.put(key, response.clone()).catch(() => {}))
  return response
}
