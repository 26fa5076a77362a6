/** The current release of each kind of file. The build writes it into the service worker. */
export interface Releases {
  page: string
  models: string
  runtime: string
}

export interface CachedRequest {
  method: string
  url: string
  /** Whether the request is a navigation. */
  isNavigation: boolean
}

/** `keep`: cache first. `refresh`: network first, cache if it fails. `pass`: not handled. */
export type CacheRule = { rule: 'pass' } | { rule: 'keep' | 'refresh'; cache: string; key: string }

const PREFIX = 'ostiary-'
const PASS = { rule: 'pass' } as const

/** What the service worker does with a request. `scope` is the URL of the page's folder. */
export function cacheRuleFor(request: CachedRequest, scope: string, releases: Releases): CacheRule {
  const { method, url, isNavigation } = request
  if (method !== 'GET' || !url.startsWith(scope)) return PASS
  const { pathname } = new URL(url)
  const path = pathname.slice(new URL(scope).pathname.length)
  if (path.startsWith('api/')) return PASS
  // The query has the session id, and the page is the same for all sessions, so the cache key has no query.
  if (isNavigation) return path === '' ? { rule: 'refresh', cache: nameOf('page', releases), key: scope } : PASS
  if (/^models\/[^/]+\/[0-9a-f]{12}\//.test(path)) return { rule: 'keep', cache: nameOf('models', releases), key: url }
  if (path.startsWith('ort/')) return { rule: 'keep', cache: nameOf('runtime', releases), key: url }
  if (path.startsWith('assets/')) return { rule: 'keep', cache: nameOf('page', releases), key: url }
  if (path === 'models/manifest.json') return { rule: 'refresh', cache: nameOf('models', releases), key: url }
  return PASS
}

/**
 * Whether a document may be kept for all sessions. One that a host may frame, or open as a popup, has headers for that host's session
 * only: shown to another session when the network fails, it would let the wrong host frame it.
 */
export function isForEverySession(policy: string | null): boolean {
  return policy !== null && /(?:^|;)\s*frame-ancestors 'none'\s*(?:;|$)/.test(policy)
}

/** Caches of ours that belong to another release. */
export function outdatedCaches(names: readonly string[], releases: Releases): string[] {
  const current = (['page', 'models', 'runtime'] as const).map((kind) => nameOf(kind, releases))
  return names.filter((name) => name.startsWith(PREFIX) && !current.includes(name))
}

function nameOf(kind: keyof Releases, releases: Releases): string {
  return `${PREFIX}${kind}-${releases[kind]}`
}
