import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowHelp } from './browser-help.ts'

const BROWSERS: Record<string, string> = {
  'allow.chrome':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'allow.chromeAndroid':
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
  'allow.firefox': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'allow.safari':
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
  'allow.safariIos':
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'allow.other':
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.0.0 Mobile/15E148 Safari/604.1',
}

for (const [help, userAgent] of Object.entries(BROWSERS)) {
  test(`each browser gets its own instructions to allow the camera: ${help}`, () => {
    assert.deepEqual(allowHelp(userAgent), [help, 'allow.system'])
  })
}

test('an unknown browser gets the general instructions', () => {
  assert.deepEqual(allowHelp('Lynx/2.9'), ['allow.other', 'allow.system'])
})
