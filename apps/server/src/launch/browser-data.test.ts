import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type IndicatorPath, writeIndicators } from '@ostiary/contract'
import { lacksBrowserData } from './browser-data.ts'
import { IPHONE, LAPTOP } from './testing/user-agents.ts'

const ANDROID =
  'Mozilla/5.0 (Linux; Android 15; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36'
const CHROME_ON_IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1'
const CAMERA = { camera: { width: 640, height: 480 } }
const ZEROS = '0'.repeat(21)
const without = (...paths: readonly IndicatorPath[]) => writeIndicators(new Set(), new Set(paths))

const CASES: readonly [string, string | undefined, { userAgent?: string; isBrowser?: boolean }, boolean][] = [
  ['marks of a desktop Chromium', ZEROS, { userAgent: LAPTOP }, false],
  ['no marks', undefined, { userAgent: LAPTOP }, true],
  ['a call without the headers of a browser', ZEROS, { userAgent: LAPTOP, isBrowser: false }, true],
  ['a call without a user agent', ZEROS, {}, true],
  ['no mark that is evaluated', '-'.repeat(21), { userAgent: LAPTOP }, true],
  ['21 zeros from an iPhone, which cannot be asked for all of them', ZEROS, { userAgent: IPHONE }, true],
  ['21 zeros from a browser on an iPhone that calls itself Chrome', ZEROS, { userAgent: CHROME_ON_IPHONE }, true],
  ['21 zeros from Android, which lists no plugins', ZEROS, { userAgent: ANDROID }, true],
  ['marks of Android', without('headless.plugins'), { userAgent: ANDROID }, false],
  [
    'marks of an iPhone',
    without('headless.chrome', 'headless.permissions', 'headless.plugins'),
    { userAgent: IPHONE },
    false,
  ],
  ['a mark that every browser gives is missing', without('headless.selenium'), { userAgent: LAPTOP }, true],
]
for (const [what, marks, { userAgent, isBrowser = true }, lacks] of CASES) {
  test(`${what}: ${lacks ? 'no browser data' : 'browser data'}`, () => {
    const capture = { ...(marks !== undefined && { indicators: marks }), metadata: CAMERA }
    assert.equal(lacksBrowserData(capture, { userAgent, isBrowser }, true), lacks)
  })
}

test('a capture without a camera lacks browser data, unless its page is of the last release', () => {
  const sender = { userAgent: LAPTOP, isBrowser: true }
  for (const metadata of [
    undefined,
    {},
    { camera: 'front' },
    { camera: { width: 0, height: 480 } },
    { camera: { width: 640 } },
  ]) {
    const capture = { indicators: ZEROS, ...(metadata && { metadata }) }
    assert.equal(lacksBrowserData(capture, sender, true), true)
    assert.equal(lacksBrowserData(capture, sender, false), false)
  }
})
