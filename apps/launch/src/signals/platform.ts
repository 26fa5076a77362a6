import type { SignalEnvironment } from './environment.ts'

/**
 * Whether this is a phone or tablet, or a desktop. The server checks the answer against the headers of the page (its
 * device-class.ts), so both use the same marks. Only the page can see that a "Mac" has touch and is an iPad.
 */
export function devicePlatform({ navigator }: Pick<SignalEnvironment, 'navigator'>): 'mobile' | 'desktop' {
  const { userAgent, clientHints, maxTouchPoints = 0 } = navigator
  // In apps that set their own user agent the hints are empty and report every phone as not mobile.
  const hints = clientHints?.brands.length ? clientHints : undefined
  if (DESKTOP_SYSTEM.test(userAgent)) return 'desktop'
  if (PHONE_OR_TABLET.test(userAgent)) {
    return hints?.mobile === false && /\bMobile\b/.test(userAgent) ? 'desktop' : 'mobile'
  }
  const mayBeIpad = MAC.test(userAgent) && clientHints === undefined && !DESKTOP_ENGINE.test(userAgent)
  return mayBeIpad && maxTouchPoints > 1 ? 'mobile' : 'desktop'
}

const PHONE_OR_TABLET = /\b(?:iPhone|iPad|iPod|Android)\b/
const MAC = /\bMacintosh\b.*\bAppleWebKit\b/
const DESKTOP_ENGINE = /\b(?:Chrome|Chromium|Edg|OPR|Firefox|Electron)\//
const DESKTOP_SYSTEM = /\b(?:Windows NT|CrOS|X11)\b/
