import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { layoutProblemsOf, layoutProblemsOfAll, missingGlyphsOf, pseudoTexts } from '@ostiary/testkit/browser/layout'
import { type ScreenCatalog, startScreenCatalog } from '@ostiary/testkit/browser/screen-catalog'
import { browserWithoutCamera } from '@ostiary/testkit/browser/visitors'
import type { Page } from 'playwright-core'

/** The narrowest phone, and a desktop. */
const WINDOWS = [
  { width: 320, height: 568 },
  { width: 1280, height: 800 },
] as const
const PSEUDO = ['en-XA', 'ar-XB'] as const
const TEXTS = new URL('../../../apps/launch/src/texts/', import.meta.url)
const TAGS = readdirSync(TEXTS).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? [])
const PARTS = ['', 'documents/', 'verification/', 'token/'] as const
let catalog: ScreenCatalog
let page: Page
let screens: string[]
before(async () => {
  catalog = await startScreenCatalog({ policy: undefined })
  const device = await (await browserWithoutCamera()).device({ form: 'phone', context: { reducedMotion: 'reduce' } })
  page = await device.page()
  await catalog.show(page, { screen: 'welcome' })
  screens = await page.evaluate('globalThis.CATALOG_SCREENS')
})
after(() => catalog?.stop())

for (const tag of TAGS) {
  test(`${tag}: no screen is wider than the window, and no text is cut off`, async () => {
    assert.deepEqual(await problemsIn(tag), [])
  })

  test(`${tag}: the browser has a glyph for every character`, async () => {
    const text = PARTS.map((part) => readFileSync(new URL(`${part}${tag}.json`, TEXTS), 'utf8')).join('')
    await catalog.show(page, { screen: 'welcome', lang: tag })
    assert.deepEqual(await missingGlyphsOf(page, text), [])
  })
}

for (const tag of PSEUDO) {
  test(`${tag}: long and turned texts fit as well`, async () => {
    assert.deepEqual(await problemsIn('en', tag), [])
  })
}

test('a character that no font has is noticed', async () => {
  await catalog.show(page, { screen: 'welcome', lang: 'en' })
  assert.deepEqual(await missingGlyphsOf(page, 'a\u{e9000}b'), ['\u{e9000}'])
})

async function problemsIn(lang: string, pseudo?: (typeof PSEUDO)[number]): Promise<string[]> {
  const problems: string[] = []
  for (const size of WINDOWS) {
    await page.setViewportSize(size)
    if (!pseudo) {
      problems.push(...(await layoutProblemsOfAll(page, lang)).map((problem) => `${size.width} ${problem}`))
      continue
    }
    for (const screen of screens) {
      await catalog.show(page, { screen, lang })
      await pseudoTexts(page, pseudo)
      problems.push(...(await layoutProblemsOf(page)).map((problem) => `${size.width} ${screen}: ${problem}`))
    }
  }
  return problems
}
