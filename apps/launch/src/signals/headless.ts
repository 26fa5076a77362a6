import { engineOf, isKnownChromium, isMobileSystem, type System, systemOf } from './engines.ts'
import type { ClientHints, Facts } from './environment.ts'
import { TIMER_MS } from './probes.ts'

/** Signs that no person uses this browser: the fourteen of `headless`. */

export function webdriver({ navigator }: Facts): boolean | undefined {
  return navigator.webdriver
}

/** The user agent names a browser without a window, or contradicts the client hints that say the same in another way. */
export function userAgent({ navigator }: Facts): boolean | undefined {
  const { userAgent: claimed, clientHints } = navigator
  if (claimed === '') return undefined
  if (WINDOWLESS.test(claimed)) return true
  // Apps that set their own user agent leave the hints empty; empty hints contradict nothing.
  if (clientHints === undefined || clientHints.brands.length === 0) return false
  return clientHints.brands.some(({ brand }) => WINDOWLESS.test(brand)) || contradicts(claimed, clientHints)
}

function contradicts(claimed: string, { brands, mobile, platform }: ClientHints): boolean {
  const chromium = brands.find(({ brand }) => brand === 'Chromium')
  const engine = engineOf(claimed)
  if (chromium && engine && Math.floor(engine.version) !== Number.parseInt(chromium.version, 10)) return true
  if (mobile !== undefined && mobile !== /\bMobile\b/.test(claimed)) return true
  const system = HINTED_SYSTEMS[platform]
  return system !== undefined && system !== systemOf(claimed)
}

export function webGL({ answers }: Facts): boolean | undefined {
  if (answers.webGL === undefined) return undefined
  return answers.webGL === null || SOFTWARE_GRAPHICS.test(`${answers.webGL.vendor} ${answers.webGL.renderer}`)
}

/** `window.phantom` alone says nothing: a wallet of that name adds it to the pages of honest people. */
export function phantom({ navigator, window }: Facts): boolean {
  return /\bPhantomJS\b/.test(navigator.userAgent) || PHANTOM_MARKS.some((name) => window.properties.includes(name))
}

export function selenium({ window, document }: Facts): boolean {
  return (
    [...window.properties, ...document.properties].some((name) => SELENIUM_MARKS.test(name)) ||
    document.rootAttributes.some((name) => SELENIUM_ATTRIBUTES.has(name))
  )
}

/** WebViews never have the object; the server gives its absence little weight there. */
export function chrome({ navigator, window, kind }: Facts): boolean | undefined {
  if (engineOf(navigator.userAgent)?.name !== 'chromium') return undefined
  if (kind !== 'webview' && !isKnownChromium(navigator.userAgent)) return undefined
  return !window.hasChrome
}

/**
 * Headless Chromium reports notifications as denied in one API and as never asked in the other. So does every Chromium in a
 * cross-site frame, and Firefox in private windows.
 */
export function permissions({ navigator, window, notification, answers }: Facts): boolean | undefined {
  if (engineOf(navigator.userAgent)?.name !== 'chromium' || !window.isTop) return undefined
  if (notification.permission === undefined || answers.notificationPermission === undefined) return undefined
  return notification.permission === 'denied' && answers.notificationPermission === 'prompt'
}

/** Phones have no plugins, and Firefox does not always list them. */
export function plugins({ navigator }: Facts): boolean | undefined {
  const { pluginCount } = navigator
  return isDesktopChromium(navigator.userAgent) && pluginCount !== undefined ? pluginCount === 0 : undefined
}

export function languages({ navigator }: Facts): boolean | undefined {
  const { language, languages: all } = navigator
  if (all === undefined && language === undefined) return undefined
  const first = all?.[0]
  if (!first || !language) return true
  // A browser may shorten one of the two (`de`, `de-DE`), but both name the same language.
  return baseOf(first) !== baseOf(language)
}

const baseOf = (tag: string) => tag.toLowerCase().split(/[-_]/, 1)[0]

export function webRTC({ answers }: Facts): boolean | undefined {
  return answers.webRTC === undefined ? undefined : answers.webRTC !== 'works'
}

/** Only desktop Chromium always has the interface: WebViews and iOS lack it. */
export function notification({ navigator, window, notification: found, kind }: Facts): boolean | undefined {
  if (found.exists) return !NOTIFICATION_PERMISSIONS.has(found.permission ?? '')
  const mustHave = isDesktopChromium(navigator.userAgent) && kind !== 'webview' && window.isSecureContext
  return mustHave ? true : undefined
}

/** Browsers round the memory to a power of two, in gigabytes. */
export function deviceMemory({ navigator }: Facts): boolean | undefined {
  const { hasDeviceMemory, deviceMemory: gigabytes } = navigator
  if (!hasDeviceMemory) return undefined
  return gigabytes === undefined || !(gigabytes > 0 && gigabytes <= 128 && Number.isInteger(Math.log2(gigabytes)))
}

export function connectionType({ navigator }: Facts): boolean | undefined {
  return navigator.connectionRttMs === undefined ? undefined : navigator.connectionRttMs === 0
}

/** Not evaluated with a deliberately coarse clock or in a hidden tab, which has no frames. */
export function timing({ answers, document, kind }: Facts): boolean | undefined {
  const { frameTimesMs, timerTookMs } = answers
  if (kind === 'privacy' || !document.isVisible) return undefined
  if (frameTimesMs === undefined && timerTookMs === undefined) return undefined
  return (
    (frameTimesMs !== undefined && isDrivenByNoScreen(frameTimesMs)) ||
    (timerTookMs !== undefined && timerTookMs < TIMER_MS / 2)
  )
}

/**
 * Faster than any screen, or exactly every 16 ms, as test clocks do: at 60 frames a second a browser with whole milliseconds also
 * has intervals of 17. Equal intervals alone say nothing, because a screen of 100 Hz has them too.
 */
function isDrivenByNoScreen(timesMs: readonly number[]): boolean {
  const gapsMs = timesMs.slice(1).map((time, index) => time - (timesMs[index] ?? time))
  if (gapsMs.length === 0) return false
  const mean = gapsMs.reduce((sum, gap) => sum + gap, 0) / gapsMs.length
  return mean < FRAME_GAP_MS_MIN || gapsMs.every((gap) => gap === TEST_CLOCK_GAP_MS)
}

const isDesktopChromium = (userAgent: string) => engineOf(userAgent)?.name === 'chromium' && !isMobileSystem(userAgent)

const WINDOWLESS = /headless|phantomjs|slimerjs|puppeteer|playwright|selenium|nightmare|htmlunit|\bjsdom\b|happydom/i
const SOFTWARE_GRAPHICS = /swiftshader|llvmpipe|softpipe|software|mesa offscreen|basic render/i
const PHANTOM_MARKS = ['_phantom', 'callPhantom', '__phantomas']
const SELENIUM_MARKS =
  /^\$?cdc_[A-Za-z0-9]{10,}|^__(?:webdriver|selenium|fxdriver|driver)_|^__\$?webdriver|^_selenium$|^call(?:ed)?Selenium$|^\$chrome_asyncScriptInfo$/
const SELENIUM_ATTRIBUTES: ReadonlySet<string> = new Set(['webdriver', 'selenium', 'driver'])
const NOTIFICATION_PERMISSIONS: ReadonlySet<string> = new Set(['default', 'granted', 'denied'])
/** About a thousand frames a second. */
const FRAME_GAP_MS_MIN = 0.9
const TEST_CLOCK_GAP_MS = 16
const HINTED_SYSTEMS: Readonly<Record<string, System>> = {
  Windows: 'windows',
  macOS: 'mac',
  Linux: 'linux',
  Android: 'android',
  'Chrome OS': 'chromeos',
  'Chromium OS': 'chromeos',
}
