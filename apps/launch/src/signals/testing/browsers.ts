import type { DeviceClock } from '@ostiary/device'
import { EXPECTED_INTERFACES } from '../interfaces.ts'

/** A browser's globals as a page finds them, and the clock of its timers and frames. */
export interface FakeBrowser {
  globals: Record<string, unknown>
  clock: DeviceClock
}

/** The differences between browsers. The values come from the documentation and behaviour of real browsers. */
interface BrowserProfile {
  userAgent: string
  platform: string
  vendor: string
  languages?: readonly string[]
  plugins?: number
  touchPoints?: number
  deviceMemory?: number
  connection?: object
  hints?: { brands: readonly { brand: string; version: string }[]; mobile: boolean; platform: string }
  graphics?: readonly [vendor: string, renderer: string]
  hasChrome?: boolean
  hasNotification?: boolean
  hasWebRTC?: boolean
  isBrave?: boolean
  zone?: readonly [name: string, offsetMinutes: number]
  screen?: readonly [width: number, height: number]
  inner?: readonly [width: number, height: number]
  outer?: readonly [width: number, height: number]
  /** Resolution of the browser's clock, in milliseconds. */
  resolutionMs?: number
}

export const CAMERA = { label: 'Integrated Camera (04f2:b6d9)' }
/** 15 June 2026, noon UTC: during summer time. */
export const NOW_MS = Date.UTC(2026, 5, 15, 12)

const GOOGLE = 'Google Inc.'
const APPLE = 'Apple Computer, Inc.'
const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const BLINK = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const IPHONE = 'iPhone; CPU iPhone OS 18_5 like Mac OS X'
const MAC = 'Macintosh; Intel Mac OS X 10_15_7'
const brands = (...names: readonly string[]) => [
  { brand: 'Not=A?Brand', version: '24' },
  ...names.map((brand) => ({ brand, version: '140' })),
]
const hints = (platform: string, mobile: boolean, brand = 'Google Chrome') => ({
  brands: brands('Chromium', brand),
  mobile,
  platform,
})

const CHROME_WINDOWS: BrowserProfile = {
  userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${BLINK} Chrome/140.0.0.0 Safari/537.36`,
  platform: 'Win32',
  vendor: GOOGLE,
  languages: ['de-DE', 'de', 'en-US', 'en'],
  plugins: 5,
  deviceMemory: 8,
  connection: { effectiveType: '4g', rtt: 50, downlink: 10, saveData: false },
  hints: hints('Windows', false),
  graphics: ['Google Inc. (Intel)', 'ANGLE (Intel, Intel(R) UHD Graphics 620 Direct3D11 vs_5_0 ps_5_0, D3D11)'],
  hasChrome: true,
}
const CHROME_MAC: BrowserProfile = {
  ...CHROME_WINDOWS,
  userAgent: `Mozilla/5.0 (${MAC}) ${BLINK} Chrome/140.0.0.0 Safari/537.36`,
  platform: 'MacIntel',
  hints: hints('macOS', false),
  graphics: ['Google Inc. (Apple)', 'ANGLE (Apple, ANGLE Metal Renderer: Apple M2, Unspecified Version)'],
}
const CHROME_ANDROID: BrowserProfile = {
  userAgent: `Mozilla/5.0 (Linux; Android 10; K) ${BLINK} Chrome/140.0.0.0 Mobile Safari/537.36`,
  platform: 'Linux armv81',
  vendor: GOOGLE,
  plugins: 0,
  touchPoints: 5,
  deviceMemory: 4,
  connection: { effectiveType: '4g', rtt: 100, downlink: 1.6, saveData: false },
  hints: hints('Android', true),
  graphics: ['Qualcomm', 'Adreno (TM) 619'],
  hasChrome: true,
  screen: [412, 915],
  inner: [412, 785],
  outer: [412, 785],
}
const FIREFOX_WINDOWS: BrowserProfile = {
  userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
  platform: 'Win32',
  vendor: '',
  plugins: 5,
  graphics: ['Google Inc. (Intel)', 'ANGLE (Intel, Intel(R) HD Graphics Direct3D11 vs_5_0 ps_5_0), or similar'],
  resolutionMs: 1,
}
const SAFARI_MAC: BrowserProfile = {
  userAgent: `Mozilla/5.0 (${MAC}) ${WEBKIT} Version/18.5 Safari/605.1.15`,
  platform: 'MacIntel',
  vendor: APPLE,
  languages: ['en-GB'],
  plugins: 5,
  graphics: ['Apple Inc.', 'Apple GPU'],
  resolutionMs: 1,
}
const SAFARI_IPHONE: BrowserProfile = {
  ...SAFARI_MAC,
  userAgent: `Mozilla/5.0 (${IPHONE}) ${WEBKIT} Version/18.5 Mobile/15E148 Safari/604.1`,
  platform: 'iPhone',
  touchPoints: 5,
  hasNotification: false,
  screen: [390, 844],
  inner: [390, 664],
  outer: [390, 844],
}
const WEBVIEW_ANDROID: BrowserProfile = {
  ...CHROME_ANDROID,
  userAgent: `Mozilla/5.0 (Linux; Android 15; SM-A556B Build/AP3A.240905.015; wv) ${BLINK} Version/4.0 Chrome/140.0.7339.51 Mobile Safari/537.36`,
  hints: hints('Android', true, 'Android WebView'),
  hasChrome: false,
  hasNotification: false,
  outer: [0, 0],
}

/** Browsers of honest users. */
export const BROWSER_PROFILES = {
  'Chrome on Windows': CHROME_WINDOWS,
  'Chrome on a Mac': CHROME_MAC,
  'Chrome on Linux': {
    ...CHROME_WINDOWS,
    userAgent: `Mozilla/5.0 (X11; Linux x86_64) ${BLINK} Chrome/140.0.0.0 Safari/537.36`,
    platform: 'Linux x86_64',
    hints: hints('Linux', false),
    graphics: ['Google Inc. (AMD)', 'ANGLE (AMD, AMD Radeon 780M (radeonsi phoenix), OpenGL 4.6)'],
  },
  'Chrome on a Chromebook': {
    ...CHROME_WINDOWS,
    userAgent: `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${BLINK} Chrome/140.0.0.0 Safari/537.36`,
    platform: 'Linux x86_64',
    hints: hints('Chrome OS', false),
    touchPoints: 10,
  },
  'Edge on Windows': {
    ...CHROME_WINDOWS,
    userAgent: `${CHROME_WINDOWS.userAgent} Edg/140.0.0.0`,
    hints: hints('Windows', false, 'Microsoft Edge'),
  },
  'Brave on a Mac': { ...withoutConnection(CHROME_MAC), hints: hints('macOS', false, 'Brave'), isBrave: true },
  'Chrome on Android': CHROME_ANDROID,
  'Chrome on an Android tablet': {
    ...CHROME_ANDROID,
    userAgent: `Mozilla/5.0 (Linux; Android 10; K) ${BLINK} Chrome/140.0.0.0 Safari/537.36`,
    hints: hints('Android', false),
  },
  'Chrome on Android that asks for desktop pages': {
    ...CHROME_ANDROID,
    userAgent: `Mozilla/5.0 (X11; Linux x86_64) ${BLINK} Chrome/140.0.0.0 Safari/537.36`,
    hints: hints('Linux', false),
    plugins: 5,
  },
  'Samsung Internet': {
    ...CHROME_ANDROID,
    userAgent: `Mozilla/5.0 (Linux; Android 10; K) ${BLINK} SamsungBrowser/28.0 Chrome/140.0.0.0 Mobile Safari/537.36`,
    hints: hints('Android', true, 'Samsung Internet'),
    hasChrome: false,
  },
  'Firefox on Windows': FIREFOX_WINDOWS,
  'Firefox on Android': {
    ...FIREFOX_WINDOWS,
    userAgent: 'Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0',
    platform: 'Linux aarch64',
    plugins: 0,
    touchPoints: 5,
    connection: { type: 'wifi' },
    graphics: ['Qualcomm', 'Adreno (TM) 650, or similar'],
    screen: [412, 915],
    inner: [412, 785],
    outer: [412, 785],
  },
  'Tor Browser': {
    ...FIREFOX_WINDOWS,
    languages: ['en-US', 'en'],
    graphics: ['Mozilla', 'Mozilla'],
    hasWebRTC: false,
    zone: ['Atlantic/Reykjavik', 0],
    screen: [1400, 900],
    inner: [1400, 900],
    outer: [1400, 900],
    resolutionMs: 100,
  },
  'Safari on a Mac': SAFARI_MAC,
  'Safari on an iPhone': SAFARI_IPHONE,
  'Chrome on an iPhone': {
    ...SAFARI_IPHONE,
    userAgent: `Mozilla/5.0 (${IPHONE}) ${WEBKIT} CriOS/140.0.7339.101 Mobile/15E148 Safari/604.1`,
  },
  'an iPad that calls itself a Mac': {
    ...SAFARI_MAC,
    touchPoints: 5,
    hasNotification: false,
    screen: [820, 1180],
    inner: [820, 1106],
    outer: [820, 1180],
  },
  'a WebView on Android': WEBVIEW_ANDROID,
  'Instagram on Android': {
    ...WEBVIEW_ANDROID,
    userAgent: `${WEBVIEW_ANDROID.userAgent} Instagram 390.0.0.43.81 Android (35/15; 450dpi; 1080x2109; samsung; SM-A556B; a55x; s5e8845; de_DE; 772712837)`,
    hints: { brands: [], mobile: false, platform: '' },
  },
  'Facebook on an iPhone': {
    ...SAFARI_IPHONE,
    userAgent: `Mozilla/5.0 (${IPHONE}) ${WEBKIT} Mobile/15E148 [FBAN/FBIOS;FBAV/525.0.0.53.107;FBBV/778898765;FBDV/iPhone15,2;FBMD/iPhone;FBSN/iOS;FBSV/18.5]`,
    outer: [0, 0],
  },
} as const satisfies Record<string, BrowserProfile>
export type BrowserName = keyof typeof BROWSER_PROFILES
export const BROWSER_NAMES = Object.keys(BROWSER_PROFILES).filter((name): name is BrowserName =>
  Object.hasOwn(BROWSER_PROFILES, name),
)

function withoutConnection({ connection: _, ...profile }: BrowserProfile): BrowserProfile {
  return profile
}

/** A new browser of this kind. Changes to it do not affect others. */
export function browser(name: BrowserName): FakeBrowser {
  return createBrowser(BROWSER_PROFILES[name])
}

function createBrowser(profile: BrowserProfile): FakeBrowser {
  const { outer = [1536, 824], inner = [1536, 695], screen = [1536, 864] } = profile
  let nowMs = 1000
  const clock = { nowMs: () => NOW_MS, monotonicMs: () => nowMs }
  const advance = (byMs: number, then: () => void) =>
    void setImmediate(() => {
      nowMs += byMs
      then()
    })
  const globals: Record<string, unknown> = {
    navigator: createNavigator(profile),
    document: createDocument(profile),
    screen: { width: screen[0], height: screen[1] },
    Function,
    ...createTime(profile),
    ...Object.fromEntries(Object.keys(EXPECTED_INTERFACES).map((name) => [name, native(() => undefined)])),
    ...(profile.hasNotification !== false && {
      Notification: Object.assign(
        native(() => undefined),
        { permission: 'default' },
      ),
    }),
    ...(profile.hasWebRTC !== false && { RTCPeerConnection: FakeConnection }),
    ...(profile.hasChrome && { chrome: { loadTimes: native(() => undefined) } }),
    isSecureContext: true,
    innerWidth: inner[0],
    innerHeight: inner[1],
    outerWidth: outer[0],
    outerHeight: outer[1],
    setTimeout: (then: () => void, delayMs: number) => advance(delayMs + 0.4, then),
    requestAnimationFrame: (then: (timeMs: number) => void) => advance(1000 / 60, () => then(rounded(nowMs, profile))),
  }
  globals.top = globals
  globals.self = globals
  return { globals, clock }
}

const rounded = (timeMs: number, { resolutionMs = 0.1 }: BrowserProfile) =>
  Math.floor(timeMs / resolutionMs) * resolutionMs

/** As in a real browser, all properties are on the prototype. */
function createNavigator(profile: BrowserProfile): object {
  const { languages = ['en-US', 'en'], deviceMemory, connection, hints: userAgentData, isBrave } = profile
  return Object.create({
    userAgent: profile.userAgent,
    platform: profile.platform,
    vendor: profile.vendor,
    webdriver: false,
    language: languages[0],
    languages,
    plugins: { length: profile.plugins ?? 0 },
    maxTouchPoints: profile.touchPoints ?? 0,
    permissions: Object.create({ query: native(async () => ({ state: 'prompt' })) }),
    mediaDevices: Object.create({
      getUserMedia: native(async () => ({})),
      enumerateDevices: native(async () => [{ kind: 'audioinput' }, { kind: 'videoinput' }]),
    }),
    ...(deviceMemory !== undefined && { deviceMemory }),
    ...(connection !== undefined && { connection }),
    ...(userAgentData !== undefined && { userAgentData }),
    ...(isBrave && { brave: { isBrave: native(async () => true) } }),
  })
}

function createDocument({ graphics = ['Intel', 'Intel'] }: BrowserProfile): object {
  const parameters: Readonly<Record<number, string>> = { 37445: graphics[0], 37446: graphics[1] }
  const context = {
    getExtension: (name: string) =>
      name === 'WEBGL_debug_renderer_info' ? { UNMASKED_VENDOR_WEBGL: 37445, UNMASKED_RENDERER_WEBGL: 37446 } : null,
    getParameter: (name: number) => parameters[name],
  }
  return Object.create({
    visibilityState: 'visible',
    documentElement: { getAttributeNames: () => ['lang', 'dir'] },
    createElement: () => ({ getContext: () => context }),
  })
}

function createTime({
  zone: [timeZone, offsetMinutes] = ['Europe/Berlin', 120],
}: BrowserProfile): Record<string, unknown> {
  return {
    Intl: { DateTimeFormat: () => ({ resolvedOptions: () => ({ timeZone }) }) },
    Date: class {
      getTimezoneOffset() {
        return 0 - offsetMinutes
      }
    },
  }
}

class FakeConnection {
  createDataChannel() {}
  close() {}
  async createOffer() {
    return { type: 'offer', sdp: 'v=0\r\na=fingerprint:sha-256 00:01\r\n' }
  }
}

/** A bound function prints its source like native functions do. */
function native<T extends (...parameters: never[]) => unknown>(body: T): T {
  return body.bind(undefined) as T // the bound function takes what the body takes
}
