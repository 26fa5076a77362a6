import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineOf, isKnownChromium, isMobileSystem, systemOf } from './engines.ts'
import { BROWSER_PROFILES, type BrowserName } from './testing/browsers.ts'

const userAgent = (name: BrowserName) => BROWSER_PROFILES[name].userAgent

test('engineOf reads the browser engine and its version from the user agent', () => {
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

test('engineOf returns undefined for programs, for the discontinued legacy Edge and for a Mac WebView, which names no browser', () => {
  const legacyEdge =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/64.0.3282.140 Safari/537.36 Edge/18.17763'
  const macWebView = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)'
  for (const withoutEngine of ['', 'curl/8.5.0', legacyEdge, macWebView]) {
    assert.equal(engineOf(withoutEngine), undefined, withoutEngine)
  }
})

test('systemOf reads the operating system from the user agent; Android and iPhone are mobile', () => {
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

test('a Chromium browser is unknown if its user agent names another product, as Samsung Internet does', () => {
  assert.ok(isKnownChromium(userAgent('Chrome on Windows')))
  assert.ok(isKnownChromium(userAgent('Edge on Windows')))
  assert.ok(!isKnownChromium(userAgent('Samsung Internet')))
})
