import { all, putOn, remove, set } from './testing/marks.ts'
import { signalTable } from './testing/table.ts'

const CHROME = 'Chrome on Windows'
const UA = {
  headless:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36',
  phantom: 'Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1',
  jsdom: 'Mozilla/5.0 (linux) AppleWebKit/537.36 (KHTML, like Gecko) jsdom/26.1.0',
  cubot:
    'Mozilla/5.0 (Linux; Android 14; CUBOT KINGKONG) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
}
const brands = (version: string, ...names: readonly string[]) => names.map((brand) => ({ brand, version }))
const hints = (fields: object) =>
  set('navigator.userAgentData', {
    brands: brands('140', 'Chromium', 'Google Chrome'),
    mobile: false,
    platform: 'Windows',
    ...fields,
  })

signalTable('headless.webdriver', [
  ['a program drives it', CHROME, '1', set('navigator.webdriver', true)],
  ['Firefox under a program', 'Firefox on Windows', '1', set('navigator.webdriver', true)],
  ['nobody drives it', CHROME, '0'],
  ['the property is not there', CHROME, '-', remove('navigator.webdriver')],
  ['the property is no boolean', CHROME, '-', set('navigator.webdriver', 'true')],
])

signalTable('headless.userAgent', [
  ['headless Chrome', CHROME, '1', all(set('navigator.userAgent', UA.headless), remove('navigator.userAgentData'))],
  ['PhantomJS', 'Safari on a Mac', '1', set('navigator.userAgent', UA.phantom)],
  ['jsdom', 'Safari on a Mac', '1', set('navigator.userAgent', UA.jsdom)],
  ['hints that name a headless brand', CHROME, '1', hints({ brands: brands('140', 'Chromium', 'HeadlessChrome') })],
  ['hints of another version', CHROME, '1', hints({ brands: brands('131', 'Chromium', 'Google Chrome') })],
  ['hints of another system', CHROME, '1', hints({ platform: 'Linux' })],
  ['hints of a phone', CHROME, '1', hints({ mobile: true })],
  ['a phone by its name, a desktop by its hints', 'Chrome on Android', '1', hints({ platform: 'Android' })],
  ['hints that agree', CHROME, '0', hints({})],
  ['hints that an app left empty', 'Instagram on Android', '0'],
  ['a system that we do not know', CHROME, '0', hints({ platform: 'Fuchsia' })],
  ['a phone whose maker is called Cubot', 'Chrome on Android', '0', set('navigator.userAgent', UA.cubot)],
  ['no hints', 'Firefox on Windows', '0'],
  ['no user agent', CHROME, '-', set('navigator.userAgent', undefined)],
])

const graphics = (vendor: string, renderer: string) =>
  set('document.createElement', () => ({
    getContext: () => ({
      VENDOR: 1,
      RENDERER: 2,
      getExtension: () => null,
      getParameter: (id: number) => [vendor, renderer][id - 1],
    }),
  }))
signalTable('headless.webGL', [
  [
    'SwiftShader',
    CHROME,
    '1',
    graphics('Google Inc. (Google)', 'ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero)), SwiftShader driver)'),
  ],
  ['llvmpipe', 'Firefox on Windows', '1', graphics('Mesa', 'llvmpipe, or similar')],
  [
    'a graphics driver of Windows that computes',
    CHROME,
    '1',
    graphics('Google Inc. (Microsoft)', 'ANGLE (Microsoft, Microsoft Basic Render Driver)'),
  ],
  ['no WebGL', CHROME, '1', set('document.createElement', () => ({ getContext: () => null }))],
  ['a card without a name', 'Tor Browser', '0'],
  ['a card of Apple', 'Safari on an iPhone', '0'],
  ['no canvas', CHROME, '-', set('document.createElement', () => ({}))],
  [
    'a canvas that throws',
    CHROME,
    '-',
    set('document.createElement', () => ({ getContext: () => Reflect.apply(fail, 0, []) })),
  ],
])

signalTable('headless.phantom', [
  ['callPhantom', 'Safari on a Mac', '1', putOn('callPhantom', () => 0)],
  ['_phantom', 'Safari on a Mac', '1', putOn('_phantom', {})],
  ['its user agent', 'Safari on a Mac', '1', set('navigator.userAgent', UA.phantom)],
  ['the wallet that is called Phantom', CHROME, '0', putOn('phantom', { solana: {}, ethereum: {} })],
])

signalTable('headless.selenium', [
  ['a mark of chromedriver on the window', CHROME, '1', putOn('cdc_adoQpoasnfa76pfcZLmcfl_Array', [])],
  ['a mark of chromedriver on the document', CHROME, '1', putOn('document.$cdc_asdjflasutopfhvcZLmcfl_', {})],
  ['a mark of geckodriver', 'Firefox on Windows', '1', putOn('document.__webdriver_evaluate', {})],
  ['a mark of the Firefox driver', 'Firefox on Windows', '1', putOn('document.__fxdriver_unwrapped', {})],
  ['the executor of asynchronous scripts', 'Firefox on Windows', '1', putOn('__$webdriverAsyncExecutor', {})],
  ['callSelenium', CHROME, '1', putOn('callSelenium', {})],
  [
    'an attribute of the root',
    CHROME,
    '1',
    set('document.documentElement', { getAttributeNames: () => ['lang', 'webdriver'] }),
  ],
  ['a short name that begins alike', CHROME, '0', putOn('cdc_', {})],
])

signalTable('headless.chrome', [
  ['Chrome without its object', CHROME, '1', remove('chrome')],
  ['Edge without its object', 'Edge on Windows', '1', remove('chrome')],
  ['headless Chrome without its object', CHROME, '1', all(set('navigator.userAgent', UA.headless), remove('chrome'))],
  ['a WebView, which has none', 'a WebView on Android', '1'],
  ['Brave', 'Brave on a Mac', '0'],
  ['Chrome on a phone', 'Chrome on Android', '0'],
  ['a browser whose objects we do not know', 'Samsung Internet', '-'],
  ['Chrome on an iPhone, which is Safari inside', 'Chrome on an iPhone', '-'],
])

const state = (answer: string) => set('navigator.permissions.query', (async () => ({ state: answer })).bind(undefined))
signalTable('headless.permissions', [
  ['denied here, never asked there', CHROME, '1', set('Notification.permission', 'denied')],
  ['denied in both', CHROME, '0', all(set('Notification.permission', 'denied'), state('denied'))],
  ['granted in both', CHROME, '0', all(set('Notification.permission', 'granted'), state('granted'))],
  ['never asked', CHROME, '0'],
  ['in a frame of another site', CHROME, '-', all(set('Notification.permission', 'denied'), set('top', {}))],
  ['Firefox in a private window', 'Firefox on Windows', '-', set('Notification.permission', 'denied')],
  ['no permissions interface', CHROME, '-', remove('navigator.permissions')],
  [
    'a question that is refused',
    CHROME,
    '-',
    set('navigator.permissions.query', (async () => Reflect.apply(fail, 0, [])).bind(undefined)),
  ],
])

signalTable('headless.plugins', [
  ['an empty list on a desktop', CHROME, '1', set('navigator.plugins', { length: 0 })],
  ['the usual list', CHROME, '0'],
  ['an empty list on a phone', 'Chrome on Android', '-'],
  ['an empty list in Firefox', 'Firefox on Windows', '-', set('navigator.plugins', { length: 0 })],
  ['no list', CHROME, '-', remove('navigator.plugins')],
])

signalTable('headless.languages', [
  ['an empty list', CHROME, '1', set('navigator.languages', [])],
  ['an empty language', CHROME, '1', set('navigator.language', '')],
  ['another language first', CHROME, '1', set('navigator.languages', ['en-US', 'de'])],
  ['the language first', CHROME, '0'],
  ['the language shortened', CHROME, '0', set('navigator.language', 'de')],
  ['the language in small letters', 'Safari on an iPhone', '0', set('navigator.language', 'en-gb')],
  ['neither', CHROME, '-', all(remove('navigator.languages'), remove('navigator.language'))],
])

const connection = (offer: () => Promise<unknown>) =>
  set(
    'RTCPeerConnection',
    class {
      createDataChannel() {}
      createOffer = offer
    },
  )
signalTable('headless.webRTC', [
  ['no interface', CHROME, '1', remove('RTCPeerConnection')],
  ['an interface that cannot be constructed', CHROME, '1', set('RTCPeerConnection', fail)],
  ['an offer that is refused', CHROME, '1', connection(async () => Reflect.apply(fail, 0, []))],
  ['an offer without a key', CHROME, '1', connection(async () => ({ sdp: 'v=0' }))],
  ['an offer as usual', 'Safari on an iPhone', '0'],
  ['an offer that never comes', CHROME, '-', connection(() => new Promise(() => {}))],
])

signalTable('headless.notification', [
  ['a desktop Chrome without it', CHROME, '1', remove('Notification')],
  ['a permission that does not exist', 'Safari on a Mac', '1', set('Notification.permission', 'prompt')],
  ['a permission that was refused', CHROME, '0', set('Notification.permission', 'denied')],
  ['Chrome on a phone', 'Chrome on Android', '0'],
  ['an iPhone, which has none', 'Safari on an iPhone', '-'],
  ['an iPad, which has none', 'an iPad that calls itself a Mac', '-'],
  ['a WebView, which has none', 'a WebView on Android', '-'],
  ['Firefox with notifications disabled', 'Firefox on Windows', '-', remove('Notification')],
  ['a page that is not secure', CHROME, '-', all(remove('Notification'), set('isSecureContext', false))],
])

signalTable('headless.deviceMemory', [
  ['no value', CHROME, '1', set('navigator.deviceMemory', undefined)],
  ['a value that no browser gives', CHROME, '1', set('navigator.deviceMemory', 6)],
  ['nothing', CHROME, '1', set('navigator.deviceMemory', 0)],
  ['a quarter', 'Chrome on Android', '0', set('navigator.deviceMemory', 0.25)],
  ['32, as newer browsers have it', CHROME, '0', set('navigator.deviceMemory', 32)],
  ['Safari, which lacks it', 'Safari on a Mac', '-'],
  ['Firefox, which lacks it', 'Firefox on Windows', '-'],
])

signalTable('headless.connectionType', [
  ['a round trip in no time', CHROME, '1', set('navigator.connection', { rtt: 0, effectiveType: '4g' })],
  ['a round trip', CHROME, '0'],
  ['Firefox on a phone, which gives no time', 'Firefox on Android', '-'],
  ['Safari, which lacks it', 'Safari on an iPhone', '-'],
])

/** Frame times with these intervals. */
const frames = (...gapsMs: readonly number[]) => {
  let [timeMs, index] = [0, 0]
  return set('requestAnimationFrame', (then: (timeMs: number) => void) => {
    timeMs += gapsMs[index++ % gapsMs.length] ?? 0
    const now = timeMs
    setImmediate(() => then(now))
  })
}
signalTable('headless.timing', [
  ['frames faster than any screen', CHROME, '1', frames(0.2)],
  ['frames of which none takes time', CHROME, '1', frames(0)],
  ['the clock of a test', CHROME, '1', frames(16)],
  ['a timer that does not wait', CHROME, '1', set('setTimeout', (then: () => void) => setImmediate(then))],
  ['60 Hz', CHROME, '0'],
  ['60 Hz in whole milliseconds', 'Safari on an iPhone', '0', frames(16, 17, 17)],
  ['a screen of 100 Hz', CHROME, '0', frames(10)],
  ['a screen of 500 Hz', CHROME, '0', frames(2)],
  ['a screen of 144 Hz and a clock of a hundred steps a second', 'Firefox on Windows', '0', frames(0, 10, 10)],
  ['frames that a busy device misses', CHROME, '0', frames(16.7, 50, 33.3)],
  ['a clock that is coarse on purpose', 'Tor Browser', '-', frames(0)],
  ['a hidden tab', CHROME, '-', all(set('document.visibilityState', 'hidden'), frames(0))],
  ['no timers and no frames', CHROME, '-', all(remove('setTimeout'), remove('requestAnimationFrame'))],
])

function fail(): never {
  throw new Error('not here')
}
