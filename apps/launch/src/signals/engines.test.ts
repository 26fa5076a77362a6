import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineOf, isKnownChromium, isMobileSystem, systemOf } from './engines.ts'
import { type BrowserName, SHAPES } from './testing/browsers.ts'

const userAgent = (name: BrowserName) => SHAPES[name].userAgent

test('the user agent gives the engine and its version', () => {
  for (const [name, engine, version] of [
    ['Chrome on Windows', 'chromium', 140],
    ['Edge on Windows', 'chromium', 140],
    ['a WebView on Android', 'chromium', 140],
    ['Firefox on Windows', 'gecko', 140],
    ['Firefox on Android', 'gecko', 140],
    ['Safari on a Mac', 'webkit', 18.5],
    ['Safari on an iPhone', 'webkit', 18.5],
    ['Chrome on an iPhone', 'webkit', 18.5],
    ['Facebook on an iPhone', 'webkit', 18.5],
  ] as const) {
    assert.deepEqual(engineOf(userAgent(name)), { name: engine, version }, name)
  }
})

test('an unknown user agent has no engine', () => {
  for (const unknown of [
    '',
    'curl/8.5.0',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/64.0.3282.140 Safari/537.36 Edge/18.17763',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
  ]) {
    assert.equal(engineOf(unknown), undefined, unknown)
  }
})

test('the user agent gives the operating system', () => {
  for (const [name, system] of [
    ['Chrome on Windows', 'windows'],
    ['Chrome on a Mac', 'mac'],
    ['Chrome on Linux', 'linux'],
    ['Chrome on a Chromebook', 'chromeos'],
    ['Chrome on Android', 'android'],
    ['Firefox on Android', 'android'],
    ['Safari on an iPhone', 'iphone'],
    ['an iPad that calls itself a Mac', 'mac'],
  ] as const) {
    assert.equal(systemOf(userAgent(name)), system, name)
    assert.equal(isMobileSystem(userAgent(name)), system === 'android' || system === 'iphone', name)
  }
  assert.equal(systemOf('curl/8.5.0'), undefined)
})

test('a Chromium with another product name is not a known one', () => {
  assert.ok(isKnownChromium(userAgent('Chrome on Windows')))
  assert.ok(isKnownChromium(userAgent('Edge on Windows')))
  assert.ok(!isKnownChromium(userAgent('Samsung Internet')))
})
