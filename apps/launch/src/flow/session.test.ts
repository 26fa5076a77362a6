import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunCapture } from '../capture/capture-types.ts'
import { createFlowFixture, goodCapture } from './testing/fixture.ts'
import { SESSION } from './testing/service.ts'

test('after a reload the page is the same device and continues after the consent', async () => {
  const { storage, service, agree } = await createFlowFixture()
  await agree()
  const kept = new Map(storage)
  const again = await createFlowFixture({ storage: kept, answers: { open: [{ state: 'READY' }] } })
  await again.flow.start()
  assert.deepEqual(again.flow.view().state, { at: 'camera', status: 'prime' })
  assert.ok(service.bodies('open')[0]?.deviceKey)
  assert.deepEqual(again.service.bodies('open')[0]?.deviceKey, service.bodies('open')[0]?.deviceKey)
  again.flow.actions.startCamera()
  await again.reaches('done')
  assert.deepEqual(again.service.events().slice(-9)[0], 'page_open')
})

test('the server never has more of the log than a reload would continue with', async () => {
  const { storage, service, reaches, agree } = await createFlowFixture({
    answers: { submit: [{ state: 'READY', errors: [-32] }] },
  })
  await agree()
  await reaches('retry')
  const sent = service.entries().at(-1)
  const { saved } = storage.get(SESSION.sessionId) ?? { saved: null }
  assert.ok(saved && sent && saved.log.seq >= sent.seq)
})

test('an unknown, expired or foreign link is shown as a problem; a lost network is retried', async () => {
  for (const [status, problem] of [
    [404, 'unknown_link'],
    [410, 'gone'],
    [403, 'other_device'],
  ] as const) {
    const { flow } = await createFlowFixture({ answers: { open: [{ status, code: 'ANY' }] } })
    await flow.start()
    assert.deepEqual(flow.view().state, { at: 'problem', problem })
  }
  const { flow, seen } = await createFlowFixture({ answers: { open: ['no network', 'no network'] } })
  await flow.start()
  assert.deepEqual(seen.screens, ['loading', 'problem', 'welcome'])
})

test('a desktop that may neither run the session nor hand it over shows that a phone is needed, and asks for no code', async () => {
  const refusal = { status: 409, code: 'HANDOFF_REFUSED' }
  const desktop = await createFlowFixture({ answers: { open: [refusal] }, browser: { platform: 'desktop' } })
  await desktop.flow.start()
  assert.deepEqual(desktop.flow.view().state, { at: 'problem', problem: 'phone_needed' })
  assert.deepEqual(desktop.service.paths(), ['open'])
  const phone = await createFlowFixture({ answers: { open: [refusal] }, hash: 'old' })
  await phone.flow.start()
  assert.deepEqual(phone.flow.view().state, { at: 'problem', problem: 'code_refused' })
})

/** Two tabs of one device: the first is at the welcome screen, the second has continued to a failed try. */
async function twoTabs() {
  const first = await createFlowFixture()
  await first.flow.start()
  const second = await createFlowFixture({
    storage: first.storage,
    answers: { submit: [{ state: 'READY', errors: [-32] }] },
  })
  await second.flow.start()
  second.flow.actions.consent(true)
  await second.reaches('retry')
  return { first, second }
}

test('a tab whose device another tab has taken sends and saves nothing more, and reloads when its user acts', async () => {
  const { first, second } = await twoTabs()
  const kept = first.storage.get(SESSION.sessionId)
  assert.equal(first.seen.renewals, 0, 'it does not reload by itself')

  first.flow.actions.consent(true)
  await first.until(() => first.seen.renewals === 1)
  assert.deepEqual(first.service.paths(), ['open'])
  assert.equal(first.storage.get(SESSION.sessionId), kept)

  const again = await createFlowFixture({ storage: first.storage, answers: { open: [{ state: 'READY' }] } })
  await again.flow.start()
  assert.deepEqual(again.flow.view().state, { at: 'camera', status: 'prime' })
  assert.deepEqual([again.seen.renewals, second.seen.renewals], [0, 0], 'neither answers with the same')
  second.flow.actions.startCamera()
  await second.until(() => second.seen.renewals === 1)
})

test('the continued log is the one that the service has', async () => {
  const { first, second } = await twoTabs()
  first.flow.actions.consent(true)
  await first.until(() => first.seen.renewals === 1)
  const again = await createFlowFixture({ storage: first.storage, answers: { open: [{ state: 'READY' }] } })
  await again.flow.start()
  again.flow.actions.startCamera()
  await again.reaches('done')
  const logged = (fixture: typeof again) => fixture.service.entries()
  const marks = new Map(logged(second).map(({ seq, hash }) => [seq, hash]))
  const repeated = logged(again).filter(({ seq }) => marks.has(seq))
  for (const { seq, hash } of repeated) assert.equal(hash, marks.get(seq))
  assert.ok(logged(again).every(({ seq }) => marks.has(seq) || seq > marks.size))
})

test('no camera runs in a tab whose device another tab has taken', async () => {
  const placed = Promise.withResolvers<void>()
  const slow: RunCapture = async (deps) => {
    await placed.promise
    return goodCapture(deps)
  }
  const first = await createFlowFixture({ captures: [slow] })
  await first.flow.start()
  first.flow.actions.consent(true)
  await first.reaches('capture')
  const second = await createFlowFixture({ storage: first.storage, answers: { open: [{ state: 'READY' }] } })
  await second.flow.start()
  placed.resolve()
  await first.until(() => first.seen.renewals > 0)
  assert.equal(first.seen.running, 0)
  assert.deepEqual(first.service.bodies('challenge'), [])
})

test('a code opened twice in one browser does not disturb the tab that used it', async () => {
  const first = await createFlowFixture({ hash: 'code' })
  await first.flow.start()
  const answers = { open: [{ status: 403, code: 'HANDOFF_REFUSED' }] }
  const second = await createFlowFixture({ hash: 'code', storage: first.storage, answers })
  await second.flow.start()
  assert.deepEqual(second.flow.view().state, { at: 'problem', problem: 'code_refused' })
  first.flow.actions.consent(true)
  await first.reaches('done')
  assert.equal(first.seen.renewals, 0)
})

test('the page knows which age is asked for, and a server of the last release does not say it', async () => {
  const known = await createFlowFixture({ answers: { open: [{ ages: { age: 18, estimate: 25 } }] } })
  await known.flow.start()
  assert.deepEqual(known.flow.view().ages, { age: 18, estimate: 25 })
  const silent = await createFlowFixture()
  await silent.flow.start()
  assert.equal(silent.flow.view().ages, null)
})
