import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFlowFixture } from './testing/fixture.ts'
import { ended } from './testing/service.ts'

test('a device that hands over shows the code, follows the other device, and returns to the host at the end', async () => {
  const { flow, service, seen, reaches, until } = await createFlowFixture()
  await flow.start()
  flow.actions.askHandoff()
  await reaches('handoff', { status: 'ready' })
  assert.match(flow.view().handoff?.url ?? '', /#h=c$/)
  service.change({ state: 'OPENED' })
  await reaches('viewer', { stage: 'scanned' })
  service.change({ state: 'FACE_ACTIVE' })
  await reaches('viewer', { stage: 'face' })
  service.change(ended('COMPLETED'))
  await reaches('done')
  await until(() => seen.left.length === 1)
})

test('a device that takes the session back starts with the consent and with a new log', async () => {
  const { flow, service, reaches } = await createFlowFixture()
  await flow.start()
  flow.actions.askHandoff()
  await reaches('handoff', { status: 'ready' })
  flow.actions.takeBack()
  await reaches('welcome')
  flow.actions.consent(true)
  await reaches('done')
  assert.deepEqual(service.events().slice(0, 3), ['page_open', 'consent_shown', 'consent_given'])
  assert.equal(service.entries()[0]?.seq, 1)
})

test('a user who takes the session back while the code is requested gets it back', async () => {
  const { flow, service, reaches } = await createFlowFixture()
  await flow.start()
  flow.actions.askHandoff()
  flow.actions.takeBack()
  await reaches('welcome')
  assert.deepEqual(service.paths(), ['open', 'handoff', 'take-back'])
})

test('a device that joined with a code does not return to the host: the first device does', async () => {
  const { flow, service, seen, storage, reaches, until } = await createFlowFixture({ hash: 'code' })
  await flow.start()
  assert.equal(service.bodies('open')[0]?.handoffCode, 'code')
  flow.actions.consent(true)
  await reaches('done')
  await until(() => storage.size === 0)
  assert.equal(flow.view().secondDevice, true)
  assert.deepEqual(seen.left, [])
})

test('a desktop that may not run the flow starts with a code', async () => {
  const { flow, service, reaches } = await createFlowFixture({
    answers: { open: [{ state: 'HANDOFF_WAIT', role: 'viewer', errors: [-5] }] },
  })
  await flow.start()
  await reaches('handoff', { status: 'ready' })
  assert.equal(flow.view().barred, true)
  assert.equal(service.bodies('handoff').length, 1)
})

test('when no more codes are allowed the screen says so, and the session continues on this device', async () => {
  const { flow, reaches } = await createFlowFixture({
    answers: { handoff: [{ status: 409, code: 'HANDOFF_REFUSED' }] },
  })
  await flow.start()
  flow.actions.askHandoff()
  await reaches('handoff', { status: 'refused' })
  flow.actions.takeBack()
  await reaches('welcome')
})

test('an unused code is replaced once when it expires', async () => {
  const { flow, service, letPass, reaches, until } = await createFlowFixture()
  await flow.start()
  flow.actions.askHandoff()
  await reaches('handoff', { status: 'ready' })
  letPass(300_000)
  await until(() => service.bodies('handoff').length > 1)
  await reaches('handoff', { status: 'ready' })
  assert.equal(service.bodies('handoff').length, 2)
})

test('a session that may not be taken back stays on the other device, and the page still follows it', async () => {
  const { flow, service, reaches, until } = await createFlowFixture({
    answers: { 'take-back': [{ status: 409, code: 'HANDOFF_REFUSED' }] },
  })
  await flow.start()
  flow.actions.askHandoff()
  await reaches('handoff', { status: 'ready' })
  service.change({ state: 'OPENED' })
  await reaches('viewer', { stage: 'scanned' })
  flow.actions.takeBack()
  await until(() => flow.view().takeBackRefused)
  service.change({ state: 'READY' })
  await reaches('viewer', { stage: 'consent' })
})

test('a code opened in the browser that made it creates a second device, with its own key and its own stored entry', async () => {
  const first = await createFlowFixture()
  await first.flow.start()
  first.flow.actions.askHandoff()
  await first.reaches('handoff', { status: 'ready' })
  const second = await createFlowFixture({ hash: 'code', storage: first.storage })
  await second.flow.start()
  const keyOf = ({ service }: typeof first) => service.bodies('open')[0]?.deviceKey
  assert.notDeepEqual(keyOf(second), keyOf(first))
  const reloaded = await createFlowFixture({ storage: new Map(first.storage) })
  const joined = await createFlowFixture({ storage: new Map(first.storage), joined: true })
  await reloaded.flow.start()
  await joined.flow.start()
  assert.deepEqual(keyOf(reloaded), keyOf(first))
  assert.deepEqual(keyOf(joined), keyOf(second))
})
