import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openInBrowserLink } from './open-in-browser.ts'

const LINK = 'https://id.example/launch/?sessionId=s#h=c0de'

test('a phone’s own browser is opened with the whole link, code included', () => {
  const android = openInBrowserLink(LINK, 'Mozilla/5.0 (Linux; Android 15; Pixel 8; wv) Instagram 390')
  assert.equal(android, 'intent://id.example/launch/?sessionId=s#h=c0de#Intent;scheme=https;end')
  const iphone = openInBrowserLink(LINK, 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Instagram 390')
  assert.equal(iphone, 'x-safari-https://id.example/launch/?sessionId=s#h=c0de')
})

test('elsewhere, and for an address that is not secure, there is no such link', () => {
  assert.equal(openInBrowserLink(LINK, 'Mozilla/5.0 (X11; Linux x86_64)'), null)
  assert.equal(openInBrowserLink('http://localhost/launch/', 'Mozilla/5.0 (Linux; Android 15)'), null)
})
