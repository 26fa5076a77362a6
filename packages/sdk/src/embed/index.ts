import type { FrameParent, HostWindow } from './browser.ts'
import { type LaunchMessage, readMessage } from './message.ts'

export type { FrameParent } from './browser.ts'
export type { LaunchMessage } from './message.ts'

export interface LaunchOptions {
  /** From the creation of the session, as your server got it. */
  launchUrl: string
  /** A frame or a popup needs your origin in the tenant's `embedOrigins`. */
  as: 'redirect' | 'popup' | 'iframe'
  /** The element that the frame fills. Default: the end of the page. */
  container?: FrameParent
  /** The title of the frame, for screen readers. */
  title?: string
  /** Called with each event of the page, and with `blocked` when the browser blocks the popup. */
  onEvent?: (event: LaunchEvent) => void
  /** What to do when the browser blocks the popup. Default: leave this page for the launch page. */
  ifBlocked?: 'redirect' | 'report'
}

export type LaunchEvent =
  | LaunchMessage
  | {
      /** The browser has blocked the popup. */
      event: 'blocked'
    }

export interface OpenedLaunch {
  /** Removes the frame or closes the popup. The session stays open: cancel it from your server if it should end. */
  close(): void
}

/** The global `window`, read when a page is opened and not when this module is imported. */
declare const window: HostWindow

const FRAME_MAY = 'camera; publickey-credentials-get; publickey-credentials-create; screen-wake-lock; clipboard-write'
const POPUP = 'popup,width=480,height=800'
const LOOK_EVERY_MS = 500

/** Opens the launch page. For a popup call it in the handler of a click, or the browser will block it. */
export function openLaunch(options: LaunchOptions, host: HostWindow = window): OpenedLaunch {
  const { launchUrl, as } = options
  if (as === 'iframe') return openFrame(options, host)
  const popup = as === 'popup' ? host.open(asPopup(launchUrl), 'ostiary', POPUP) : null
  if (popup) {
    const stop = listen(options, host, () => popup)
    const timer = host.setInterval(() => popup.closed && stop.andTell(), LOOK_EVERY_MS)
    return stop.with(() => {
      host.clearInterval(timer)
      popup.close()
    })
  }
  if (as === 'popup') options.onEvent?.({ event: 'blocked' })
  if (as === 'redirect' || options.ifBlocked !== 'report') host.location.assign(launchUrl)
  return { close() {} }
}

function openFrame(options: LaunchOptions, host: HostWindow): OpenedLaunch {
  const frame = host.document.createElement('iframe')
  frame.className = 'ostiary-launch'
  frame.title = options.title ?? 'Age check'
  // Set the permissions before the address: the browser reads them when the frame begins to load.
  frame.allow = FRAME_MAY
  Object.assign(frame.style, { border: '0', width: '100%', height: '100%' })
  frame.src = options.launchUrl
  const stop = listen(options, host, () => frame.contentWindow)
  const container = options.container ?? host.document.body
  container.append(frame)
  return stop.with(() => frame.remove())
}

/** With this parameter the page is served with a policy that keeps its opener. */
function asPopup(launchUrl: string): string {
  const url = new URL(launchUrl)
  url.searchParams.set('as', 'popup')
  return url.href
}

/** Listens to the page until the page, its user or the host closes it. */
function listen({ launchUrl, onEvent }: LaunchOptions, host: HostWindow, sourceOf: () => unknown) {
  const { origin, searchParams } = new URL(launchUrl)
  const sessionId = searchParams.get('sessionId')
  let takeAway: (() => void) | undefined
  const stop = () => {
    host.removeEventListener('message', hear)
    const work = takeAway
    takeAway = undefined
    work?.()
    return work !== undefined
  }
  const hear = (message: Parameters<typeof readMessage>[0]) => {
    const said = readMessage(message, { origin, sessionId, source: sourceOf() })
    if (said && (said.event !== 'closed' || stop())) onEvent?.(said)
  }
  host.addEventListener('message', hear)
  return {
    /** Reports a window that its user closed: a closed window can no longer send a message. */
    andTell() {
      if (stop()) onEvent?.({ event: 'closed', sessionId: sessionId ?? '' })
    },
    with(work: () => void): OpenedLaunch {
      takeAway = work
      return { close: () => void stop() }
    },
  }
}
