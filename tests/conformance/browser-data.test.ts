import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BROWSER_NAMES, browser, CAMERA, collectSignals, readEnvironment } from '@ostiary/launch/conformance'
import { lacksBrowserData } from '@ostiary/server/conformance'

describe('the server believes the browser data that the page sends from', () => {
  for (const name of BROWSER_NAMES) {
    test(name, async () => {
      const { globals, clock } = browser(name)
      const env = readEnvironment(globals, clock)
      const { userAgent } = env.navigator
      const metadata = { camera: { width: 640, height: 480 } }
      for (const camera of [CAMERA, { label: '' }]) {
        const { indicators } = await collectSignals(env, camera)
        assert.equal(
          lacksBrowserData({ indicators, metadata }, { userAgent, isBrowser: true }, true),
          false,
          indicators,
        )
      }
    })
  }
})
