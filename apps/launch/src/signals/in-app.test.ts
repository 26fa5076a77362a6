import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { detectInAppBrowser } from './in-app.ts'
import { BROWSER_NAMES, BROWSER_PROFILES } from './testing/browsers.ts'

const KIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const IPHONE = `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${KIT}`
const BLINK = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const WEBVIEW = `Mozilla/5.0 (Linux; Android 15; Pixel 8 Build/AP4A.250105.002; wv) ${BLINK} Version/4.0 Chrome/140.0.7339.51 Mobile Safari/537.36`

describe('a page inside an app', () => {
  for (const [name, userAgent] of [
    ['Facebook', `${IPHONE} Mobile/15E148 [FBAN/FBIOS;FBAV/525.0.0.53.107;FBBV/778898765;FBDV/iPhone15,2]`],
    ['Facebook', `${WEBVIEW} [FB_IAB/FB4A;FBAV/525.0.0.40.94;IABMV/1;]`],
    ['Messenger', `${IPHONE} Mobile/15E148 [FBAN/MessengerForiOS;FBAV/500.0.0.44.107;FBBV/7]`],
    ['Messenger', `${WEBVIEW} [FB_IAB/Orca-Android;FBAV/500.0.0.30.106;]`],
    ['Instagram', `${IPHONE} Mobile/22F76 Instagram 390.0.0.28.85 (iPhone15,2; iOS 18_5; de_DE; de; scale=3.00)`],
    ['Threads', `${WEBVIEW} Barcelona 388.0.0.40.109 Android`],
    ['TikTok', `${IPHONE} Mobile/15E148 musical_ly_40.6.0 JsSdk/2.0 NetType/WIFI Channel/App Store`],
    ['TikTok', `${WEBVIEW} trill_400603 BytedanceWebview/d8a21c6`],
    ['WeChat', `${IPHONE} Mobile/15E148 MicroMessenger/8.0.60(0x18003c31) NetType/WIFI Language/de`],
    ['LINE', `${IPHONE} Mobile/15E148 Safari Line/15.11.0`],
    ['KakaoTalk', `${WEBVIEW};KAKAOTALK 2511200`],
    ['Snapchat', `${IPHONE} Mobile/15E148 Snapchat/13.50.0.41 (like Safari/8621.2.5.10.8, panda)`],
    ['X', `${IPHONE} Mobile/15E148 Twitter for iPhone/11.12`],
    ['X', `${WEBVIEW} TwitterAndroid`],
    ['LinkedIn', `${IPHONE} Mobile/15E148 [LinkedInApp]/9.31.3526`],
    ['Pinterest', `${IPHONE} Mobile/15E148 [Pinterest/iOS]`],
    ['Telegram', `${WEBVIEW} Telegram-Android/11.14.0 (Google Pixel 8; Android 15; SDK 35; HIGH)`],
    ['Google', `${IPHONE} GSA/380.0.788317806 Mobile/15E148 Safari/604.1`],
    [null, WEBVIEW],
    [null, `${IPHONE} Mobile/15E148`],
  ] as const) {
    test(`${name ?? 'an unknown app'}: ${userAgent.slice(-40)}`, () => {
      assert.deepEqual(detectInAppBrowser(userAgent), { name })
    })
  }
})

test('a standalone browser is not an app', () => {
  const inside = BROWSER_NAMES.filter((name) => detectInAppBrowser(BROWSER_PROFILES[name].userAgent) !== null)
  assert.deepEqual(inside, ['a WebView on Android', 'Instagram on Android', 'Facebook on an iPhone'])
  for (const userAgent of [
    `${IPHONE} FxiOS/140.0 Mobile/15E148 Safari/604.1`,
    `${IPHONE} Version/18.0 EdgiOS/140.0.3485.54 Mobile/15E148 Safari/604.1`,
    `${IPHONE} Version/18.5 Mobile/15E148 DuckDuckGo/7 Safari/604.1`,
    `Mozilla/5.0 (Linux; U; Android 14; de-de; 2201116SG) ${BLINK} Version/4.0 Chrome/124.0.6367.123 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.21.0-gn`,
    `Mozilla/5.0 (Linux; Android 12; HarmonyOS; NOH-NX9) ${BLINK} Chrome/114.0.5735.196 HuaweiBrowser/16.0.5 Mobile Safari/537.36`,
    '',
  ]) {
    assert.equal(detectInAppBrowser(userAgent), null, userAgent)
  }
})
