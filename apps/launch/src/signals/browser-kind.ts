import { engineOf } from './engines.ts'
import type { Answers, BrowserKind, SignalEnvironment } from './environment.ts'
import { detectInAppBrowser } from './in-app.ts'

/** The kind of browser, which may explain a signal. The device claims it, so the server lets it soften little. */
export function browserKind(env: SignalEnvironment, { webGL }: Pick<Answers, 'webGL'>): BrowserKind {
  const { userAgent, isBrave } = env.navigator
  if (detectInAppBrowser(userAgent) !== null) return 'webview'
  if (isBrave || PRIVACY_BROWSERS.test(userAgent)) return 'privacy'
  return resistsFingerprinting(env, webGL?.renderer) ? 'privacy' : 'ordinary'
}

/**
 * Tor Browser, Mullvad, LibreWolf and Firefox with `privacy.resistFingerprinting` look alike on purpose: they hide the
 * name of the graphics card, or report UTC and a screen that is exactly as large as the window.
 */
function resistsFingerprinting({ navigator, window, screen, time }: SignalEnvironment, renderer?: string): boolean {
  if (engineOf(navigator.userAgent)?.name !== 'gecko') return false
  const fillsScreen = screen.width === window.innerWidth && screen.height === window.innerHeight
  return renderer === 'Mozilla' || (fillsScreen && GREENWICH.has(time.zone ?? ''))
}

const PRIVACY_BROWSERS = /\b(?:DuckDuckGo|Ddg|Focus|Klar)\/\d/
const GREENWICH: ReadonlySet<string> = new Set(['UTC', 'Etc/UTC', 'Atlantic/Reykjavik'])
