import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Device } from '@ostiary/testkit/browser/browser'
import { layoutProblemsOfAll } from '@ostiary/testkit/browser/layout'
import { type ScreenCatalog, startScreenCatalog } from '@ostiary/testkit/browser/screen-catalog'
import { browserWithoutCamera } from '@ostiary/testkit/browser/visitors'

let catalog: ScreenCatalog
let device: Device
before(async () => {
  catalog = await startScreenCatalog({ policy: undefined })
  device = await (await browserWithoutCamera()).device({ context: { reducedMotion: 'reduce' } })
})
after(async () => {
  await device?.close()
  catalog?.stop()
})

/** Languages of long words, of another direction and of other scripts. `npm run acceptance -- languages` has all. */
const LOCALES = ['en', 'de', 'ar', 'th', 'ja', 'fi']
const VIEWS = [
  { name: 'the narrowest phone', width: 320, height: 568, rootPx: 16 },
  { name: 'a desktop', width: 1280, height: 800, rootPx: 16 },
  { name: 'text at 200 percent', width: 360, height: 740, rootPx: 32 },
  { name: 'zoom of 400 percent', width: 320, height: 256, rootPx: 16 },
]

/** What every merge looks at: both directions, on the narrowest phone. */
const MERGED = ['en', 'ar'].map((lang) => `${lang}, ${VIEWS[0]?.name}`)

for (const lang of LOCALES) {
  for (const { name, width, height, rootPx } of VIEWS) {
    const which = `${lang}, ${name}`
    const mark = MERGED.includes(which) ? '[merge] ' : ''
    test(`${mark}nothing is too wide or cut off, and what has to be read in time is in the window, ${which}`, async () => {
      const page = await device.page()
      await catalog.show(page, { screen: 'welcome', lang })
      const screens: string[] = await page.evaluate('CATALOG_SCREENS')
      assert.ok(screens.length >= 100, `${screens.length} screens`)
      await page.setViewportSize({ width, height })
      await page.addStyleTag({ content: `:root { font-size: ${rootPx}px !important }` })
      assert.deepEqual(await layoutProblemsOfAll(page, lang, JUDGE_PANELS), [])
      await page.close()
    })
  }
}

test('nothing is cut off with the spacing that readers may set', async () => {
  const page = await device.page()
  await catalog.show(page, { screen: 'welcome', lang: 'en' })
  await page.setViewportSize({ width: 360, height: 740 })
  await page.addStyleTag({ content: WIDE_SPACING })
  assert.deepEqual(await layoutProblemsOfAll(page, 'en', JUDGE_PANELS), [])
  await page.close()
})
/** As WCAG 2.2 has it, 1.4.12. */
const WIDE_SPACING = `
  * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
  p { margin-block-end: 2em !important }`

/** The prompt of a capture is in the window, the panel of the consent covers less than half of it, and the host's name is whole. */
const JUDGE_PANELS = `() => {
  const objections = []
  const dialog = document.querySelector('dialog[open]')
  if (dialog && dialog.scrollWidth > dialog.clientWidth) objections.push('the dialog is cut off')
  const prompt = document.querySelector('.capture .prompt__text')?.getBoundingClientRect()
  if (prompt && (prompt.top < 0 || prompt.bottom > innerHeight)) objections.push('the prompt ends at ' + prompt.bottom)
  const panel = document.querySelector('[data-consent-panel]')
  const covers = panel && getComputedStyle(panel).position === 'sticky' && panel.offsetHeight > 0.45 * innerHeight
  if (covers) objections.push('the panel covers ' + panel.offsetHeight + ' px')
  const brand = document.querySelector('.bar__brand > span')
  if (brand.scrollHeight > 1.3 * brand.clientHeight) objections.push('the name in the bar is cut off')
  return objections
}`
