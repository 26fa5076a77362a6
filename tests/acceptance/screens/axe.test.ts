import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { plainViolationsOn } from '@ostiary/testkit/browser/axe'
import type { Device } from '@ostiary/testkit/browser/browser'
import { type ScreenCatalog, startScreenCatalog } from '@ostiary/testkit/browser/screen-catalog'
import { browserWithoutCamera } from '@ostiary/testkit/browser/visitors'

let catalog: ScreenCatalog
let device: Device
before(async () => {
  catalog = await startScreenCatalog({ policy: undefined })
  device = await (await browserWithoutCamera()).device({ form: 'phone', context: { reducedMotion: 'reduce' } })
})
after(async () => {
  await device?.close()
  catalog?.stop()
})

/** The launch suite judges English, with its colours, which are the same in all languages. */
for (const lang of ['de', 'ar', 'th', 'ja', 'fi']) {
  test(`axe-core finds no violation on any screen, ${lang}`, async () => {
    const page = await device.page()
    await catalog.show(page, { screen: 'welcome', lang })
    const objections: string[] = []
    for (const screen of await page.evaluate<string[]>('CATALOG_SCREENS')) {
      await catalog.show(page, { screen, lang })
      assert.equal(await page.evaluate('document.documentElement.lang'), lang)
      objections.push(...(await plainViolationsOn(page)).map((violation) => `${screen}: ${violation}`))
    }
    await page.close()
    assert.deepEqual(objections, [])
  })
}
