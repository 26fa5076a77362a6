import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreatedVisit, endOf, eventually, hostOf } from '@ostiary/testkit/browser/system'
import type { Visit } from '@ostiary/testkit/browser/visit'
import {
  newVisitor,
  newVisitorWithoutCamera,
  prepareCameraBrowser,
  type Visitor,
  WHOLE_FLOW,
} from '@ostiary/testkit/browser/visitors'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_ONE')
const NO_VERDICT = { flowStatus: 'COMPLETED', sessionStatus: 'AGE_UNKNOWN', reasons: [] }
const TRIES = 3
/** The page pauses longer between two looks while its tab is in the background. */
const STEP_MS = 2000

/** Up to the point where the page looks for a face; the page's clock can then be moved. */
async function toSearch(visit: Visit, created: CreatedVisit): Promise<void> {
  await visit.page.clock.install()
  await visit.page.addInitScript(COUNT_LOOKS)
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
}

/** Lets the page search in vain, with time passing quickly, until it gives up. */
async function searchInVain(visit: Visit): Promise<string> {
  await visit.screen(['capture'])
  await visit.attributeIs('data-phase', 'find')
  let looks = 0
  return eventually('the page gives up', async () => {
    const now: { looks: number; shown?: string } = await visit.page.evaluate(
      `({ looks: globalThis.looks, shown: document.querySelector('main[data-screen]')?.dataset.screen })`,
    )
    if (now.looks > looks) {
      await visit.page.clock.fastForward(STEP_MS)
      // Only timers run ahead: the service refuses a device whose time of day has moved by more than a minute.
      await visit.page.clock.setSystemTime(Date.now())
    }
    looks = now.looks
    return now.shown === 'capture' ? undefined : now.shown
  })
}
/** The page ignores time in which it does not look, so each step waits for a look. */
const COUNT_LOOKS = `(() => {
  const look = globalThis.createImageBitmap
  globalThis.looks = 0
  globalThis.createImageBitmap = (...picture) => {
    globalThis.looks++
    return look(...picture)
  }
})()`

/** The same for all tries. */
async function searchThreeTimes(visit: Visit): Promise<void> {
  for (let tries = TRIES; tries > 1; tries--) {
    assert.equal(await searchInVain(visit), 'retry')
    await visit.attributeIs('data-tries-left', String(tries - 1))
    await visit.act('retry')
  }
  await searchInVain(visit)
  await visit.saw(['ended'])
}

test('nobody before the camera: three tries, then the end with -12', WHOLE_FLOW, async (t) => {
  const { visit, camera } = await newVisitor(t)
  const created = await host.create()
  camera.show('empty')
  await toSearch(visit, created)
  await searchThreeTimes(visit)
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, errors: [-12, -19] })
})

test('two people before a camera that was refused: the page says so, then the end with -11', WHOLE_FLOW, async (t) => {
  const { visit, device, camera } = await newVisitor(t, { cameraPermission: 'denied' })
  const created = await host.create()
  camera.show('two-faces')
  await toSearch(visit, created)
  await isRefused({ visit, device }, { reason: 'permission_denied', times: 1 })
  await device.context.grantPermissions(['camera'])
  await visit.act('start')
  await visit.screen(['capture'])
  await visit.attributeIs('data-guidance', 'one_face_only')
  assert.equal(await searchInVain(visit), 'retry')
  await visit.attributeIs('data-tries-left', '1')
  await visit.act('retry')
  await searchInVain(visit)
  await visit.saw(['ended'])
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, errors: [-11, -19] })
})

test('a camera that an app’s built-in browser refuses: the link is copied to the phone’s own browser', async (t) => {
  const userAgent =
    'Mozilla/5.0 (Linux; Android 15; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 Instagram 390.0.0.28.85 Android'
  const { visit } = await newVisitorWithoutCamera(t, {
    form: 'phone',
    cameraPermission: 'denied',
    context: { userAgent },
  })
  const created = await host.create()
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await visit.screen(['camera'])
  await visit.action('handoff-here').waitFor()
  assert.equal(await visit.action('handoff-here').innerText(), 'Open in my browser')
  await visit.act('handoff-here')
  await visit.attributeIs('data-status', 'ready')
  assert.equal(await visit.page.locator('main .button--main').getAttribute('data-action'), 'copy-link')
  assert.doesNotMatch(await visit.page.locator('body').innerText(), /another device/i)
})

test('no camera at all: help, the way to a phone, and the end with -7', async (t) => {
  const person = await newVisitorWithoutCamera(t)
  const created = await host.create()
  await person.visit.open(created.launchUrl)
  await checkCameraHelp(person, 'not_found')
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, errors: [-7, -19], reasons: ['not_found'] })
})

/** The help for this reason, with a way to another device, as often as there are tries. */
async function checkCameraHelp(person: Pick<Visitor, 'visit' | 'device'>, reason: string): Promise<void> {
  await person.visit.screen(['welcome'])
  await person.visit.act('consent')
  await isRefused(person, { reason, times: TRIES - 1 })
  await person.visit.act('start')
  await person.visit.saw(['ended'])
}

/** The camera fails to start this many times, and the page shows help each time. */
async function isRefused(
  person: Pick<Visitor, 'visit' | 'device'>,
  { reason, times }: { reason: string; times: number },
): Promise<void> {
  const { visit } = person
  for (let failures = 1; failures <= times; failures++) {
    if (failures > 1) await visit.act('start')
    await eventually('the failure is reported', () => failuresOf(person).length === failures || undefined)
    await visit.screen(['camera'])
    await visit.attributeIs('data-status', reason)
    await visit.action('handoff-here').waitFor()
  }
}

const failuresOf = ({ device }: Pick<Visitor, 'device'>) =>
  device.proxy.requests.filter(({ path, status }) => path === '/launch/api/failure' && status)

test(
  'a face engine that breaks on the way: the page says so, and another try begins with a new one',
  WHOLE_FLOW,
  async (t) => {
    const { visit, device, camera } = await newVisitor(t)
    const created = await host.create()
    camera.show('empty')
    await visit.page.addInitScript(WATCH_WORKERS)
    await visit.open(created.launchUrl)
    await visit.screen(['welcome'])
    await visit.act('consent')
    await visit.attributeIs('data-guidance', 'no_face')
    const before = await workersOf(visit)
    await visit.page.evaluate(`workers.at(-1).dispatchEvent(new ErrorEvent('error', { message: 'out of memory' }))`)
    await visit.screen(['retry'])
    await visit.frame.getByText('could not be loaded').waitFor()
    await eventually('the failure is reported', () =>
      device.proxy.requests.find(({ path, status }) => path === '/launch/api/failure' && status),
    )
    assert.equal(await visit.attribute('data-tries-left'), String(TRIES))
    await visit.act('retry')
    await visit.attributeIs('data-phase', 'find')
    await visit.attributeIs('data-guidance', 'no_face')
    camera.show('rest')
    await visit.attributeIs('data-phase', 'challenge')
    const after = await workersOf(visit)
    assert.ok(after.started > before.started, JSON.stringify({ before, after }))
    assert.equal(after.started - after.ended, 1, 'the broken one is gone')
  },
)
const WATCH_WORKERS = `(() => {
  globalThis.workers = []
  globalThis.Worker = class extends Worker {
    constructor(...how) {
      super(...how)
      workers.push(this)
    }
    terminate() {
      this.ended = true
      super.terminate()
    }
  }
})()`
const workersOf = ({ page }: Visit): Promise<{ started: number; ended: number }> =>
  page.evaluate('({ started: workers.length, ended: workers.filter(({ ended }) => ended).length })')
