import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readQrCode } from './testing/qr-code.ts'
import { type Shop, startShop } from './testing/shop.ts'
import { setUpStage, someone, someoneWithoutCamera } from './testing/stage.ts'
import { hostOf } from './testing/system.ts'
import { checkVerdict, takeFaceCheck, type Visit } from './testing/visit.ts'

setUpStage()
const host = hostOf('OSTIARY_TEST_KEY_ONE')
let shop: Shop
before(async () => {
  shop = await startShop()
})
after(() => shop?.stop())

/** The address in the QR code, read from its picture. */
async function scan(visit: Visit): Promise<string> {
  await visit.screen(['handoff'])
  await visit.attributeIs('data-status', 'ready')
  const url = await readQrCode(visit.page)
  const written = await visit.page.locator('[data-handoff-url]').first().getAttribute('data-handoff-url')
  assert.equal(url, written)
  return url ?? ''
}

test('[C-010] a flow begun on a desktop is finished on a phone, and both know where to go', async (t) => {
  const { visit: first } = await someoneWithoutCamera(t)
  const { visit: second, camera } = await someone(t, { form: 'phone' })
  const created = await host.create({ redirectUrl: shop.backUrl })
  await first.open(created.launchUrl)
  await first.screen(['welcome'])
  await first.act('handoff')
  await second.open(await scan(first))
  await second.screen(['welcome'])
  assert.equal(new URL(second.page.url()).hash, '', 'the code leaves the address bar at once')
  await first.screen(['viewer'])
  await first.attributeIs('data-stage', 'scanned')
  const follows = first.attributeIs('data-stage', 'face', 40_000)
  await takeFaceCheck(second, camera)
  await follows
  await checkVerdict(second, created)
  await second.action('close-page').waitFor()
  await first.page.waitForURL((at) => at.origin === new URL(shop.backUrl).origin)
  assert.equal(new URL(first.page.url()).searchParams.get('flowStatus'), 'COMPLETED')
  assert.equal(new URL(second.page.url()).origin, new URL(created.launchUrl).origin, 'the phone stays')
})

test('where desktops are not allowed the page begins with the code; a phone may go on', async (t) => {
  const { visit: first } = await someoneWithoutCamera(t)
  const { visit: second } = await someoneWithoutCamera(t, { form: 'phone' })
  const created = await host.create({ enableDesktop: false })
  await first.open(created.launchUrl)
  await second.open(await scan(first))
  await second.screen(['welcome'])
  await first.screen(['viewer'])
  await second.act('decline')
  await second.saw(['declined'])
  await first.saw(['cancelled', 'declined'])
  assert.ok((await created.ended()).errors.includes(-18))
})

test('a flow that was handed over can be taken back', async (t) => {
  const { visit: first, camera } = await someone(t)
  const { visit: second } = await someoneWithoutCamera(t, { form: 'phone' })
  const created = await host.create()
  await first.open(created.launchUrl)
  await first.screen(['welcome'])
  await first.act('handoff')
  await second.open(await scan(first))
  await second.screen(['welcome'])
  await first.screen(['viewer'])
  await first.act('take-back')
  await takeFaceCheck(first, camera)
  await checkVerdict(first, created)
})

test('a code opens the flow once: a second phone is refused', async (t) => {
  const { visit: first } = await someoneWithoutCamera(t)
  const { visit: second } = await someoneWithoutCamera(t, { form: 'phone' })
  const { visit: third } = await someoneWithoutCamera(t, { form: 'phone' })
  const created = await host.create()
  await first.open(created.launchUrl)
  await first.screen(['welcome'])
  await first.act('handoff')
  const url = await scan(first)
  await second.open(url)
  await second.screen(['welcome'])
  await third.open(url)
  await third.screen(['problem'])
  assert.match((await third.attribute('data-problem')) ?? '', /^(code_refused|other_device)$/)
})
