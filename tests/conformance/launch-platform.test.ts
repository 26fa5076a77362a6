import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BROWSER_NAMES, browser, devicePlatform, readEnvironment } from '@ostiary/launch/conformance'
import { isDesktop } from '@ostiary/server/conformance'

describe('the page and the server take a device for the same', () => {
  for (const name of BROWSER_NAMES) {
    test(name, () => {
      const { globals, clock } = browser(name)
      const env = readEnvironment(globals, clock)
      const { userAgent, clientHints } = env.navigator
      const claimed = devicePlatform(env)
      // Browsers whose hints are empty send no header.
      const secChUaMobile = clientHints?.brands.length ? (clientHints.mobile ? '?1' : '?0') : undefined
      assert.equal(isDesktop({ userAgent, secChUaMobile, claimed }), claimed === 'desktop')
      // A phone that is not recognised would be asked to continue on a phone.
      if (claimed === 'desktop')
        assert.equal(isDesktop({ userAgent, secChUaMobile, claimed: 'mobile' }), !isMac(userAgent))
    })
  }
})

/** Only the page can distinguish a Mac from an iPad that identifies itself as one. */
const isMac = (userAgent: string) => /Macintosh.*Version\//.test(userAgent)
