import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browserKind } from './browser-kind.ts'
import { readEnvironment } from './read-environment.ts'
import { type BrowserName, browser } from './testing/browsers.ts'
import { all, type Patch, set } from './testing/marks.ts'

const kindOf = (name: BrowserName, renderer: string, patch?: Patch) => {
  const fake = browser(name)
  patch?.(fake)
  return browserKind(readEnvironment(fake.globals, fake.clock), { webGL: { vendor: '', renderer } })
}
const IPHONE_DUCK =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 DuckDuckGo/7 Safari/604.1'

test('browsers that are known to protect privacy are recognised by name', () => {
  assert.equal(kindOf('Brave on a Mac', 'ANGLE'), 'privacy')
  assert.equal(kindOf('Safari on an iPhone', 'Apple GPU', set('navigator.userAgent', IPHONE_DUCK)), 'privacy')
})

test('a Firefox that resists fingerprinting is recognised by its graphics card, or by its screen and time zone', () => {
  const greenwich = set('Intl', { DateTimeFormat: () => ({ resolvedOptions: () => ({ timeZone: 'UTC' }) }) })
  const letterbox = set('screen', { width: 1536, height: 695 })
  assert.equal(kindOf('Firefox on Windows', 'Mozilla'), 'privacy')
  assert.equal(kindOf('Firefox on Windows', 'ANGLE', all(greenwich, letterbox)), 'privacy')
  assert.equal(kindOf('Firefox on Windows', 'ANGLE', greenwich), 'ordinary')
  assert.equal(kindOf('Firefox on Windows', 'ANGLE', letterbox), 'ordinary')
  assert.equal(kindOf('Chrome on Windows', 'ANGLE', all(greenwich, letterbox)), 'ordinary')
})

test('inside an app the kind is webview', () => {
  assert.equal(kindOf('Facebook on an iPhone', 'Apple GPU'), 'webview')
  assert.equal(kindOf('a WebView on Android', 'Adreno'), 'webview')
})
