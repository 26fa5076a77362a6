import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Shop, startShop } from './testing/shop.ts'
import { setUpStage, someone, someoneWithoutCamera } from './testing/stage.ts'
import { endOf, hostOf } from './testing/system.ts'
import { takeFaceCheck, type Visit, visitOn } from './testing/visit.ts'

setUpStage()
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

test('who declines is sent back with nothing taken: CANCELLED, -18', async (t) => {
  const { visit } = await someoneWithoutCamera(t)
  const created = await host.create({ redirectUrl: shop.backUrl })
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('decline')
  await visit.saw(['declined'])
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, flowStatus: 'CANCELLED', errors: [-18] })
  await isSentBack(visit, 'CANCELLED')
})

test('who cancels in the middle is asked once, and may stay', async (t) => {
  const { visit, camera } = await someone(t)
  const created = await host.create({ redirectUrl: shop.backUrl })
  camera.show('empty')
  t.after(() => camera.show('rest'))
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await visit.screen(['capture'])
  await visit.act('cancel')
  await visit.act('cancel-keep')
  assert.equal(await visit.screen(['capture']), 'capture')
  assert.equal((await created.result()).flowStatus, null)
  await visit.act('cancel')
  await visit.act('cancel-confirm')
  await visit.saw(['cancelled'])
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, flowStatus: 'CANCELLED', errors: [-17] })
  await isSentBack(visit, 'CANCELLED')
})

test('a session whose time is over says so on the page that was left open, and on a link that comes too late', async (t) => {
  const { visit: left, device } = await someoneWithoutCamera(t)
  const created = await host.create({ redirectUrl: shop.backUrl })
  await left.open(created.launchUrl)
  await left.screen(['welcome'])
  await host.advanceClock(EXPIRY_SECONDS + 1)
  await left.act('consent')
  await left.saw(['expired'])
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, flowStatus: 'EXPIRED', errors: [-8] })
  const late = visitOn(await device.page())
  await late.open(created.launchUrl)
  await late.saw(['expired'])
  await isSentBack(left, 'EXPIRED')
})

test('a link that nobody made says so', async (t) => {
  const { visit } = await someoneWithoutCamera(t)
  const { launchUrl, sessionId } = await host.create()
  await visit.open(launchUrl.replace(sessionId, '00000000-0000-4000-8000-000000000000'))
  await visit.screen(['problem'])
  assert.equal(await visit.attribute('data-problem'), 'unknown_link')
})

test('face first, then a document: the face is checked, and the page says that the next step is not there yet', async (t) => {
  const { visit, camera } = await someone(t)
  const created = await host.create({ requirements: ['face', 'identity_document'] })
  await visit.open(created.launchUrl)
  await takeFaceCheck(visit, camera)
  await visit.screen(['problem'])
  assert.equal(await visit.attribute('data-problem'), 'step_missing')
  const { flowStatus, sessionStatus, progress } = await created.result()
  assert.deepEqual([flowStatus, sessionStatus, progress?.state], [null, 'AGE_UNKNOWN', 'DOC_ACTIVE'])
})

test('document first, then the face: no face is asked for before the document', async (t) => {
  const { visit } = await someoneWithoutCamera(t)
  const created = await host.create({ requirements: ['identity_document', 'face'] })
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await visit.screen(['problem'])
  assert.equal(await visit.attribute('data-problem'), 'step_missing')
  assert.equal((await created.result()).progress?.state, 'DOC_ACTIVE')
})
