export interface DeviceClaim {
  userAgent: string | undefined
  /** The header Sec-CH-UA-Mobile: `?1` or `?0`. */
  secChUaMobile: string | undefined
  /** What the page takes the device for. */
  claimed: 'mobile' | 'desktop'
}

/**
 * Whether a session that forbids desktops must be handed to a phone. Tablets are mobile. Whatever is unknown or contradicts
 * itself is a desktop, because the QR code is always a way on. All three facts are claims: this keeps honest users off
 * desktops; who forges them is met by the judge of the capture.
 */
export function isDesktop({ userAgent: header = '', secChUaMobile, claimed }: DeviceClaim): boolean {
  if (claimed === 'desktop') return true
  // No browser says more; a longer text is only there to keep the patterns busy.
  const userAgent = header.slice(0, USER_AGENT_CHARS)
  // Safari on an iPad says that it is a Mac, and only the page can feel that it is touched.
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
