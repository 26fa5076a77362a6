import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { scan, typeNumber, typeWrongNumber } from '@ostiary/testkit/browser/qr-code'
import { type Shop, startShop } from '@ostiary/testkit/browser/shop'
import { hostOf } from '@ostiary/testkit/browser/system'
import { checkVerdict, takeFaceCheck } from '@ostiary/testkit/browser/visit'
import {
  newVisitor,
  newVisitorWithoutCamera,
  prepareCameraBrowser,
  WHOLE_FLOW,
} from '@ostiary/testkit/browser/visitors'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_ONE')
let shop: Shop
before(async () => {
  shop = await startShop()
})
after(() => shop?.stop())

test(
  '[merge] [C-010] [C-025] a flow begun on a desktop is finished on a phone, and both know where to go',
  WHOLE_FLOW,
  async (t) => {
    const { visit: first } = await newVisitorWithoutCamera(t)
    const { visit: second, camera } = await newVisitor(t, { form: 'phone' })
    const created = await host.create({ redirectUrl: shop.backUrl, stepUpEnabled: true })
    await first.open(created.launchUrl)
    await first.screen(['welcome'])
    await first.act('handoff')
    await second.open(await scan(first))
    await typeNumber(first, second)
    await second.screen(['welcome'])
    assert.equal(new URL(second.page.url()).hash, '', 'the code leaves the address bar at once')
    await first.screen(['viewer'])
    await first.attributeIs('data-stage', 'scanned')
    await Promise.all([first.attributeIs('data-stage', 'face'), takeFaceCheck(second, camera)])
    await checkVerdict(second, created)
    assert.ok(!second.screens.includes('document'), 'the face is old enough')
    await second.action('close-page').waitFor()
    await first.page.waitForURL((at) => at.origin === new URL(shop.backUrl).origin)
    assert.equal(new URL(first.page.url()).searchParams.get('flowStatus'), 'COMPLETED')
    assert.equal(new URL(second.page.url()).origin, new URL(created.launchUrl).origin, 'the phone stays')
  },
)

test('[C-016] where desktops are not allowed the page begins with the code; a phone may go on', async (t) => {
  const { visit: first } = await newVisitorWithoutCamera(t)
  const { visit: second } = await newVisitorWithoutCamera(t, { form: 'phone' })
  const created = await host.create({ enableDesktop: false })
  await first.open(created.launchUrl)
  await second.open(await scan(first))
  await typeNumber(first, second)
  await second.screen(['welcome'])
  await first.screen(['viewer'])
  await second.act('decline')
  await second.saw(['declined'])
  await first.saw(['cancelled', 'declined'])
  assert.ok((await created.ended()).errors.includes(-18))
})

test('a wrong number voids the code: the phone is out, the first device says so and makes a new one', async (t) => {
  const { visit: first } = await newVisitorWithoutCamera(t)
  const { visit: second } = await newVisitorWithoutCamera(t, { form: 'phone' })
  const { visit: third } = await newVisitorWithoutCamera(t, { form: 'phone' })
  const created = await host.create({ redirectUrl: shop.backUrl })
  await first.open(created.launchUrl)
  await first.screen(['welcome'])
  await first.act('handoff')
  await second.open(await scan(first))
  await second.frame.getByRole('heading', { name: new URL(shop.backUrl).hostname }).waitFor()
  await typeWrongNumber(first, second)
  await second.screen(['problem'])
  assert.equal(await second.attribute('data-problem'), 'number_wrong')
  await first.attributeIs('data-status', 'number_wrong')
  await first.act('new-code')
  await third.open(await scan(first))
  await typeNumber(first, third)
  await third.screen(['welcome'])
})
