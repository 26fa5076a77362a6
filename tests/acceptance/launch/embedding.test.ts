import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startFramingHost } from '@ostiary/testkit/browser/framing-host'
import { eventually, hostOf } from '@ostiary/testkit/browser/system'
import { checkVerdict, passCapture, visitOn } from '@ostiary/testkit/browser/visit'
import {
  newVisitor,
  newVisitorWithoutCamera,
  prepareCameraBrowser,
  WHOLE_FLOW,
} from '@ostiary/testkit/browser/visitors'
import { setting } from '@ostiary/testkit/setting'
import type { Frame, Page } from 'playwright-core'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_EMBED')
/** Its name for this machine is on the customer's list; `localhost` is not. */
const LISTED = setting('OSTIARY_EMBED_ORIGIN')
const UNLISTED = LISTED.replace('127.0.0.1', 'localhost')
let site: { stop(): void }
before(async () => {
  site = await startFramingHost(Number(new URL(LISTED).port))
})
after(() => site?.stop())

interface HostEvent {
  event: string
  sessionId: string
  step?: string
  flowStatus?: string
  redirectUrl?: string
}

async function openHostPage(page: Page, origin: string, query: { launchUrl: string; as: string }): Promise<void> {
  await page.goto(`${origin}/?${new URLSearchParams(query)}`)
}

const eventsAt = (page: Page): Promise<HostEvent[]> => page.evaluate('globalThis.launchEvents')

async function frameOf(page: Page): Promise<Frame> {
  const element = await page.waitForSelector('#place iframe')
  const frame = await element.contentFrame()
  assert.ok(frame)
  return frame
}

test(
  'in a frame of a listed host: one attempt fails, the next passes, and the host gets the events',
  WHOLE_FLOW,
  async (t) => {
    const {
      visit: { page },
      camera,
    } = await newVisitor(t)
    const created = await host.create({ redirectUrl: 'https://shop.example/back' })
    await openHostPage(page, LISTED, { launchUrl: created.launchUrl, as: 'iframe' })
    await page.evaluate('globalThis.begin()')
    const visit = visitOn(page, await frameOf(page))
    await visit.screen(['welcome'])
    await visit.act('consent')
    await visit.screen(['retry'])
    await visit.attributeIs('data-tries-left', '2')
    const { riskEvaluation, progress } = await created.result()
    assert.equal(progress?.attempt, 1, String(riskEvaluation.flags))
    await visit.act('retry')
    await passCapture(visit, camera)
    await checkVerdict(visit, created)
    const finished = await eventually('the host gets the event', async () =>
      (await eventsAt(page)).find(({ event }) => event === 'finished'),
    )
    assert.deepEqual([finished.sessionId, finished.flowStatus], [created.sessionId, 'COMPLETED'])
    assert.equal(new URL(finished.redirectUrl ?? '').origin, 'https://shop.example')
    const events = await eventsAt(page)
    assert.equal(events[0]?.event, 'ready')
    const steps = events.flatMap(({ step }) => step ?? [])
    for (const step of ['welcome', 'capture', 'retry', 'done']) assert.ok(steps.includes(step), `${step} in ${steps}`)
    assert.doesNotMatch(JSON.stringify(events), /AGE_|"age"|score/)
    await visit.actLast('close-page')
    assert.equal(await page.locator('iframe').count(), 0, 'the frame is removed')
    assert.equal(new URL(page.url()).origin, LISTED, 'the host’s page stays')
  },
)

test('[merge] in a popup of a listed host the page sends its events to the opener, and closes', async (t) => {
  const { page } = (await newVisitorWithoutCamera(t)).visit
  const created = await host.create()
  await openHostPage(page, LISTED, { launchUrl: created.launchUrl, as: 'popup' })
  const opening = page.waitForEvent('popup')
  await page.evaluate('globalThis.begin()')
  const popup = await opening
  const visit = visitOn(popup)
  await visit.screen(['welcome'])
  await visit.act('decline')
  await visit.screen(['declined'])
  const finished = await eventually('the host gets the event', async () =>
    (await eventsAt(page)).find(({ event }) => event === 'finished'),
  )
  assert.equal(finished.flowStatus, 'CANCELLED')
  assert.equal(popup.isClosed(), false)
  await visit.actLast('close-page')
  assert.equal(popup.isClosed(), true)
})

test('a host that is not on the list cannot frame the page', async (t) => {
  const { page } = (await newVisitorWithoutCamera(t)).visit
  const created = await host.create()
  await openHostPage(page, UNLISTED, { launchUrl: created.launchUrl, as: 'iframe' })
  const refusals: string[] = []
  page.on('console', (message) => refusals.push(message.text()))
  await page.evaluate('globalThis.begin()')
  const frame = await frameOf(page)
  await eventually('the browser refuses', () => refusals.find((text) => text.includes('frame-ancestors')))
  assert.equal(await frame.locator('main[data-screen]').count(), 0)
  assert.deepEqual(
    (await eventsAt(page)).filter(({ event }) => event !== 'blocked'),
    [],
  )
  assert.equal((await created.result()).progress?.state, 'CREATED')
})

test('the customer’s name and colour are on the page', async (t) => {
  const { visit } = await newVisitorWithoutCamera(t, { form: 'phone' })
  await visit.open((await host.create()).launchUrl)
  await visit.screen(['welcome'])
  assert.match(await visit.page.locator('body').innerText(), /Harbour Books/)
  const colour = await visit.page.evaluate(
    `getComputedStyle(document.querySelector('[data-action="consent"]')).backgroundColor`,
  )
  assert.equal(colour, 'rgb(122, 31, 61)')
})
