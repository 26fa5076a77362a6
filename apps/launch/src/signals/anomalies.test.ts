import assert from 'node:assert/strict'
import { test } from 'node:test'
import { offsetOfZone } from './anomalies.ts'
import { all, putOn, remove, set } from './testing/marks.ts'
import { signalTable } from './testing/table.ts'

const CHROME = 'Chrome on Windows'
const IPHONE_UA =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'
const OLD_IPHONE_UA =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 15_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.1 Mobile/15E148 Safari/604.1'
const OLD_CHROME_UA =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0.4430.93 Safari/537.36'

signalTable('browserAnomalies.missingWebAPIs', [
  ['Chrome 140 without structuredClone', CHROME, '1', remove('structuredClone')],
  ['Safari 18 without BroadcastChannel', 'Safari on an iPhone', '1', remove('BroadcastChannel')],
  ['Firefox 140 without ResizeObserver', 'Firefox on Windows', '1', remove('ResizeObserver')],
  [
    'Chrome 90, which has no structuredClone yet',
    CHROME,
    '0',
    all(set('navigator.userAgent', OLD_CHROME_UA), remove('structuredClone')),
  ],
  ['Chrome 90 without BigInt', CHROME, '1', all(set('navigator.userAgent', OLD_CHROME_UA), remove('BigInt'))],
  [
    'Safari 15.1, which has neither yet',
    'Safari on an iPhone',
    '0',
    all(set('navigator.userAgent', OLD_IPHONE_UA), remove('structuredClone'), remove('BroadcastChannel')),
  ],
  ['Tor Browser, which has no WebRTC on purpose', 'Tor Browser', '0'],
  [
    'an engine that we do not know',
    CHROME,
    '-',
    all(set('navigator.userAgent', 'Mozilla/5.0 (compatible; Servo)'), remove('BigInt')),
  ],
])

signalTable('browserAnomalies.inconsistentFingerprint', [
  ['Windows by its name, Linux by its platform', CHROME, '1', set('navigator.platform', 'Linux x86_64')],
  ['an iPhone by its name, a PC by everything else', CHROME, '1', set('navigator.userAgent', IPHONE_UA)],
  ['Safari by its name, Google by its vendor', 'Safari on a Mac', '1', set('navigator.vendor', 'Google Inc.')],
  ['Firefox by its name, Google by its vendor', 'Firefox on Windows', '1', set('navigator.vendor', 'Google Inc.')],
  ['a phone that cannot be touched', 'Chrome on Android', '1', set('navigator.maxTouchPoints', 0)],
  ['a window without size', CHROME, '1', all(set('outerWidth', 0), set('outerHeight', 0))],
  ['no screen', 'Firefox on Windows', '1', set('screen', { width: 0, height: 0 })],
  ['Berlin by Intl, New York by Date', CHROME, '1', set('Date', zoneOf(240))],
  [
    'a camera function that a script replaced',
    CHROME,
    '1',
    set('navigator.mediaDevices.getUserMedia', async () => ({})),
  ],
  [
    'a camera function that a script put in front',
    CHROME,
    '1',
    putOn('navigator.mediaDevices.getUserMedia', (async () => ({})).bind(undefined)),
  ],
  [
    'a camera function that lies about its source',
    CHROME,
    '1',
    set(
      'navigator.mediaDevices.getUserMedia',
      Object.assign(async () => ({}), { toString: () => 'function getUserMedia() { [native code] }' }),
    ),
  ],
  [
    'a list of devices that a script replaced',
    CHROME,
    '1',
    set('navigator.mediaDevices.enumerateDevices', async () => []),
  ],
  ['a platform that a script put in front', CHROME, '1', putOn('navigator.platform', 'Win32')],
  ['a vendor that a browser leaves empty', CHROME, '0', set('navigator.vendor', '')],
  ['a mark that privacy tools set', CHROME, '0', putOn('navigator.globalPrivacyControl', true)],
  ['a desktop that can be touched', CHROME, '0', set('navigator.maxTouchPoints', 10)],
  ['an iPad that calls itself a Mac', 'an iPad that calls itself a Mac', '0'],
  ['a phone that asks for desktop pages', 'Chrome on Android that asks for desktop pages', '0'],
  ['a WebView, which gives its window no size', 'a WebView on Android', '0'],
  ['Greenwich by both', 'Tor Browser', '0'],
  [
    'a zone that we do not know',
    CHROME,
    '0',
    set('Intl', { DateTimeFormat: () => ({ resolvedOptions: () => ({ timeZone: 'Europe/Nowhere' }) }) }),
  ],
  ['no user agent', CHROME, '-', remove('navigator.userAgent')],
])

signalTable('browserAnomalies.automationProperties', [
  ['a binding of Playwright', CHROME, '1', putOn('__playwright__binding__', {})],
  ['scripts of Playwright', CHROME, '1', putOn('__pwInitScripts', {})],
  ['Puppeteer', CHROME, '1', putOn('__puppeteer_evaluation_script__', {})],
  ['the automation of Chromium', CHROME, '1', putOn('domAutomationController', {})],
  ['Nightmare', CHROME, '1', putOn('__nightmare', {})],
  ['Cypress', CHROME, '1', putOn('Cypress', {})],
  ['a recorder for tests', 'Firefox on Windows', '1', putOn('_Selenium_IDE_Recorder', {})],
  ['a script that hides the driver', CHROME, '1', putOn('navigator.webdriver', false)],
  ['names that only begin alike', CHROME, '0', all(putOn('__pwd', {}), putOn('cypressHill', {}))],
  ['the wallet that is called Phantom', CHROME, '0', putOn('phantom', {})],
])

test('the offset of a time zone depends on the date, including summer time', () => {
  const [winter, summer] = [Date.UTC(2026, 0, 15, 23, 30), Date.UTC(2026, 6, 15, 23, 30)]
  for (const [zone, inWinter, inSummer] of [
    ['UTC', 0, 0],
    ['Europe/Berlin', 60, 120],
    ['America/New_York', -300, -240],
    ['Asia/Kolkata', 330, 330],
    ['Asia/Kathmandu', 345, 345],
    ['Pacific/Auckland', 780, 720],
  ] as const) {
    assert.deepEqual([offsetOfZone(zone, winter), offsetOfZone(zone, summer)], [inWinter, inSummer], zone)
  }
  assert.equal(offsetOfZone('Europe/Nowhere', winter), undefined)
})

function zoneOf(westMinutes: number) {
  return class {
    getTimezoneOffset() {
      return westMinutes
    }
  }
}
