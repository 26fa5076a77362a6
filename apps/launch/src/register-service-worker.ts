import type { NotedRequest } from './ledger/ledger.ts'
import { trustedScriptUrl } from './trusted-urls.ts'

/** Without it the next visit is only slower, so errors are ignored. */
export function registerServiceWorker(note: (request: NotedRequest) => void): void {
  // Some frames may not register one.
  if (!('serviceWorker' in navigator)) return
  const url = new URL('service-worker.js', document.baseURI).href
  // Browsers check for an update with every page load, and no timeline shows that request.
  note({ method: 'GET', url, bytesOut: 0 })
  navigator.serviceWorker.register(trustedScriptUrl(url), { updateViaCache: 'none' }).catch(() => {})
}
