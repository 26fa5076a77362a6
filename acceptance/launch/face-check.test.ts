import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { verifyWebhook } from '@ostiary/sdk'
import type { Cut, Recorded } from './testing/proxy.ts'
import { type Shop, startShop } from './testing/shop.ts'
import { setUpStage, someone } from './testing/stage.ts'
import { type CreatedVisit, endOf, hostOf } from './testing/system.ts'
import { asRows, checkVerdict, readLedger, takeFaceCheck, type Visit } from './testing/visit.ts'

setUpStage()
const host = hostOf('OSTIARY_TEST_KEY_ONE')
let shop: Shop
before(async () => {
  shop = await startShop()
})
after(() => shop?.stop())

const BODY_BYTES_MAX = 32 * 1024
const SEALED_BYTES_MAX = 2048

test('[C-001] [C-003] [C-013] a face check on the user’s device, from its creation to webhook, result and redirect', async (t) => {
  const { visit, device, camera } = await someone(t)
  const metadata = { order: 'A-7' }
  const created = await host.create({ redirectUrl: shop.backUrl, callback: { url: shop.hookUrl }, metadata })
  await visit.open(created.launchUrl)
  const asked = await takeFaceCheck(visit, camera)
  assert.equal(asked.length, 3, `asked for ${asked}`)
  await visit.screen(['done', 'retry', 'ended'])
  const listed = await readLedger(visit)
  const recorded = [...device.proxy.requests]
  await checkVerdict(visit, created)
  await checkWebhook(created)
  await checkRedirect(visit, created)

  const ours = new URL(created.launchUrl).origin
  assert.deepEqual([...new Set(recorded.map(({ origin }) => origin))], [ours])
  for (const request of recorded) checkNoPicture(request)
  const rows = listed.map(({ method, path, bytes }) => `${method} ${path} ${bytes}`)
  assert.deepEqual(rows.sort(), asRows(recorded).sort(), 'the page lists what left the device, no more and no less')
  assert.deepEqual(visit.faults, [])
})

async function checkWebhook({ result }: CreatedVisit): Promise<void> {
  const { headers, body } = await shop.nextWebhook()
  const timestamp = String(headers['x-service-timestamp'])
  const signature = String(headers['x-service-signature'])
  assert.equal(await verifyWebhook({ apiKey: host.apiKey, timestamp, signature, body }), true)
  assert.deepEqual(JSON.parse(body.toString()), await result())
}

/** Back at the shop, with the documented parameters and nothing of the result. */
async function checkRedirect({ page }: Visit, { sessionId }: CreatedVisit): Promise<void> {
  const back = new URL(shop.backUrl)
  await page.waitForURL((url) => url.origin === back.origin)
  const { pathname, searchParams, hash } = new URL(page.url())
  assert.deepEqual([pathname, hash], [back.pathname, ''])
  assert.deepEqual(Object.fromEntries(searchParams), { state: 'K7', sessionId, flowStatus: 'COMPLETED' })
}

/** What goes out is JSON and small; nothing in it is, or could hold, a picture. */
function checkNoPicture({ method, path, contentType, body }: Recorded): void {
  const what = `${method} ${path}`
  assert.ok(body.length <= BODY_BYTES_MAX, `${what} sends ${body.length} bytes`)
  if (body.length === 0) return
  assert.match(contentType ?? '', /^application\/json\b/, what)
  assert.doesNotMatch(body.toString('latin1'), PICTURE, what)
  const { sealed = '' } = JSON.parse(body.toString())
  assert.ok(String(sealed).length <= SEALED_BYTES_MAX, `${what} seals ${String(sealed).length} bytes`)
}
/** How JPEG, PNG, WebP and data URLs begin, as bytes and in base64. */
const PICTURE = /\xff\xd8\xff|\x89PNG|RIFF....WEBP|data:image|\/9j\/4|iVBORw0KGgo|UklGR/s

test('a reload in the middle goes on where it was', async (t) => {
  const { visit, camera } = await someone(t)
  const created = await host.create()
  camera.show('empty')
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await visit.screen(['capture'])
  await visit.attributeIs('data-phase', 'find')
  await visit.page.reload()
  camera.show('rest')
  await visit.screen(['camera'])
  await visit.act('start')
  await visit.screen(['capture'])
  await visit.answer(camera)
  await checkVerdict(visit, created)
})

test('a network that is lost while the capture is sent costs nothing', async (t) => {
  const { visit, device, camera } = await someone(t)
  const created = await host.create()
  // The first does not get out; of the second only the answer is lost, so the service has judged it already.
  const cuts: Cut[] = ['before', 'after']
  device.proxy.cut = ({ path }) => (path === '/launch/api/submit' ? cuts.shift() : undefined)
  await visit.open(created.launchUrl)
  await takeFaceCheck(visit, camera)
  await checkVerdict(visit, created)
  assert.deepEqual(cuts, [])
})

test('by keyboard alone', async (t) => {
  const { visit, camera } = await someone(t)
  const created = await host.create({ redirectUrl: shop.backUrl })
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await tabTo(visit, 'ledger')
  await visit.page.keyboard.press('Enter')
  await visit.page.locator('dialog[data-dialog="ledger"]').waitFor()
  await visit.page.keyboard.press('Escape')
  await visit.page.locator('dialog[data-dialog="ledger"]').waitFor({ state: 'hidden' })
  await tabTo(visit, 'consent')
  await visit.page.keyboard.press('Space')
  await visit.screen(['capture'])
  await visit.answer(camera)
  await visit.screen(['done'])
  await tabTo(visit, 'continue')
  await visit.page.keyboard.press('Enter')
  await checkRedirect(visit, created)
})

/** Presses Tab until the element with this action has the focus. */
async function tabTo({ page }: Visit, action: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate('document.activeElement?.dataset?.action ?? ""')
    if (focused === action) return
  }
  throw new Error(`"${action}" cannot be reached by Tab`)
}

test('who does not do what is asked is asked again in neutral words, and may pass then', async (t) => {
  const { visit, camera } = await someone(t)
  const created = await host.create()
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await visit.screen(['retry'], 60_000)
  await visit.attributeIs('data-tries-left', '2')
  const { riskEvaluation, progress } = await created.result()
  assert.equal(progress?.attempt, 1, String(riskEvaluation.flags))
  await visit.act('retry')
  await visit.screen(['capture'])
  await visit.answer(camera)
  await visit.saw(['done'], 60_000)
  const { flowStatus, sessionStatus, errors } = await created.ended()
  assert.deepEqual([flowStatus, sessionStatus, errors], ['COMPLETED', 'AGE_ABOVE_THRESHOLD', []])
})

test('a still picture is no living person: the flow ends at once with code 2', async (t) => {
  const { visit, camera } = await someone(t)
  t.after(() => camera.show('rest'))
  const created = await host.create()
  camera.show('still')
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await visit.screen(['capture'])
  await visit.saw(['ended'], 60_000)
  assert.doesNotMatch(await visit.page.locator('main').innerText(), /picture|photo|spoof|fake/i, 'which cue failed')
  const end = { flowStatus: 'COMPLETED', sessionStatus: 'AGE_UNKNOWN', errors: [2], reasons: [] }
  assert.deepEqual(await endOf(created), end)
  const { riskEvaluation } = await created.result()
  assert.ok(riskEvaluation.flags.includes('BH_FRAMES_REPEAT'), String(riskEvaluation.flags))
})
