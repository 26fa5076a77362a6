import type { FlowStatus } from '@ostiary/contract'

/** A message to the embedding page. It never has a result: results go to the host's server. */
export interface LaunchMessage {
  source: 'ostiary'
  version: 1
  event: 'ready' | 'step' | 'finished' | 'closed'
  sessionId: string
  /** Name of the current screen. */
  step?: string
  flowStatus?: FlowStatus
  redirectUrl?: string
  /** The one-time code of the end. `redirectUrl` carries it too, unless it has a parameter `code` of its own. */
  code?: string
}
export type HostEvent = Omit<LaunchMessage, 'source' | 'version' | 'sessionId'>

/** The window that opened or frames this one. */
export interface HostWindow {
  postMessage(message: LaunchMessage, targetOrigin: string): void
}

export interface HostOptions {
  sessionId: string
  /** Origins of the tenant that may embed the page. If empty, no message is sent. */
  origins: readonly string[]
  /** The host's origin (`location.ancestorOrigins`); null if the browser does not say. */
  knownOrigin: string | null
}

/** Sends events to the host. The browser delivers a message only if the host's window has the target origin. */
export function createHost(window: HostWindow, { sessionId, origins, knownOrigin }: HostOptions) {
  const targets = knownOrigin === null ? origins : origins.filter((origin) => origin === knownOrigin)
  return {
    isListening: targets.length > 0,
    send(event: HostEvent): void {
      for (const origin of targets) window.postMessage({ source: 'ostiary', version: 1, sessionId, ...event }, origin)
    },
  }
}
export type Host = ReturnType<typeof createHost>
