import { createHost, type Host, type HostWindow } from './host.ts'

/** The host's window: the parent of a framed page, the opener of a popup, else null. */
export function findHost(sessionId: string, origins: readonly string[]): Host | null {
  const framed = window.parent !== window
  const target: HostWindow | null = framed ? window.parent : openerOf(window)
  if (!target) return null
  const knownOrigin = framed ? (location.ancestorOrigins?.[0] ?? null) : null
  const host = createHost(target, { sessionId, origins, knownOrigin })
  return host.isListening ? host : null
}

/** The DOM types `opener` as any; it is a window or null. */
function openerOf({ opener }: { opener: unknown }): HostWindow | null {
  return typeof opener === 'object' ? (opener as Window | null) : null // It may have another origin, so instanceof fails.
}

export function closePopup(): void {
  if (window.parent === window) window.close()
}
