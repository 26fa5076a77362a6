export interface DeviceClaim {
  userAgent: string | undefined
  /** The header Sec-CH-UA-Mobile: `?1` or `?0`. */
  secChUaMobile: string | undefined
  /** What the script of the launch page detected. */
  claimed: 'mobile' | 'desktop'
}

/**
 * Whether a device counts as a desktop. A session that forbids desktops then shows a QR code, and the user continues on a phone. Tablets
 * are no desktops. A device that is unknown, or whose claims contradict each other, counts as a desktop, because the QR code always
 * offers a way to continue. The client sends all three values and can forge them: this check only guides honest users. `judgeCapture`
 * is the check against forgers.
 */
export function isDesktop({ userAgent: header = '', secChUaMobile, claimed }: DeviceClaim): boolean {
  if (claimed === 'desktop') return true
  // User agents of real browsers are shorter. The patterns would be slow on a very long text.
  const userAgent = header.slice(0, USER_AGENT_CHARS_MAX)
  // Safari on an iPad claims to be a Mac; only the page can detect the touch screen.
  const mayBeIpad = MAC.test(userAgent) && secChUaMobile === undefined && !DESKTOP_BROWSER.test(userAgent)
  if (!PHONE_OR_TABLET.test(userAgent) && !mayBeIpad) return true
  if (DESKTOP_SYSTEM.test(userAgent)) return true
  // `Mobile` contradicts `?0`. Chromium sends `Mobile` and `?1` on a phone, and `?0` without `Mobile` on an Android tablet. Safari and
  // Firefox send no hint.
  return secChUaMobile === '?0' && /\bMobile\b/.test(userAgent)
}

const PHONE_OR_TABLET = /\b(?:iPhone|iPad|iPod|Android)\b/
const USER_AGENT_CHARS_MAX = 512
const MAC = /\bMacintosh\b.*\bAppleWebKit\b/
/** Browsers by their names on a desktop. On an iPad they have other names, such as CriOS. */
const DESKTOP_BROWSER = /\b(?:Chrome|Chromium|Edg|OPR|Firefox|Electron)\//
const DESKTOP_SYSTEM = /\b(?:Windows NT|CrOS|X11)\b/
