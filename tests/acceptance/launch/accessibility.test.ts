import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { colourViolationsOn, violationsOn } from '@ostiary/testkit/browser/axe'
import type { Device } from '@ostiary/testkit/browser/browser'
import { type ScreenCatalog, type ScreenOptions, startScreenCatalog } from '@ostiary/testkit/browser/screen-catalog'
import { endOf, hostOf } from '@ostiary/testkit/browser/system'
import { visitOn } from '@ostiary/testkit/browser/visit'
import { browserWithoutCamera, newVisitor, prepareCameraBrowser, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'
import { missingProgram } from '@ostiary/testkit/missing'
import { readPicture } from '@ostiary/testkit/samples/portraits'
import { setting } from '@ostiary/testkit/setting'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import type { Page } from 'playwright-core'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_ONE')
/** Without motion: the contrast of a colour cannot be judged during a transition. */
const STEADY_PHONE = { form: 'phone', context: { reducedMotion: 'reduce' } } as const
let catalog: ScreenCatalog
let device: Device
let screens: string[]
before(async () => {
  const served = await fetch(`${setting('OSTIARY_URL')}/launch/`)
  catalog = await startScreenCatalog({ policy: served.headers.get('content-security-policy') ?? undefined })
  device = await (await browserWithoutCamera()).device(STEADY_PHONE)
  const page = await device.page()
  await catalog.show(page, { screen: 'welcome' })
  screens = await page.evaluate('globalThis.CATALOG_SCREENS')
  await page.close()
})
after(async () => {
  await device?.close()
  catalog?.stop()
})

test('axe-core finds no violation on any screen, light and dark', WHOLE_FLOW, async () => {
  const visit = visitOn(await device.page())
  const objections: string[] = []
  for (const screen of screens) objections.push(...(await objectionsTo(visit.page, { screen, lang: 'en' })))
  await visit.page.close()
  assert.ok(screens.length >= 15, `${screens.length} screens`)
  assert.deepEqual(objections, [])
  // The page has had no user gesture, so the browser does not let it vibrate.
  assert.deepEqual(
    visit.faults.filter((fault) => !fault.includes('navigator.vibrate')),
    [],
  )
})

test('axe-core finds no violation with a customer’s own colours', WHOLE_FLOW, async () => {
  const page = await device.page()
  const objections: string[] = []
  for (const brand of [{ primary: 'ffd400' }, { primary: '7a1f3d', background: 'f6efe2' }, { background: '102a43' }]) {
    for (const screen of ['welcome', 'capture', 'handoff', 'done', 'ledger'])
      objections.push(...(await objectionsTo(page, { screen, lang: 'en', ...brand })))
  }
  await page.close()
  assert.deepEqual(objections, [])
})

async function objectionsTo(page: Page, options: ScreenOptions): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  await catalog.show(page, options)
  const light = await violationsOn(page)
  const { screen, primary = '', background = '' } = options
  const named = (text: string) => `${screen} ${primary} ${background}: ${text}`
  await page.emulateMedia({ colorScheme: 'dark' })
  // The page gets the change and repaints in the other colours.
  await page.evaluate('new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))')
  const dark = await colourViolationsOn(page)
  return [...light.map((text) => `light: ${text}`), ...dark.map((text) => `dark: ${text}`)].map(named)
}

test(
  'axe-core finds no violation on the real page; a user who cancels is asked once, and may stay',
  WHOLE_FLOW,
  async (t) => {
    const { visit, camera } = await newVisitor(t, STEADY_PHONE)
    camera.show('empty')
    const created = await host.create()
    await visit.open(created.launchUrl)
    await visit.screen(['welcome'])
    assert.deepEqual(await violationsOn(visit.page), [])
    await visit.act('ledger')
    await visit.page.locator('dialog[data-dialog="ledger"]').waitFor()
    assert.deepEqual(await violationsOn(visit.page), [])
    await visit.act('close')
    await visit.act('consent')
    await visit.screen(['capture'])
    await visit.attributeIs('data-phase', 'find')
    assert.deepEqual(await violationsOn(visit.page), [])
    await visit.act('cancel')
    await visit.page.locator('dialog[data-dialog="cancel"]').waitFor()
    assert.deepEqual(await violationsOn(visit.page), [])
    await visit.act('cancel-keep')
    assert.equal(await visit.screen(['capture']), 'capture')
    assert.equal((await created.result()).flowStatus, null)
    await visit.act('handoff')
    await visit.attributeIs('data-status', 'ready')
    assert.deepEqual(await violationsOn(visit.page), [])
    await visit.act('cancel')
    await visit.act('cancel-confirm')
    await visit.saw(['cancelled'])
    const end = { flowStatus: 'CANCELLED', sessionStatus: 'AGE_UNKNOWN', errors: [-17], reasons: [] }
    assert.deepEqual(await endOf(created), end)
  },
)

test('where it is too dark the page is a lamp, in dark mode and in a customer’s colours too', {
  skip: missingProgram('ffmpeg'),
}, async (t) => {
  const folder = temporaryFolder('lamp')
  const page = await device.page()
  t.after(() => page.close())
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 360, height: 740 })
  await catalog.show(page, { screen: 'capture-dark', theme: 'dark', background: '203040', primary: 'ff8800' })
  // The darkest room: the camera shows nothing.
  await page.locator('.viewfinder__figure').evaluate((figure) => {
    figure.style.background = 'black'
    figure.replaceChildren()
  })
  const file = join(folder, 'lamp.png')
  writeFileSync(file, await page.screenshot())
  const { data } = await readPicture(file)
  let sum = 0
  for (let at = 0; at < data.length; at += 4)
    sum += 0.2126 * (data[at] ?? 0) + 0.7152 * (data[at + 1] ?? 0) + 0.0722 * (data[at + 2] ?? 0)
  const luminance = sum / 255 / (data.length / 4)
  assert.ok(luminance >= 0.9, `the mean luminance is ${luminance}`)
  await catalog.show(page, { screen: 'welcome', theme: 'dark' })
  assert.equal(await page.locator(':root[data-lamp]').count(), 0, 'the lamp goes out with the screen')
})
