import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { verifyWebhook } from '@ostiary/sdk'
import { recordHeard } from '@ostiary/testkit/browser/heard'
import type { Recorded } from '@ostiary/testkit/browser/proxy'
import { type Shop, startShop } from '@ostiary/testkit/browser/shop'
import { type CreatedVisit, endOf, hostOf } from '@ostiary/testkit/browser/system'
import { asRows, checkVerdict, passCapture, readLedger, type Visit } from '@ostiary/testkit/browser/visit'
import { newVisitor, prepareCameraBrowser, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_ONE')
let shop: Shop
before(async () => {
  shop = await startShop()
})
after(() => shop?.stop())

const BODY_BYTES_MAX = 32 * 1024
const SEALED_BYTES_MAX = 2048

test(
  '[merge] [C-001] [C-003] [C-013] [C-016] [C-026] a face check on a desktop by keyboard and by ear, in Arabic, from its creation to the way back',
  WHOLE_FLOW,
  async (t) => {
    const { visit, device, camera } = await newVisitor(t)
    const metadata = { order: 'A-7' }
    const callback = { url: shop.hookUrl }
    const created = await host.create({
      redirectUrl: shop.backUrl,
      callback,
      metadata,
      enableDesktop: true,
      locale: 'ar',
    })
    const heard = await recordHeard(visit.page)
    await visit.open(created.launchUrl)
    await visit.screen(['welcome'])
    assert.deepEqual(await visit.page.evaluate('[document.documentElement.lang, document.documentElement.dir]'), [
      'ar',
      'rtl',
    ])
    await press(visit, 'consent', 'Space')
    const tries = await passCapture(visit, camera, () => press(visit, 'retry', 'Enter'))
    assert.equal(tries.at(-1)?.length, 3, `asked for ${JSON.stringify(tries)}`)
    await checkVerdict(visit, created)
    checkHeard(heard, tries.at(-1) ?? [])
    await press(visit, 'ledger', 'Enter')
    const listed = await readLedger(visit)
    const recorded = [...device.proxy.requests]
    await visit.page.keyboard.press('Escape')
    await visit.page.locator('dialog[data-dialog="ledger"]').waitFor({ state: 'hidden' })
    await press(visit, 'continue', 'Enter')
    await checkWebhook(created)
    await checkRedirect(visit, created)

    const ours = new URL(created.launchUrl).origin
    assert.deepEqual([...new Set(recorded.map(({ origin }) => origin))], [ours])
    for (const request of recorded) checkNoPicture(request)
    const rows = listed.map(({ method, path, bytes }) => `${method} ${path} ${bytes}`)
    assert.deepEqual(rows.sort(), asRows(recorded).sort(), 'the page lists what left the device, no more and no less')
    assert.ok(!visit.screens.includes('document'), 'no document is asked for')
    assert.deepEqual(visit.faults, [])
  },
)

/** The last try as a screen reader heard it: guidance, then that movements come, each of them, that it was seen, and the thanks. */
function checkHeard(heard: readonly string[], movements: readonly string[]): void {
  const said = (key: string) => ARABIC[key] ?? assert.fail(`no text ${key}`)
  const ready = heard.lastIndexOf(said('capture.ready'))
  // Which one depends on the place of the face, and a guidance that changes within the announcer's gap of 1.5 s is not spoken.
  const guidance = heard.slice(0, ready).filter((text) => GUIDANCE.has(text))
  assert.ok(guidance.length > 0, heard.join(' | '))
  const asked = movements.flatMap((movement) => [said(`movement.${movement}`), said('capture.back')])
  const thanks = `${said('capture.measure')}. ${said('capture.measureText')}`
  assert.deepEqual(heard.slice(ready + 1, ready + 2 + asked.length), [...asked, thanks])
}
const ARABIC: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('../../../apps/launch/src/texts/ar.json', import.meta.url), 'utf8'),
)
const GUIDANCE = new Set(
  Object.entries(ARABIC)
    .filter(([key]) => key.startsWith('guidance.'))
    .map(([, text]) => text),
)

/** Presses Tab until the element with this action has the focus, and then the key. */
async function press({ page }: Visit, action: string, key: 'Enter' | 'Space'): Promise<void> {
  let focused: unknown
  for (let presses = 0; presses < 40; presses++) {
    // Before the end of the text was in view, the button for consent scrolls on, and keeps the focus.
    await page.keyboard.press(focused === 'read-on' ? key : 'Tab')
    focused = await page.evaluate('document.activeElement?.dataset?.action ?? ""')
    if (focused === action) return page.keyboard.press(key)
  }
  throw new Error(`"${action}" cannot be reached by Tab`)
}

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
  await page
    .waitForURL((url) => url.origin === back.origin)
    .catch(async (error) => {
      const shown = await page.evaluate('[document.activeElement?.outerHTML, document.body.innerText]')
      throw new Error(`Still at ${page.url()}: ${JSON.stringify(shown)}`, { cause: error })
    })
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

test(
  '[merge] [C-050] a still picture is not a living person: the flow ends at once with the codes 1 and 2',
  WHOLE_FLOW,
  async (t) => {
    const { visit, camera } = await newVisitor(t)
    const created = await host.create()
    camera.show('still')
    await visit.open(created.launchUrl)
    await visit.screen(['welcome'])
    await visit.act('consent')
    await visit.screen(['capture'])
    await visit.saw(['ended'])
    assert.doesNotMatch(
      await visit.page.locator('main').innerText(),
      /picture|photo|spoof|fake/i,
      'the page must not say which check failed',
    )
    const end = { flowStatus: 'COMPLETED', sessionStatus: 'AGE_UNKNOWN', errors: [1, 2], reasons: [] }
    assert.deepEqual(await endOf(created), end)
    const { riskEvaluation } = await created.result()
    assert.ok(riskEvaluation.flags.includes('BH_FRAMES_REPEAT'), String(riskEvaluation.flags))
  },
)
