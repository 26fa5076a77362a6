import type { FlowStatus } from '@ostiary/contract'

/** What a page that embeds this one is told. Never a result: that goes to the host's server. */
export interface LaunchMessage {
  source: 'ostiary'
  version: 1
  event: 'ready' | 'step' | 'finished' | 'closed'
  sessionId: string
  /** The screen that is shown. */
  step?: string
  flowStatus?: FlowStatus
  redirectUrl?: string
}
export type HostEvent = Omit<LaunchMessage, 'source' | 'version' | 'sessionId'>

/** The window that opened or frames this one, as far as it may be told anything. */
export interface HostWindow {
  postMessage(message: LaunchMessage, targetOrigin: string): void
}

export interface HostOptions {
  sessionId: string
  /** Origins of the tenant that may embed the page. Without any, nobody is told anything. */
  origins: readonly string[]
  /** Where the host is known to be (`location.ancestorOrigins`); null when the browser does not say. */
  knownOrigin: string | null
}

/** Tells the host what happens. A browser delivers a message only where the host really is of the origin it is for. */
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
