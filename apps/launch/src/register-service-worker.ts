import type { NotedRequest } from './ledger/ledger.ts'
import { trustedScriptUrl } from './trusted-urls.ts'

/** The page works without it, only slower the next time: so nothing that goes wrong here is anyone's concern. */
export function registerServiceWorker(note: (request: NotedRequest) => void): void {
  // Not every frame may have one.
  if (!('serviceWorker' in navigator)) return
  const url = new URL('service-worker.js', document.baseURI).href
  // With every page browsers look whether it has changed, and no timeline tells of that.
  note({ method: 'GET', url, bytesOut: 0 })
  navigator.serviceWorker.register(trustedScriptUrl(url), { updateViaCache: 'none' }).catch(() => {})
}
