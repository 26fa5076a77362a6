import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunCapture } from '../capture/capture-types.ts'
import { createFlowFixture } from './testing/fixture.ts'
import { ended, SESSION } from './testing/service.ts'

test('a flow goes from the welcome screen to the end with one tap, and back to the host', async () => {
  const { flow, service, seen, storage, reaches, until } = await createFlowFixture()
  await flow.start()
  assert.equal(flow.view().state.at, 'welcome')
  flow.actions.consent(true)
  await reaches('done')
  assert.deepEqual(seen.screens, ['loading', 'welcome', 'camera', 'capture', 'sending', 'done'])
  assert.deepEqual(service.bodies('consent')[0], {
    sessionId: SESSION.sessionId,
    accepted: true,
    version: '2',
    locale: 'ar',
  })
  assert.deepEqual(service.events(), [
    'page_open',
    'consent_shown',
    'consent_given',
    'camera_requested',
    'camera_ready',
    'challenge_received 1',
    'movement_shown 1',
    'movement_seen 1',
    'capture_done',
    'submit',
  ])
  assert.deepEqual(service.paths(), ['open', 'consent', 'challenge', 'submit'], 'no call is for the log alone')
  assert.equal(seen.running, 0, 'the camera is off')
  await until(() => seen.left.length === 1)
  assert.equal(storage.size, 0, 'the stored device is deleted before the page leaves')
})

test('the log has the time of consent, never sooner than a person can read the question', async () => {
  const { service, reaches, agree } = await createFlowFixture()
  await agree()
  await reaches('done')
  const times = service.entries()
  const at = (type: string) => times.find((event) => event.type === type)?.t ?? Number.NaN
  assert.ok(at('consent_given') - at('consent_shown') >= 250)
})

test('consent names the language in which the question was shown, also if texts of another one come before it is sent', async () => {
  const { service, reaches, speak, agree } = await createFlowFixture()
  await agree()
  speak('fi')
  await reaches('done')
  assert.equal(service.bodies('consent')[0]?.locale, 'ar')
})

test('the page switches to the session’s language, and deletes the stored device at the end', async () => {
  const { flow, seen, storage, reaches, until } = await createFlowFixture()
  await flow.start()
  assert.deepEqual(seen.locales, ['de'])
  assert.equal(storage.size, 1)
  flow.actions.consent(false)
  await reaches('declined')
  await until(() => storage.size === 0)
})

test('cancelling ends the flow and turns the camera off', async () => {
  const never: RunCapture = ({ signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const { flow, seen, service, reaches, agree } = await createFlowFixture({ captures: [never] })
  await agree()
  await reaches('capture')
  assert.equal(seen.running, 1)
  flow.actions.cancel()
  await reaches('cancelled')
  assert.equal(seen.running, 0)
  assert.equal(service.bodies('failure').length, 0)
})

test('an unsupported browser is shown as such before the session is bound to it', async () => {
  const inApp = await createFlowFixture({ browser: { hasCameraApi: false, inApp: { name: 'Chat' } } })
  await inApp.flow.start()
  assert.deepEqual(inApp.flow.view().state, { at: 'unsupported', why: { kind: 'in_app', app: 'Chat' } })
  const insecure = await createFlowFixture({ browser: { isSecure: false, hasCameraApi: false } })
  await insecure.flow.start()
  assert.deepEqual(insecure.flow.view().state, { at: 'camera', status: 'insecure_context' })
  assert.deepEqual([...inApp.service.calls, ...insecure.service.calls], [])
})

test('when a session’s time is over, the page asks the server and shows the end', async () => {
  const { flow, letPass, reaches } = await createFlowFixture({ answers: { open: [{}, ended('EXPIRED')] } })
  await flow.start()
  letPass(1_000_000)
  await reaches('expired')
})

test('a page that is used or read at its end stays, and keeps its device until the user leaves it', async () => {
  const { flow, seen, storage, use, reaches, until } = await createFlowFixture({ longMs: 3_000 })
  await flow.start()
  flow.actions.consent(false)
  await reaches('declined')
  use()
  assert.equal(flow.view().stays, true)
  assert.equal(storage.size, 1)
  assert.deepEqual(seen.left, [])
  flow.actions.leave()
  await until(() => seen.left.length === 1)
  assert.equal(storage.size, 0)
})

test('“Stay here” stops the way back, and does nothing before the end', async () => {
  const { flow, seen, reaches, letPass } = await createFlowFixture({ longMs: 3_000 })
  await flow.start()
  flow.actions.stay()
  assert.equal(flow.view().stays, false)
  flow.actions.consent(false)
  await reaches('declined')
  flow.actions.stay()
  assert.equal(flow.view().stays, true)
  letPass(60_000)
  await new Promise(setImmediate)
  assert.deepEqual(seen.left, [])
})

test('an embedded page reports each step and the end to its host, and does not leave by itself', async () => {
  const { seen, until, agree } = await createFlowFixture({ embedded: true })
  await agree()
  await until(() => seen.sentToHost.at(-1)?.event === 'finished')
  assert.deepEqual(
    seen.sentToHost.map(({ event, step }) => step ?? event),
    ['ready', 'welcome', 'camera', 'capture', 'sending', 'done', 'finished'],
  )
  assert.deepEqual(seen.sentToHost.at(-1)?.flowStatus, 'COMPLETED')
  assert.deepEqual(seen.left, [])
})

test('a page that is loaded again at its end is the same device and gets the code again, until its user closes it', async () => {
  const over = { ...ended('COMPLETED'), code: 'c0de' }
  const first = await createFlowFixture({ embedded: true, answers: { submit: [over] } })
  await first.flow.start()
  first.flow.actions.consent(true)
  await first.until(() => first.seen.sentToHost.at(-1)?.event === 'finished')
  const again = await createFlowFixture({ embedded: true, storage: first.storage, answers: { open: [over] } })
  await again.flow.start()
  await again.until(() => again.seen.sentToHost.at(-1)?.code === 'c0de')
  assert.deepEqual(again.service.bodies('open')[0]?.deviceKey, first.service.bodies('open')[0]?.deviceKey)
  again.flow.actions.closePage()
  await again.until(() => again.storage.size === 0)
})

test('an embedded page hands the one-time code to its host; a device that joined by handoff never does', async () => {
  const over = { ...ended('COMPLETED'), redirectUrl: 'https://shop.example/back?code=c0de', code: 'c0de' }
  const codeTold = async (hash: object) => {
    const { seen, until, agree } = await createFlowFixture({
      embedded: true,
      answers: { submit: [over] },
      ...hash,
    })
    await agree()
    await until(() => seen.sentToHost.at(-1)?.event === 'finished')
    return seen.sentToHost.filter((message) => JSON.stringify(message).includes('c0de')).map(({ code }) => code)
  }
  assert.deepEqual(await codeTold({}), ['c0de'])
  assert.deepEqual(await codeTold({ hash: 'code' }), [])
})

test('the session’s time is extended once, without leaving the screen, and a refusal changes nothing', async () => {
  const later = '2026-01-01T00:25:00.000Z'
  const { flow, service, until } = await createFlowFixture({
    answers: { open: [{ mayExtend: true }], extend: [{ expiresAt: later }] },
  })
  await flow.start()
  assert.equal(flow.view().mayExtend, true)
  flow.actions.extend()
  flow.actions.extend()
  await until(() => flow.view().session?.expiresAt === later)
  assert.deepEqual([flow.view().mayExtend, flow.view().state.at], [false, 'welcome'])
  assert.equal(service.bodies('extend').length, 1)

  // During an upgrade the call may reach a process of the last release, which does not know it.
  const refused = await createFlowFixture({
    answers: { open: [{ mayExtend: true }], extend: [{ status: 404, code: 'NOT_FOUND' }] },
  })
  await refused.flow.start()
  refused.flow.actions.extend()
  await refused.until(() => refused.service.bodies('extend').length === 1)
  refused.flow.actions.consent(true)
  await refused.reaches('done')
})

test('where the tenant does not allow it, or the server is of the last release, nothing is asked for', async () => {
  const { flow, service } = await createFlowFixture()
  await flow.start()
  assert.equal(flow.view().mayExtend, false)
  flow.actions.extend()
  assert.deepEqual(service.bodies('extend'), [])
})

test('for a user who has asked for more time the end stays from the start', async () => {
  const { flow, seen, reaches, until, agree } = await createFlowFixture({ answers: { open: [{ pace: 'slow' }] } })
  await agree()
  await reaches('done')
  await until(() => flow.view().stays)
  assert.deepEqual(seen.left, [])
})
