/**
 * `node tests/conformance/screenshots.ts`: the pictures of the launch page that README.md shows, in docs/images/launch, from the screen
 * catalog, with a drawn figure before the camera.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { startBrowser } from '@ostiary/testkit/browser/browser'
import { startScreenCatalog } from '@ostiary/testkit/browser/screen-catalog'
import { ROOT } from '@ostiary/testkit/run'

/** With a palette of 256 colours, which the screens hardly exceed, a picture is a third as large. */
const PALETTE = 'split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse=dither=none'
const TO_PNG = `-v error -i - -vf ${PALETTE} -f image2pipe -c:v png -compression_level 9 -`.split(' ')

const { browser, stop } = await startBrowser()
const catalog = await startScreenCatalog({ policy: undefined })
try {
  const page = await browser.newPage({
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    // Without motion: a picture in the middle of an animation looks like a mistake.
    reducedMotion: 'reduce',
  })
  for (const screen of ['capture', 'ledger']) {
    await catalog.show(page, { screen, theme: 'light', lang: 'en' })
    await page.evaluate('document.fonts.ready.then(() => undefined)')
    const input = await page.screenshot({ animations: 'disabled', caret: 'hide' })
    const name = `${screen}-light.png`
    writeFileSync(`${ROOT}docs/images/launch/${name}`, execFileSync('ffmpeg', TO_PNG, { input, maxBuffer: 2 ** 26 }))
    console.log(name)
  }
} finally {
  catalog.stop()
  await stop()
}
