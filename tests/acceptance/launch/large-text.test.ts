import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Device } from '@ostiary/testkit/browser/browser'
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

/** Languages of long words, of another direction and of other scripts. */
const LOCALES = ['en', 'de', 'ar', 'th', 'ja', 'fi']
/** Text twice as large as usual on a phone, and a desktop window at a zoom of 400 percent. */
const VIEWS = [
  { name: 'text at 200 percent', width: 360, height: 740, rootPx: 32 },
  { name: 'zoom of 400 percent', width: 320, height: 256, rootPx: 16 },
]

for (const lang of LOCALES) {
  test(`nothing is cut off, and what has to be read in time is in the window, in large text, ${lang}`, async () => {
    const page = await device.page()
    await catalog.show(page, { screen: 'welcome', lang })
    for (const { name, width, height, rootPx } of VIEWS) {
      await page.setViewportSize({ width, height })
      await page.addStyleTag({ content: `:root { font-size: ${rootPx}px !important }` })
      const { screens, objections }: Found = await page.evaluate(`(${objectionsToAll})('${lang}')`)
      assert.ok(screens >= 100, `${screens} screens`)
      assert.deepEqual(objections, [], name)
    }
    await page.close()
  })
}

test('nothing is cut off with the spacing that readers may set', async () => {
  const page = await device.page()
  await catalog.show(page, { screen: 'welcome', lang: 'en' })
  await page.setViewportSize({ width: 360, height: 740 })
  await page.addStyleTag({ content: WIDE_SPACING })
  const { objections }: Found = await page.evaluate(`(${objectionsToAll})('en')`)
  assert.deepEqual(objections, [])
  await page.close()
})
/** As WCAG 2.2 has it, 1.4.12. */
const WIDE_SPACING = `
  * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
  p { margin-block-end: 2em !important }`

test('what gets the focus behind the consent panel scrolls clear of it', async () => {
  const page = await device.page()
  await page.setViewportSize({ width: 360, height: 740 })
  await catalog.show(page, { screen: 'welcome-ages', lang: 'en' })
  const panelTop = 'document.querySelector("[data-consent-panel]").getBoundingClientRect().top'
  for (const action of ['alternative', 'privacy', 'support']) {
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.dataset.action'), action)
    const below = await page.evaluate(`document.activeElement.getBoundingClientRect().bottom - ${panelTop}`)
    assert.ok(Number(below) <= 0, `${action} is ${below} px behind the panel`)
  }
  await page.close()
})

interface Found {
  screens: number
  objections: string[]
}

/** Runs in the page, which shows one screen after the other without being loaded again. */
const objectionsToAll = `async (lang) => {
  const objections = []
  const root = document.documentElement
  // Two frames: the screen has run its effects and is painted.
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  const boxOf = (selector) => document.querySelector(selector)?.getBoundingClientRect()
  for (const screen of CATALOG_SCREENS) {
    await showScreen('screen=' + screen + '&lang=' + lang)
    await drawn()
    const object = (what) => objections.push(screen + ': ' + what)
    if (root.scrollWidth > root.clientWidth) object('is ' + (root.scrollWidth - root.clientWidth) + ' px too wide')
    const dialog = document.querySelector('dialog[open]')
    if (dialog && dialog.scrollWidth > dialog.clientWidth) object('the dialog is cut off')
    const prompt = boxOf('.capture .prompt__text')
    if (prompt && (prompt.top < 0 || prompt.bottom > innerHeight)) object('the prompt ends at ' + prompt.bottom)
    const panel = document.querySelector('[data-consent-panel]')
    const covers = panel && getComputedStyle(panel).position === 'sticky' && panel.offsetHeight > 0.45 * innerHeight
    if (covers) object('the panel covers ' + panel.offsetHeight + ' px')
    const brand = document.querySelector('.bar__brand > span')
    if (brand.scrollHeight > 1.3 * brand.clientHeight) object('the name in the bar is cut off')
  }
  return { screens: CATALOG_SCREENS.length, objections }
}`

test('who registers a face cannot agree before the last point was in view, and a keyboard is enough to get there', async () => {
  const page = await device.page()
  await page.setViewportSize({ width: 390, height: 844 })
  await catalog.show(page, { screen: 'welcome-enroll-selfie', lang: 'en' })
  const main = page.locator('[data-consent-panel] .button--main')
  assert.equal(await main.innerText(), 'Read on')
  await main.focus()
  assert.equal(await page.evaluate(IS_END_IN_VIEW), false)
  // Looks at the very moment at which the button changes.
  const change = page.evaluate(`new Promise((done) => {
    const button = document.querySelector('[data-consent-panel] .button--main')
    const look = () => button.dataset.action === 'consent' && done(${IS_END_IN_VIEW})
    new MutationObserver(look).observe(button, { attributes: true })
  })`)
  let isChanged = false
  change.then(() => {
    isChanged = true
  })
  for (let presses = 0; presses < 20 && !isChanged; presses++) {
    const scrolled = page.evaluate('new Promise((done) => addEventListener("scrollend", done, { once: true }))')
    await page.keyboard.press('Enter')
    await Promise.race([scrolled, change])
  }
  assert.equal(await change, true, 'the last point was in view')
  assert.equal(await main.innerText(), 'Agree and start')
  assert.equal(await page.evaluate('document.activeElement.dataset.action'), 'consent')
  assert.equal(await page.locator('[data-consent-panel] [role="status"]').textContent(), 'Agree and start')
  await page.close()
})

test('in a window so low that the button comes after the text, a press on it leads back to what was passed', async () => {
  const page = await device.page()
  await page.setViewportSize({ width: 360, height: 150 })
  await catalog.show(page, { screen: 'welcome-ages', lang: 'en' })
  const main = page.locator('[data-consent-panel] .button--main')
  await main.click()
  await page.locator('[data-consent-panel] [data-action="consent"]').waitFor()
  await page.close()
})

const IS_END_IN_VIEW = `(document.querySelector('.points > :last-child').getBoundingClientRect().bottom <=
  document.querySelector('[data-consent-panel]').getBoundingClientRect().top + 1)`
