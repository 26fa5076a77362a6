export interface DeviceClaim {
  userAgent: string | undefined
  /** The header Sec-CH-UA-Mobile: `?1` or `?0`. */
  secChUaMobile: string | undefined
  /** What the page detected. */
  claimed: 'mobile' | 'desktop'
}

/**
 * Whether a session that forbids desktops must be handed to a phone. Tablets are mobile. A device that is unknown, or whose claims
 * contradict each other, counts as a desktop: the QR code always lets the user continue. All three facts are claims. This check
 * keeps honest users off desktops; `judgeCapture` is what a forger meets.
 */
export function isDesktop({ userAgent: header = '', secChUaMobile, claimed }: DeviceClaim): boolean {
  if (claimed === 'desktop') return true
  // No browser sends a longer text. A longer one would only make the patterns slow.
  const userAgent = header.slice(0, USER_AGENT_CHARS)
  // Safari on an iPad claims to be a Mac; only the page can detect the touch screen.
  const mayBeIpad = MAC.test(userAgent) && secChUaMobile === undefined && !DESKTOP_ENGINE.test(userAgent)
  if (!PHONE_OR_TABLET.test(userAgent) && !mayBeIpad) return true
  if (DESKTOP_SYSTEM.test(userAgent)) return true
  // A phone's browser sends both the word and the hint; an Android tablet's sends neither.
  return secChUaMobile === '?0' && /\bMobile\b/.test(userAgent)
}

const PHONE_OR_TABLET = /\b(?:iPhone|iPad|iPod|Android)\b/
const USER_AGENT_CHARS = 512
const MAC = /\bMacintosh\b.*\bAppleWebKit\b/
const DESKTOP_ENGINE = /\b(?:Chrome|Chromium|Edg|OPR|Firefox|Electron)\//
const DESKTOP_SYSTEM = /\b(?:Windows NT|CrOS|X11)\b/
