import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Shop, startShop } from '@ostiary/testkit/browser/shop'
import { endOf, hostOf } from '@ostiary/testkit/browser/system'
import { type Visit, visitOn } from '@ostiary/testkit/browser/visit'
import { newVisitorWithoutCamera } from '@ostiary/testkit/browser/visitors'

const host = hostOf('OSTIARY_TEST_KEY_ONE')
let shop: Shop
before(async () => {
  shop = await startShop()
})
after(() => shop?.stop())

const EXPIRY_SECONDS = 900

const NO_VERDICT = { sessionStatus: 'AGE_UNKNOWN', reasons: [] }

async function isSentBack({ page }: Visit, flowStatus: string): Promise<void> {
  const back = new URL(shop.backUrl)
  await page.waitForURL((url) => url.origin === back.origin)
  assert.equal(new URL(page.url()).searchParams.get('flowStatus'), flowStatus)
}

test('a user who declines consent is sent back, and nothing is captured: CANCELLED, -18', async (t) => {
  const { visit } = await newVisitorWithoutCamera(t)
  const created = await host.create({ redirectUrl: shop.backUrl })
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('decline')
  await visit.saw(['declined'])
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, flowStatus: 'CANCELLED', errors: [-18] })
  await isSentBack(visit, 'CANCELLED')
})

test('[merge] a user who cancels is sent back too: CANCELLED, -17', async (t) => {
  const { visit } = await newVisitorWithoutCamera(t)
  const created = await host.create({ redirectUrl: shop.backUrl })
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('cancel')
  await visit.act('cancel-confirm')
  await visit.saw(['cancelled'])
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, flowStatus: 'CANCELLED', errors: [-17] })
  await isSentBack(visit, 'CANCELLED')
})

test('an end screen stays while its user reads, and the way back leaves no trap in the history', async (t) => {
  const { visit } = await newVisitorWithoutCamera(t)
  const { page } = visit
  const created = await host.create({ redirectUrl: shop.backUrl })
  const before = new URL('/before', shop.backUrl).href
  await page.clock.install()
  await page.goto(before)
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('decline')
  await visit.saw(['declined'])
  await visit.act('ledger')
  const list = page.locator('dialog[data-dialog="ledger"]')
  await list.waitFor()
  await page.clock.fastForward(15_000)
  assert.ok(await list.isVisible())
  await visit.act('close')
  await page.clock.fastForward(15_000)
  assert.equal(await visit.screen(['declined']), 'declined')
  assert.match(await page.locator('main').innerText(), /stays open/)
  const entries = Number(await page.evaluate('history.length'))
  await visit.act('continue')
  await isSentBack(visit, 'CANCELLED')
  assert.equal(await page.evaluate('history.length'), entries)
  await page.goBack()
  assert.equal(page.url(), before)
})

test('an expired session shows its end on the page that was left open, and on a link that is opened too late', async (t) => {
  const { visit: left, device } = await newVisitorWithoutCamera(t)
  const created = await host.create({ redirectUrl: shop.backUrl })
  await left.open(created.launchUrl)
  await left.screen(['welcome'])
  await host.advanceClock(EXPIRY_SECONDS + 1)
  await left.act('consent')
  await left.saw(['expired'])
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, flowStatus: 'EXPIRED', errors: [-8] })
  // Both leave by themselves after some seconds: not before the button was pressed.
  const { promise: pressed, resolve: letGo } = Promise.withResolvers<void>()
  device.proxy.hold = ({ origin }) => (origin === new URL(shop.backUrl).origin ? pressed : undefined)
  const late = visitOn(await device.page())
  await late.open(created.launchUrl)
  await late.screen(['expired'])
  await late.action('continue').click({ noWaitAfter: true })
  letGo()
  await isSentBack(late, 'EXPIRED')
  // The page that was left open goes back by itself.
  await isSentBack(left, 'EXPIRED')
})

test('a link without a session shows an error', async (t) => {
  const { visit } = await newVisitorWithoutCamera(t)
  const { launchUrl, sessionId } = await host.create()
  await visit.open(launchUrl.replace(sessionId, '00000000-0000-4000-8000-000000000000'))
  await visit.screen(['problem'])
  assert.equal(await visit.attribute('data-problem'), 'unknown_link')
})
