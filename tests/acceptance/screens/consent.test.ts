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

test('[merge] what gets the focus behind the consent panel scrolls clear of it', async () => {
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

test('[merge] who registers a face cannot agree before the last point was in view, and a keyboard is enough to get there', async () => {
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

test('[merge] in a window so low that the button comes after the text, a press on it leads back to what was passed', async () => {
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
