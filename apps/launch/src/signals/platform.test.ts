import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { devicePlatform } from './platform.ts'
import { readEnvironment } from './read-environment.ts'
import { BROWSER_NAMES, type BrowserName, browser } from './testing/browsers.ts'
import { type Patch, set } from './testing/marks.ts'

const platformOf = (name: BrowserName, patch?: Patch) => {
  const fake = browser(name)
  patch?.(fake)
  return devicePlatform(readEnvironment(fake.globals, fake.clock))
}

const MOBILE: readonly BrowserName[] = [
  'Chrome on Android',
  'Chrome on an Android tablet',
  'Samsung Internet',
  'Firefox on Android',
  'Safari on an iPhone',
  'Chrome on an iPhone',
  'an iPad that calls itself a Mac',
  'a WebView on Android',
  'Instagram on Android',
  'Facebook on an iPhone',
]

describe('the platform that the page reports', () => {
  for (const name of BROWSER_NAMES) {
    const expected = MOBILE.includes(name) ? 'mobile' : 'desktop'
    test(`${name}: ${expected}`, () => assert.equal(platformOf(name), expected))
  }
})

test('a Mac without touch is not an iPad, and a Windows tablet is a desktop', () => {
  assert.equal(platformOf('an iPad that calls itself a Mac', set('navigator.maxTouchPoints', 0)), 'desktop')
  assert.equal(platformOf('Chrome on a Mac', set('navigator.maxTouchPoints', 5)), 'desktop')
  assert.equal(platformOf('Chrome on Windows', set('navigator.maxTouchPoints', 10)), 'desktop')
})

test('a phone user agent with desktop client hints is a desktop', () => {
  const hints = { brands: [{ brand: 'Chromium', version: '140' }], mobile: false, platform: 'Windows' }
  assert.equal(platformOf('Chrome on Android', set('navigator.userAgentData', hints)), 'desktop')
})
