import { type Engine, engineOf, isMobileSystem, type System, systemOf } from './engines.ts'
import type { Facts, NavigatorFacts, SignalEnvironment, TimeFacts } from './environment.ts'
import { isExpected } from './interfaces.ts'

/** Signs that the browser is not what it says it is: the three of `browserAnomalies`. */

export function missingWebAPIs({ navigator, missingInterfaces }: Facts): boolean | undefined {
  const engine = engineOf(navigator.userAgent)
  return engine && missingInterfaces.some((name) => isExpected(name, engine))
}

export function inconsistentFingerprint(facts: Facts): boolean | undefined {
  if (facts.navigator.userAgent === '') return undefined
  return (
    contradictsPlatform(facts.navigator) ||
    contradictsEngine(facts.navigator) ||
    isUntouchablePhone(facts.navigator) ||
    hasNoScreen(facts) ||
    contradictsTimeZone(facts.time) ||
    facts.replacedFunctions.length > 0 ||
    facts.navigator.ownProperties.some((name) => TELLING_PROPERTIES.has(name))
  )
}

export function automationProperties({ navigator, window, document }: Facts): boolean {
  return (
    [...window.properties, ...document.properties].some((name) => AUTOMATION_MARKS.test(name)) ||
    // Browsers have it on the prototype; scripts that hide it define it here.
    navigator.ownProperties.includes('webdriver')
  )
}

function contradictsPlatform({ userAgent, platform }: NavigatorFacts): boolean {
  const system = systemOf(userAgent)
  return system !== undefined && platform ? !PLATFORMS[system].test(platform) : false
}

function contradictsEngine({ userAgent, vendor }: NavigatorFacts): boolean {
  const engine = engineOf(userAgent)
  // Some browsers leave it empty, so only the name of another vendor counts.
  return engine !== undefined && vendor ? vendor !== VENDORS[engine.name] && ALL_VENDORS.includes(vendor) : false
}

function isUntouchablePhone({ userAgent, maxTouchPoints }: NavigatorFacts): boolean {
  return isMobileSystem(userAgent) && /\bMobile\b/.test(userAgent) && maxTouchPoints === 0
}

/** A visible window has a size. WebViews and some iOS apps report 0 for the outer size. */
function hasNoScreen({ navigator, window, screen, document }: SignalEnvironment): boolean {
  if (screen.width === 0 || screen.height === 0) return true
  const isChromium = engineOf(navigator.userAgent)?.name === 'chromium' && !isMobileSystem(navigator.userAgent)
  return isChromium && document.isVisible && window.outerWidth === 0 && window.outerHeight === 0
}

/** Date and Intl read the same system setting; a script that changes one often forgets the other. */
function contradictsTimeZone({ zone, offsetMinutes, nowMs }: TimeFacts): boolean {
  if (zone === undefined || offsetMinutes === undefined) return false
  const named = offsetOfZone(zone, nowMs)
  return named !== undefined && Math.abs(named - offsetMinutes) >= 1
}

/** Minutes east of Greenwich; undefined for a zone that this machine does not know. */
export function offsetOfZone(zone: string, nowMs: number): number | undefined {
  try {
    const parts = new Intl.DateTimeFormat('en-US', { ...DATE_PARTS, timeZone: zone }).formatToParts(nowMs)
    const part = (type: string) => Number(parts.find((found) => found.type === type)?.value)
    const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
    return Math.round((local - nowMs) / 60_000)
  } catch {
    return undefined
  }
}

const DATE_PARTS = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const

/** An iPad may report itself as a Mac, and so does an iPhone when the user asks for desktop pages. */
const PLATFORMS: Readonly<Record<System, RegExp>> = {
  windows: /^Win/,
  android: /^(?:Linux|Android)/,
  iphone: /^(?:iPhone|iPod|iPad)/,
  ipad: /^(?:iPad|iPhone|Mac)/,
  mac: /^(?:Mac|iPhone|iPad)/,
  chromeos: /^Linux/,
  linux: /^(?:Linux|Android|X11)/,
}
const VENDORS: Readonly<Record<Engine['name'], string>> = {
  chromium: 'Google Inc.',
  gecko: '',
  webkit: 'Apple Computer, Inc.',
}
const ALL_VENDORS = Object.values(VENDORS)
/** Properties that scripts replace to look like another browser. Privacy tools add others openly, such as `globalPrivacyControl`. */
const TELLING_PROPERTIES: ReadonlySet<string> = new Set([
  'userAgent',
  'userAgentData',
  'platform',
  'vendor',
  'language',
  'languages',
  'plugins',
  'hardwareConcurrency',
  'deviceMemory',
  'maxTouchPoints',
  'mediaDevices',
  'permissions',
])
/** Selenium and PhantomJS have their own signals. */
const AUTOMATION_MARKS =
  /^__(?:playwright|pw[A-Z_]|puppeteer|nightmare|cypress|testcafe)|^_Selenium_IDE_Recorder$|^_WEBDRIVER_ELEM_CACHE$|^domAutomation(?:Controller)?$|^__lastWatir|^ChromeDriverw$|^awesomium$|^Cypress$/
