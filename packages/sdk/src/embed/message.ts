import type { FlowStatus } from '@ostiary/contract/states'
import type { WindowMessage } from './browser.ts'

const EVENTS = ['ready', 'step', 'finished', 'closed'] as const
// A customer may serve `embed` without a bundler, so it imports types of other packages and no values. A test compares this list.
export const KNOWN_FLOW_STATUSES: readonly FlowStatus[] = ['COMPLETED', 'CANCELLED', 'EXPIRED']

/** An event of the page. It never holds a result: your server reads that with the token. */
export interface LaunchMessage {
  /** `ready`: the page is there; `step`: it shows another screen; `finished`: the flow has ended; `closed`: frame or popup are gone. */
  event: (typeof EVENTS)[number]
  /** Of the session that the page has open. */
  sessionId: string
  /** With `step`: the screen that the user is at. */
  step?: string
  /** With `finished`: how the flow ended. */
  flowStatus?: FlowStatus
  /** With `finished`: where the page would have sent the user. */
  redirectUrl?: string
  /**
   * With `finished`: the one-time code. `redirectUrl` carries it too, unless it has a parameter `code` of its own. Send it to your server,
   * which compares it with `codeHash` or confirms it. Absent where another browser gets it, and in sessions without one.
   */
  code?: string
}

export interface Sender {
  origin: string
  sessionId: string | null
  /** The window that was opened; undefined until then. */
  source: unknown
}

/** Reads a message if the opened page sent it: right origin, window, session and format. */
export function readMessage({ origin, source, data }: WindowMessage, from: Sender): LaunchMessage | undefined {
  if (origin !== from.origin || !source || source !== from.source) return undefined
  if (typeof data !== 'object' || data === null) return undefined
  const said: { readonly [name: string]: unknown } = { ...data }
  const event = EVENTS.find((known) => known === said.event)
  if (said.source !== 'ostiary' || said.version !== 1 || !event || typeof said.sessionId !== 'string') return undefined
  if (said.sessionId !== from.sessionId) return undefined
  const flowStatus = KNOWN_FLOW_STATUSES.find((known) => known === said.flowStatus)
  return {
    event,
    sessionId: said.sessionId,
    ...(typeof said.step === 'string' && { step: said.step }),
    ...(flowStatus && { flowStatus }),
    // The host may navigate to this address, so a `javascript:` URL must not pass.
    ...(typeof said.redirectUrl === 'string' &&
      /^https?:\/\//.test(said.redirectUrl) && { redirectUrl: said.redirectUrl }),
    ...(typeof said.code === 'string' && { code: said.code }),
  }
}
