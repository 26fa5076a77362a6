import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFlowFixture } from './testing/fixture.ts'
import { ended } from './testing/service.ts'

const REFUSAL = { status: 409, code: 'HANDOFF_REFUSED' }
const JOINED = { state: 'OPENED', numberNeeded: true } as const

/** A phone that has opened the code of another device. */
async function joinedPhone(answers: Record<string, object[]> = {}) {
  const phone = await createFlowFixture({ hash: 'code', answers: { open: [JOINED], ...answers } })
  await phone.flow.start()
  assert.deepEqual(phone.flow.view().state, { at: 'number', sending: false })
  return phone
}

/** A first device that shows a code. */
async function firstDevice(options: Parameters<typeof createFlowFixture>[0] = {}) {
  const first = await createFlowFixture(options)
  await first.flow.start()
  first.flow.actions.askHandoff()
  await first.reaches('handoff', { status: 'ready' })
  return first
}

test('a phone asks for the number before the consent, and goes on with the right one', async () => {
  const { flow, service, seen, reaches } = await joinedPhone()
  assert.equal(flow.view().host, 'shop.example')
  flow.actions.sendNumber('47')
  await reaches('welcome')
  assert.equal(service.bodies('number')[0]?.number, '47')
  flow.actions.consent(true)
  await reaches('done')
  assert.deepEqual(seen.screens.slice(0, 4), ['loading', 'number', 'welcome', 'camera'])
})

test('a number is sent once, however often the user taps', async () => {
  const { flow, service, reaches } = await joinedPhone()
  for (const number of ['47', '47', '48']) flow.actions.sendNumber(number)
  await reaches('welcome')
  assert.deepEqual(service.paths(), ['open', 'number'])
})

test('after a wrong number the phone has no part in the session: it says so, and forgets its key', async () => {
  const { flow, service, storage, reaches, until, letPass } = await joinedPhone({ number: [REFUSAL] })
  flow.actions.sendNumber('48')
  await reaches('problem', { problem: 'number_wrong' })
  await until(() => storage.size === 0 && flow.view().session === null)
  letPass(1_000_000)
  assert.deepEqual(service.paths(), ['open', 'number'], 'it never calls again')
})

test('a phone whose user did not start the session cancels it with one tap', async () => {
  const { flow, service, seen, reaches } = await joinedPhone()
  flow.actions.cancel()
  await reaches('cancelled')
  assert.deepEqual(service.paths(), ['open', 'cancel'])
  assert.deepEqual(seen.left, [])
})

test('a phone that is loaded again while the number is needed asks for it again, as the same device', async () => {
  const { storage, service } = await joinedPhone()
  const again = await createFlowFixture({ storage: new Map(storage), joined: true, answers: { open: [JOINED] } })
  await again.flow.start()
  assert.deepEqual(again.flow.view().state, { at: 'number', sending: false })
  assert.deepEqual(again.service.bodies('open')[0]?.deviceKey, service.bodies('open')[0]?.deviceKey)
  assert.equal(again.service.bodies('open')[0]?.handoffCode, undefined)
})

test('a lost connection repeats the number', async () => {
  const { flow, service, reaches } = await joinedPhone({ number: [{ status: 503, code: 'UNAVAILABLE' }] })
  flow.actions.sendNumber('47')
  await reaches('welcome')
  assert.deepEqual(
    service.bodies('number').map(({ number }) => number),
    ['47', '47'],
  )
})

test('a phone loads the screen for the number, again if the connection is lost; a first device never does', async () => {
  let loads = 0
  const loadNumberScreen = async () => {
    if (++loads === 1) throw new TypeError('Failed to fetch dynamically imported module')
  }
  const phone = await createFlowFixture({ hash: 'code', loadNumberScreen, answers: { open: [JOINED, JOINED] } })
  await phone.flow.start()
  assert.deepEqual([phone.flow.view().state, loads], [{ at: 'number', sending: false }, 2])
  assert.deepEqual(phone.seen.screens, ['loading', 'problem', 'number'])
  await firstDevice({ loadNumberScreen })
  assert.equal(loads, 2)
})

test('the first device shows the number until the other one has gone on, also after a reload', async () => {
  const { flow, service, storage, reaches, until } = await firstDevice()
  assert.equal(flow.view().number, '47')
  service.change({ state: 'OPENED' })
  await reaches('viewer', { stage: 'scanned' })
  assert.equal(flow.view().number, '47')
  await until(() => [...storage.values()].some(({ number }) => number === '47'))
  const again = await createFlowFixture({
    storage: new Map(storage),
    answers: { open: [{ state: 'OPENED', role: 'viewer' }] },
  })
  await again.flow.start()
  assert.deepEqual(again.flow.view().state, { at: 'viewer', stage: 'scanned' })
  assert.equal(again.flow.view().number, '47')
  service.change({ state: 'READY' })
  await reaches('viewer', { stage: 'consent' })
  await until(() => flow.view().number === null)
})

test('if the other device makes a code for a third one, its number counts and the first device shows none', async () => {
  const { flow, service, reaches, until } = await firstDevice()
  service.change({ state: 'OPENED' })
  await reaches('viewer')
  service.change({ state: 'HANDOFF_WAIT' })
  await until(() => flow.view().number === null)
  assert.equal(flow.view().state.at, 'viewer')
})

test('a session of the last release has a code without a number', async () => {
  const handoff = { state: 'HANDOFF_WAIT', role: 'viewer', number: undefined }
  const { flow } = await firstDevice({ answers: { handoff: [handoff] } })
  assert.equal(flow.view().number, null)
})

test('a wrong number takes the first device back to a new code, which the user asks for', async () => {
  const { flow, service, letPass, reaches, until } = await firstDevice()
  service.change({ state: 'OPENED' })
  await reaches('viewer')
  service.change({ state: 'HANDOFF_WAIT', errors: [-33] })
  await reaches('handoff', { status: 'number_wrong' })
  letPass(300_000)
  assert.equal(service.bodies('handoff').length, 1, 'no code is made before the user has read it')
  flow.actions.askHandoff()
  await reaches('handoff', { status: 'ready' })
  await until(() => flow.view().number === '47')
  service.change({ state: 'OPENED' })
  await reaches('viewer', { stage: 'scanned' })
})

test('a wrong number that is typed before the first device hears of the scan is shown too', async () => {
  const { service, reaches } = await firstDevice()
  service.change({ state: 'HANDOFF_WAIT', errors: [-33] })
  await reaches('handoff', { status: 'number_wrong' })
})

test('after two handoffs a wrong number leaves no code, and the session goes on here', async () => {
  const { flow, service, reaches } = await firstDevice({
    answers: { handoff: [{ state: 'HANDOFF_WAIT', role: 'viewer' }, REFUSAL] },
  })
  service.change({ state: 'HANDOFF_WAIT', errors: [-33] })
  await reaches('handoff', { status: 'number_wrong' })
  flow.actions.askHandoff()
  await reaches('handoff', { status: 'refused' })
  flow.actions.takeBack()
  await reaches('welcome')
})

test('a first device that is loaded again after a wrong number still watches the session', async () => {
  const { flow, service, reaches } = await createFlowFixture({
    answers: { open: [{ state: 'HANDOFF_WAIT', role: 'viewer', errors: [-33] }] },
  })
  await flow.start()
  await reaches('handoff', { status: 'number_wrong' })
  assert.equal(service.bodies('handoff').length, 0)
  service.change(ended('EXPIRED'))
  await reaches('expired')
})

test('where the tenant forbids it, nothing asks for a code', async () => {
  const { flow, service } = await createFlowFixture({ answers: { open: [{ handoff: false }] } })
  await flow.start()
  assert.equal(flow.view().mayHandOff, false)
  flow.actions.askHandoff()
  assert.equal(flow.view().state.at, 'welcome')
  assert.deepEqual(service.paths(), ['open'])
})

test('a service of the last release does not say whether it allows a handoff, and does', async () => {
  const { flow, reaches } = await createFlowFixture({ answers: { open: [{ handoff: undefined, host: undefined }] } })
  await flow.start()
  flow.actions.askHandoff()
  await reaches('handoff', { status: 'ready' })
})
