import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setUpStage, someone, someoneWithoutCamera, type Visitor } from './testing/stage.ts'
import { type CreatedVisit, endOf, eventually, hostOf } from './testing/system.ts'
import type { Visit } from './testing/visit.ts'

setUpStage()
const host = hostOf('OSTIARY_TEST_KEY_ONE')
const NO_VERDICT = { flowStatus: 'COMPLETED', sessionStatus: 'AGE_UNKNOWN', reasons: [] }
const TRIES = 3
/** The page takes a longer pause between two looks for a tab in the background. */
const STEP_MS = 2000

/** Up to the point where the page looks for a face; the page's clock can then be moved. */
async function toSearch(visit: Visit, created: CreatedVisit): Promise<void> {
  await visit.page.clock.install()
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
}

/** Lets the page search in vain, with time passing quickly, until it gives up. */
async function searchInVain(visit: Visit): Promise<string> {
  await visit.screen(['capture'])
  await visit.attributeIs('data-phase', 'find', 40_000)
  return eventually('the page gives up', async () => {
    await visit.page.clock.fastForward(STEP_MS)
    await visit.page.waitForTimeout(LOOK_MS)
    const shown = await visit.attribute('data-screen')
    return shown === 'capture' || shown === null ? undefined : shown
  })
}
/** Time for one look at the least. */
const LOOK_MS = 80

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

test('nobody before the camera: three tries, then the end with -12', async (t) => {
  const { visit, camera } = await someone(t)
  t.after(() => camera.show('rest'))
  const created = await host.create()
  camera.show('empty')
  await toSearch(visit, created)
  await searchThreeTimes(visit)
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, errors: [-12, -19] })
})

test('two people before the camera: the page says so; three tries, then the end with -11', async (t) => {
  const { visit, camera } = await someone(t)
  t.after(() => camera.show('rest'))
  const created = await host.create()
  camera.show('two-faces')
  await toSearch(visit, created)
  await visit.screen(['capture'])
  await visit.attributeIs('data-guidance', 'one_face_only', 40_000)
  await searchThreeTimes(visit)
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, errors: [-11, -19] })
})

test('a camera that is refused: help, another go, and the end with -7', async (t) => {
  const person = await someone(t, { camera: 'denied' })
  const created = await host.create()
  await person.visit.open(created.launchUrl)
  await checkCameraHelp(person, 'permission_denied')
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, errors: [-7, -19], reasons: ['permission_denied'] })
})

test('no camera at all: help, the way to a phone, and the end with -7', async (t) => {
  const person = await someoneWithoutCamera(t)
  const created = await host.create()
  await person.visit.open(created.launchUrl)
  await checkCameraHelp(person, 'not_found')
  assert.deepEqual(await endOf(created), { ...NO_VERDICT, errors: [-7, -19], reasons: ['not_found'] })
})

/** The help for this reason, with a way to another device, as often as there are tries. */
async function checkCameraHelp({ visit, device }: Pick<Visitor, 'visit' | 'device'>, reason: string): Promise<void> {
  await visit.screen(['welcome'])
  await visit.act('consent')
  for (let failures = 1; failures < TRIES; failures++) {
    await eventually('the failure is reported', () => {
      const reported = device.proxy.requests.filter(({ path, status }) => path === '/launch/api/failure' && status)
      return reported.length === failures || undefined
    })
    await visit.screen(['camera'])
    await visit.attributeIs('data-status', reason)
    await visit.action('handoff').waitFor()
    await visit.act('start')
  }
  await visit.saw(['ended'])
}

test('models that come slowly, and one that is lost on its way: the page shows how far it is, and goes on', async (t) => {
  const { visit, device, camera } = await someone(t)
  t.after(() => camera.show('rest'))
  camera.show('empty')
  const created = await host.create()
  const slow = Promise.withResolvers<void>()
  let lost = 0
  device.proxy.hold = ({ path }) => (path.includes('/faceres_deep/') ? slow.promise : undefined)
  device.proxy.cut = ({ path }) => (path.includes('/faceres_deep/') && lost++ === 0 ? 'before' : undefined)
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await visit.screen(['capture'])
  await visit.attributeIs('data-phase', 'load')
  const bar = visit.page.getByRole('progressbar')
  await eventually('the other models are there', async () => {
    const percent = Number(await bar.getAttribute('aria-valuenow'))
    return (percent > 30 && percent < 100) || undefined
  })
  slow.resolve()
  await visit.attributeIs('data-phase', 'find', 40_000)
  assert.equal(lost, 2, 'asked for again once')
})
