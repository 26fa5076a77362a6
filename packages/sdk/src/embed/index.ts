import type { FrameParent, HostWindow } from './browser.ts'
import { type LaunchMessage, readMessage } from './message.ts'

export type { FrameParent } from './browser.ts'
export type { LaunchMessage } from './message.ts'

export interface LaunchOptions {
  /** From the creation of the session, as your server got it. */
  launchUrl: string
  /** A frame or a popup needs your origin in the tenant's `embedOrigins`. */
  as: 'redirect' | 'popup' | 'iframe'
  /** Where a frame goes, and how large it is; the end of the page when absent. */
  container?: FrameParent
  /** What a screen reader calls the frame. */
  title?: string
  /** Called for what the page says of itself, and with `blocked` when the browser lets no popup open. */
  onEvent?: (event: LaunchEvent) => void
  /** What to do then. Default: leave this page for the launch page. */
  ifBlocked?: 'redirect' | 'report'
}

export type LaunchEvent = LaunchMessage | { event: 'blocked' }

export interface OpenedLaunch {
  /** Takes the frame or the popup away. The session goes on: cancel it with your server if it is not to. */
  close(): void
}

/** The browser's own; read when a page is opened, not when this module is. */
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
  // Before the address: what a frame may do is decided when it begins to load.
  frame.allow = FRAME_MAY
  Object.assign(frame.style, { border: '0', width: '100%', height: '100%' })
  frame.src = options.launchUrl
  const stop = listen(options, host, () => frame.contentWindow)
  const container = options.container ?? host.document.body
  container.append(frame)
  return stop.with(() => frame.remove())
}

/** The page asks by this not to be cut off from its opener. */
function asPopup(launchUrl: string): string {
  const url = new URL(launchUrl)
  url.searchParams.set('as', 'popup')
  return url.href
}

/** Hears the page until it is closed: by it, by its user, or by the host. */
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
    /** For a window that its user closed: it cannot say so itself any more. */
    andTell() {
      if (stop()) onEvent?.({ event: 'closed', sessionId: sessionId ?? '' })
    },
    with(work: () => void): OpenedLaunch {
      takeAway = work
      return { close: () => void stop() }
    },
  }
}
