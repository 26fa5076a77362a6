import { createHost, type Host, type HostWindow } from './host.ts'

/** The host of this page: around it when it is framed, before it when it is a popup, else none. */
export function findHost(sessionId: string, origins: readonly string[]): Host | null {
  const framed = window.parent !== window
  const target: HostWindow | null = framed ? window.parent : openerOf(window)
  if (!target) return null
  const knownOrigin = framed ? (location.ancestorOrigins?.[0] ?? null) : null
  const host = createHost(target, { sessionId, origins, knownOrigin })
  return host.isListening ? host : null
}

/** Typed as anything in the DOM; it is a window or null. */
function openerOf({ opener }: { opener: unknown }): HostWindow | null {
  return typeof opener === 'object' ? (opener as Window | null) : null // Of another origin: nothing of it can be checked.
}

export function closePopup(): void {
  if (window.parent === window) window.close()
}
