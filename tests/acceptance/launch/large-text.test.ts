import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Device } from '@ostiary/testkit/browser/browser'
import { type ScreenCatalog, startScreenCatalog } from '@ostiary/testkit/browser/screen-catalog'
import { browserWithoutCamera } from '@ostiary/testkit/browser/visitors'
import type { Page } from 'playwright-core'

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

test('who registers a face cannot agree before the last point was in view, and a keyboard is enough to get there', async () => {
  const page = await device.page()
  await page.setViewportSize({ width: 390, height: 844 })
  await catalog.show(page, { screen: 'welcome-enroll-selfie', lang: 'en' })
  const main = page.locator('[data-consent-panel] .button--main')
  assert.equal(await main.innerText(), 'Read on')
  await main.focus()
  let presses = 0
  for (; (await main.getAttribute('data-action')) === 'read-on' && presses < 20; presses++) {
    assert.equal(await isLastPointInView(page), false)
    const scrolled = page.evaluate(
      'new Promise((done) => addEventListener("scroll", () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true }))',
    )
    await page.keyboard.press('Enter')
    await scrolled
  }
  assert.ok(presses > 0)
  assert.equal(await isLastPointInView(page), true)
  assert.equal(await main.innerText(), 'Agree and start')
  assert.equal(await page.evaluate('document.activeElement.dataset.action'), 'consent')
  assert.equal(await page.locator('[data-consent-panel] [role="status"]').textContent(), 'Agree and start')
  await page.close()
})

function isLastPointInView(page: Page): Promise<unknown> {
  return page.evaluate(`document.querySelector('.points > :last-child').getBoundingClientRect().bottom <=
    document.querySelector('[data-consent-panel]').getBoundingClientRect().top + 1`)
}
