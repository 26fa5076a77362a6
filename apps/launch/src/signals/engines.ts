/** The engine that a user agent claims. Other signals check the claim. */
export interface Engine {
  name: 'chromium' | 'gecko' | 'webkit'
  /** Release version of the engine: 140, 18.4. */
  version: number
}

/** Undefined for programs, discontinued engines and unknown user agents. */
export function engineOf(userAgent: string): Engine | undefined {
  // Every browser on an iPhone or iPad runs WebKit, whatever its name is.
  if (APPLE_MOBILE.test(userAgent)) return engine('webkit', VERSION.exec(userAgent) ?? IOS_VERSION.exec(userAgent))
  if (OLD_EDGE.test(userAgent)) return undefined
  const chromium = CHROME.exec(userAgent)
  if (chromium) return engine('chromium', chromium)
  const gecko = FIREFOX.exec(userAgent)
  if (gecko) return engine('gecko', gecko)
  return SAFARI.test(userAgent) ? engine('webkit', VERSION.exec(userAgent)) : undefined
}

export const SYSTEMS = ['windows', 'android', 'iphone', 'ipad', 'mac', 'chromeos', 'linux'] as const
export type System = (typeof SYSTEMS)[number]

/** The operating system that a user agent names. */
export function systemOf(userAgent: string): System | undefined {
  return SYSTEMS.find((system) => SYSTEM_PATTERNS[system].test(userAgent))
}

export function isMobileSystem(userAgent: string): boolean {
  const system = systemOf(userAgent)
  return system === 'android' || system === 'iphone' || system === 'ipad'
}

/** Whether a Chromium is one whose globals we know: Google's, Microsoft's, Opera's, Brave's or a plain build. */
export function isKnownChromium(userAgent: string): boolean {
  return [...userAgent.matchAll(PRODUCT)].every(([, product = '']) => KNOWN_PRODUCTS.has(product))
}

function engine(name: Engine['name'], version: RegExpExecArray | null): Engine | undefined {
  return version ? { name, version: Number(`${version[1] ?? 0}.${version[2] ?? 0}`) } : undefined
}

const APPLE_MOBILE = /\b(?:iPhone|iPad|iPod)\b.*\bAppleWebKit\//
const VERSION = /\bVersion\/(\d+)\.(\d+)/
const IOS_VERSION = /\bOS (\d+)_(\d+)/
const OLD_EDGE = /\bEdge\/\d/
const CHROME = /\b(?:Headless)?Chrome\/(\d+)/
const FIREFOX = /\bGecko\/.*\bFirefox\/(\d+)/
const SAFARI = /\bMacintosh\b.*\bAppleWebKit\/.*\bSafari\//

const SYSTEM_PATTERNS: Readonly<Record<System, RegExp>> = {
  windows: /\bWindows NT\b/,
  android: /\bAndroid\b/,
  iphone: /\b(?:iPhone|iPod)\b/,
  ipad: /\biPad\b/,
  mac: /\bMacintosh\b/,
  chromeos: /\bCrOS\b/,
  linux: /\bLinux\b/,
}

const PRODUCT = /([A-Za-z]+)\/\d/g
const KNOWN_PRODUCTS: ReadonlySet<string> = new Set([
  'Mozilla',
  'AppleWebKit',
  'Chrome',
  'HeadlessChrome',
  'Chromium',
  'Safari',
  'Edg',
  'EdgA',
  'OPR',
])
