import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDesktop } from './device-class.ts'

const KIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const CHROMIUM = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0'
const IPHONE = `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${KIT} Version/18.0 Mobile/15E148 Safari/604.1`
const IPAD_OLD = `Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X) ${KIT} Version/12.1 Mobile/15E148 Safari/604.1`
const MAC_SAFARI = `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${KIT} Version/18.0 Safari/605.1.15`
const IPAD_CHROME = `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${KIT} CriOS/140 Version/18.0 Safari/605.1.15`
const MAC_CHROME = `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${CHROMIUM} Safari/537.36`
const MAC_FIREFOX = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0'
const ANDROID_PHONE = `Mozilla/5.0 (Linux; Android 10; K) ${CHROMIUM} Mobile Safari/537.36`
const ANDROID_TABLET = `Mozilla/5.0 (Linux; Android 10; K) ${CHROMIUM} Safari/537.36`
const ANDROID_FIREFOX = 'Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0'
const WINDOWS = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROMIUM} Safari/537.36`
const LINUX = `Mozilla/5.0 (X11; Linux x86_64) ${CHROMIUM} Safari/537.36`
const CHROMEBOOK = `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${CHROMIUM} Safari/537.36`

describe('a page that claims to run on a phone or tablet', () => {
  for (const [name, userAgent, secChUaMobile, expected] of [
    ['an iPhone', IPHONE, undefined, false],
    ['an iPad', IPAD_OLD, undefined, false],
    ['an iPad that calls itself a Mac', MAC_SAFARI, undefined, false],
    ['an iPad with another browser', IPAD_CHROME, undefined, false],
    ['an Android phone', ANDROID_PHONE, '?1', false],
    ['an Android phone without hints', ANDROID_FIREFOX, undefined, false],
    ['an Android tablet', ANDROID_TABLET, '?0', false],
    ['a phone by its name and a desktop by its hint', ANDROID_PHONE, '?0', true],
    ['a desktop by its name and a phone by its hint', WINDOWS, '?1', true],
    ['Windows', WINDOWS, '?0', true],
    ['Linux', LINUX, undefined, true],
    ['a Chromebook', CHROMEBOOK, '?0', true],
    ['a Chromebook that names Android', `${CHROMEBOOK} Android`, undefined, true],
    ['Chrome on a Mac', MAC_CHROME, '?0', true],
    ['Chrome on a Mac without hints', MAC_CHROME, undefined, true],
    ['Firefox on a Mac', MAC_FIREFOX, undefined, true],
    ['a Mac with hints, which no iPad sends', MAC_SAFARI, '?1', true],
    ['a program', 'curl/8.5.0', undefined, true],
    ['a program with a hint', 'curl/8.5.0', '?1', true],
    ['an empty name', '', undefined, true],
    ['nothing', undefined, undefined, true],
  ] as const) {
    test(`${name}: ${expected ? 'a desktop' : 'not a desktop'}`, () => {
      assert.equal(isDesktop({ userAgent, secChUaMobile, claimed: 'mobile' }), expected)
    })
  }
})

test('a page that reports a desktop is believed', () => {
  for (const userAgent of [IPHONE, ANDROID_PHONE, ANDROID_TABLET, MAC_SAFARI, WINDOWS, undefined]) {
    assert.equal(isDesktop({ userAgent, secChUaMobile: '?1', claimed: 'desktop' }), true)
  }
})
