/**
 * The indicators of the contract's group `headless`: signs that a program and not a person uses this browser. Each returns true if the
 * sign was found, false if not, and undefined if this browser cannot be checked. `answers` are the results of the probes (probes.ts).
 */
import { engineOf, isKnownChromium, isMobileSystem, type System, systemOf } from './engines.ts'
import type { ClientHints, Facts } from './environment.ts'
import { TIMER_MS } from './probes.ts'

export function webdriver({ navigator }: Facts): boolean | undefined {
  return navigator.webdriver
}

/** The user agent names a headless browser or an automation tool, or contradicts the client hints, which must name the same browser. */
export function userAgent({ navigator }: Facts): boolean | undefined {
  const { userAgent: agentText, clientHints } = navigator
  if (agentText === '') return undefined
  if (AUTOMATED.test(agentText)) return true
  // Apps that set their own user agent leave the hints empty; empty hints contradict nothing.
  if (clientHints === undefined || clientHints.brands.length === 0) return false
  return clientHints.brands.some(({ brand }) => AUTOMATED.test(brand)) || contradicts(agentText, clientHints)
}

function contradicts(agentText: string, { brands, mobile, platform }: ClientHints): boolean {
  const chromium = brands.find(({ brand }) => brand === 'Chromium')
  const engine = engineOf(agentText)
  if (chromium && engine && Math.floor(engine.version) !== Number.parseInt(chromium.version, 10)) return true
  if (mobile !== undefined && mobile !== /\bMobile\b/.test(agentText)) return true
  const system = HINTED_SYSTEMS[platform]
  return system !== undefined && system !== systemOf(agentText)
}

/** No WebGL (null), or graphics that are computed in software. Not checked if the probe got no answer (undefined). */
export function webGL({ answers }: Facts): boolean | undefined {
  if (answers.webGL === undefined) return undefined
  return answers.webGL === null || SOFTWARE_GRAPHICS.test(`${answers.webGL.vendor} ${answers.webGL.renderer}`)
}

/** `window.phantom` is not a sign of PhantomJS: a browser extension, the crypto wallet Phantom, adds it to every page. */
export function phantom({ navigator, window }: Facts): boolean {
  return (
    /\bPhantomJS\b/.test(navigator.userAgent) || PHANTOM_PROPERTIES.some((name) => window.properties.includes(name))
  )
}

export function selenium({ window, document }: Facts): boolean {
  return (
    [...window.properties, ...document.properties].some((name) => SELENIUM_PROPERTIES.test(name)) ||
    document.rootAttributes.some((name) => SELENIUM_ATTRIBUTES.has(name))
  )
}

/** A Chromium without `window.chrome`. No WebView has it, so the server gives this sign little weight in a WebView. */
export function chrome({ navigator, window, kind }: Facts): boolean | undefined {
  if (engineOf(navigator.userAgent)?.name !== 'chromium') return undefined
  if (kind !== 'webview' && !isKnownChromium(navigator.userAgent)) return undefined
  return !window.hasChrome
}

/**
 * Headless Chromium says "denied" in `Notification.permission` and "prompt" in the Permissions API. Not checked in frames or in other
 * engines: every Chromium in a cross-site frame and Firefox in private windows contradict themselves in the same way.
 */
export function permissions({ navigator, window, notification, answers }: Facts): boolean | undefined {
  if (engineOf(navigator.userAgent)?.name !== 'chromium' || !window.isTop) return undefined
  if (notification.permission === undefined || answers.notificationPermission === undefined) return undefined
  return notification.permission === 'denied' && answers.notificationPermission === 'prompt'
}

/** Checked in desktop Chromium only: phones have no plugins, and other desktop browsers do not always list them. */
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

/** Checks the `Notification` API. It must exist in desktop Chromium only: WebViews and iOS lack it. */
export function notification({ navigator, window, notification: api, kind }: Facts): boolean | undefined {
  if (api.exists) return !NOTIFICATION_PERMISSIONS.has(api.permission ?? '')
  const mustHave = isDesktopChromium(navigator.userAgent) && kind !== 'webview' && window.isSecureContext
  return mustHave ? true : undefined
}

/** Browsers round the memory to a power of two, in gigabytes. Any other value was not written by a browser. */
export function deviceMemory({ navigator }: Facts): boolean | undefined {
  const { hasDeviceMemory, deviceMemory: gigabytes } = navigator
  if (!hasDeviceMemory) return undefined
  return gigabytes === undefined || !(gigabytes > 0 && gigabytes <= 128 && Number.isInteger(Math.log2(gigabytes)))
}

/** Headless Chromium reports a round-trip time of 0 ms. The name is the contract's. */
export function connectionType({ navigator }: Facts): boolean | undefined {
  return navigator.connectionRttMs === undefined ? undefined : navigator.connectionRttMs === 0
}

/** Not checked in privacy browsers, which make their clocks coarse on purpose, nor in hidden tabs, which get no frames. */
export function timing({ answers, document, kind }: Facts): boolean | undefined {
  const { frameTimesMs, timerTookMs } = answers
  if (kind === 'privacy' || !document.isVisible) return undefined
  if (frameTimesMs === undefined && timerTookMs === undefined) return undefined
  return (
    (frameTimesMs !== undefined && areFramesArtificial(frameTimesMs)) ||
    (timerTookMs !== undefined && timerTookMs < TIMER_MS / 2)
  )
}

/**
 * True if frames come faster than any screen shows them, or exactly every 16 ms, as in test tools. A screen of 60 Hz shows one every
 * 16.7 ms, so a clock of whole milliseconds gives 16 and 17. Other equal intervals are real: a screen of 100 Hz has 10 ms.
 */
function areFramesArtificial(timesMs: readonly number[]): boolean {
  const gapsMs = timesMs.slice(1).map((time, index) => time - (timesMs[index] ?? time))
  if (gapsMs.length === 0) return false
  const mean = gapsMs.reduce((sum, gap) => sum + gap, 0) / gapsMs.length
  return mean < FRAME_GAP_MS_MIN || gapsMs.every((gap) => gap === TEST_CLOCK_GAP_MS)
}

const isDesktopChromium = (userAgent: string) => engineOf(userAgent)?.name === 'chromium' && !isMobileSystem(userAgent)

const AUTOMATED = /headless|phantomjs|slimerjs|puppeteer|playwright|selenium|nightmare|htmlunit|\bjsdom\b|happydom/i
const SOFTWARE_GRAPHICS = /swiftshader|llvmpipe|softpipe|software|mesa offscreen|basic render/i
const PHANTOM_PROPERTIES = ['_phantom', 'callPhantom', '__phantomas']
const SELENIUM_PROPERTIES =
  /^\$?cdc_[A-Za-z0-9]{10,}|^__(?:webdriver|selenium|fxdriver|driver)_|^__\$?webdriver|^_selenium$|^call(?:ed)?Selenium$|^\$chrome_asyncScriptInfo$/
const SELENIUM_ATTRIBUTES: ReadonlySet<string> = new Set(['webdriver', 'selenium', 'driver'])
const NOTIFICATION_PERMISSIONS: ReadonlySet<string> = new Set(['default', 'granted', 'denied'])
/** No screen shows more than a thousand frames a second; a little less than 1 ms allows for rounding. */
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
