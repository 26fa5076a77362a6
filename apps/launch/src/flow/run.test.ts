import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CaptureFailure, type RunCapture } from '../capture/capture-types.ts'
import { EngineLoadError } from '../engine/engine.ts'
import { ended, SESSION } from './testing/service.ts'
import { createStage, goodCapture } from './testing/stage.ts'

const failing =
  (code: number): RunCapture =>
  async (deps) => {
    await goodCapture(deps)
    throw new CaptureFailure(code)
  }

test('a flow goes from the welcome screen to the end with one tap, and back to the host', async () => {
  const { flow, service, seen, reaches, until } = await createStage()
  await flow.start()
  assert.equal(flow.view().state.at, 'welcome')
  flow.actions.consent(true)
  await reaches('done')
  assert.deepEqual(seen.screens, ['loading', 'welcome', 'camera', 'capture', 'sending', 'done'])
  assert.deepEqual(service.bodies('consent')[0], {
    sessionId: SESSION.sessionId,
    accepted: true,
    version: '1',
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
  assert.equal(seen.running, 0, 'the camera is off')
  await until(() => seen.left.length === 1)
})

test('the log says when the consent was given: never sooner than a person can read', async () => {
  const { flow, service, reaches } = await createStage()
  await flow.start()
  flow.actions.consent(true)
  await reaches('done')
  const times = service.bodies('events').flatMap(({ events }) => events)
  const at = (type: string) => times.find((event: { type: string }) => event.type === type).t
  assert.ok(at('consent_given') - at('consent_shown') >= 250)
})

test('the session’s language is taken up, and the device is forgotten at the end', async () => {
  const { flow, seen, shelf, reaches, until } = await createStage()
  await flow.start()
  assert.deepEqual(seen.locales, ['de'])
  assert.equal(shelf.size, 1)
  flow.actions.consent(false)
  await reaches('declined')
  await until(() => shelf.size === 0)
})

test('after a reload the page is the same device and goes on after the consent', async () => {
  const { flow, shelf, service } = await createStage()
  await flow.start()
  flow.actions.consent(true)
  const kept = new Map(shelf)
  const again = await createStage({ shelf: kept, answers: { open: [{ state: 'READY' }] } })
  await again.flow.start()
  assert.deepEqual(again.flow.view().state, { at: 'camera', status: 'prime' })
  assert.deepEqual(again.service.bodies('open')[0].deviceKey, service.bodies('open')[0].deviceKey)
  again.flow.actions.startCamera()
  await again.reaches('done')
  assert.deepEqual(again.service.events().slice(-9)[0], 'page_open')
})

test('what the server has of the log is never ahead of what a reload would go on with', async () => {
  const { flow, shelf, service, reaches } = await createStage({
    answers: { submit: [{ state: 'READY', errors: [-32] }] },
  })
  await flow.start()
  flow.actions.consent(true)
  await reaches('retry')
  const sent = service
    .bodies('events')
    .flatMap(({ events }) => events)
    .at(-1)
  const { saved } = shelf.get(SESSION.sessionId) ?? { saved: null }
  assert.ok(saved && saved.log.seq >= sent.seq)
})

test('a capture that was not accepted is tried again, with a retake in the log before the next challenge', async () => {
  const { flow, service, reaches } = await createStage({ answers: { submit: [{ state: 'READY', errors: [-32] }] } })
  await flow.start()
  flow.actions.consent(true)
  await reaches('retry')
  assert.deepEqual(flow.view().state, { at: 'retry', tip: 'neutral' })
  flow.actions.startCamera()
  await reaches('done')
  const second = service.events().slice(10)
  assert.deepEqual(second.slice(0, 4), ['camera_requested', 'camera_ready', 'retake 1', 'challenge_received 2'])
})

test('what fails on the device is reported with its code, and the tip says what to do', async () => {
  const { flow, service, reaches, until } = await createStage({
    captures: [failing(-10)],
    answers: { failure: [{ state: 'READY' }] },
  })
  await flow.start()
  flow.actions.consent(true)
  await reaches('retry', { tip: 'light' })
  await until(() => service.bodies('failure')[0]?.code === -10)
})

test('a camera that does not start shows why, is reported, and the last try ends the flow', async () => {
  const answers = {
    failure: [{ attemptsLeft: 2 }, { attemptsLeft: 1 }, { attemptsLeft: 0, ...ended('COMPLETED', [-7]) }],
  }
  const { flow, service, reaches, until } = await createStage({
    cameras: ['permission_denied', 'permission_denied', 'permission_denied'],
    answers,
  })
  await flow.start()
  flow.actions.consent(true)
  for (const left of [2, 1]) {
    await until(() => flow.view().session?.attemptsLeft === left)
    assert.deepEqual(flow.view().state, { at: 'camera', status: 'permission_denied' })
    flow.actions.startCamera()
  }
  await reaches('ended')
  assert.deepEqual(
    service.bodies('failure').map(({ code, reason }) => [code, reason]),
    Array(3).fill([-7, 'permission_denied']),
  )
})

test('a failure that costs no try, on the last try, ends the flow instead of asking for ever', async () => {
  const { flow, service, reaches } = await createStage({
    captures: [failing(-22)],
    answers: {
      challenge: [
        { state: 'FACE_ACTIVE', attempt: 3, attemptsLeft: 0 },
        { status: 409, code: 'SESSION_NOT_OPEN' },
      ],
      open: [{}, ended('COMPLETED')],
    },
  })
  await flow.start()
  flow.actions.consent(true)
  await reaches('ended')
  assert.deepEqual(service.paths().slice(-3), ['failure', 'challenge', 'open'])
})

test('models that cannot be loaded are reported as -20, and another try loads them again', async () => {
  let loads = 0
  const loadModels = async () => {
    loads++
    if (loads <= 6) throw new EngineLoadError('facemesh.onnx')
    return { id: 'faces-1', hash: 'A'.repeat(43), backend: 'wasm', threads: 1 } as const
  }
  const { flow, service, reaches, until } = await createStage({ loadModels })
  await flow.start()
  flow.actions.consent(true)
  await reaches('retry', { tip: 'models' })
  await until(() => service.bodies('failure')[0]?.code === -20)
  loads = 6
  flow.actions.startCamera()
  await reaches('done')
})

test('a finished capture is not lost with the connection: the same sealed text is sent until it is taken', async () => {
  const { flow, service, hide, reaches } = await createStage({
    answers: { submit: ['no network', 'no network', { status: 503, code: 'DEPENDENCY_DOWN' }] },
  })
  const offline: boolean[] = []
  flow.onChange((view) => {
    if (view.offline !== offline.at(-1)) offline.push(view.offline)
    // A tab that goes away meanwhile must not get between the log's end and the seal that names it.
    if (view.offline) hide()
  })
  await flow.start()
  flow.actions.consent(true)
  await reaches('done')
  const sealed = service.bodies('submit').map((body) => body.sealed)
  assert.equal(sealed.length, 4)
  assert.equal(new Set(sealed).size, 1)
  assert.deepEqual(offline, [false, true, false])
  assert.equal(service.events().at(-1), 'submit')
})

test('a submit whose answer was lost: the page asks where the session stands', async () => {
  const refused = { status: 409, code: 'SESSION_NOT_OPEN' }
  const judged = await createStage({ answers: { submit: ['no network', refused], open: [{}, ended('COMPLETED')] } })
  await judged.flow.start()
  judged.flow.actions.consent(true)
  await judged.reaches('done')
  assert.deepEqual(judged.service.paths().slice(-3), ['submit', 'submit', 'open'])
  const tooLate = await createStage({ answers: { submit: ['no network', refused], open: [{}, { state: 'READY' }] } })
  await tooLate.flow.start()
  tooLate.flow.actions.consent(true)
  await tooLate.reaches('retry', { tip: 'late' })
})

test('cancelling ends it, with the camera off', async () => {
  const never: RunCapture = ({ signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const { flow, seen, service, reaches } = await createStage({ captures: [never] })
  await flow.start()
  flow.actions.consent(true)
  await reaches('capture')
  assert.equal(seen.running, 1)
  flow.actions.cancel()
  await reaches('cancelled')
  assert.equal(seen.running, 0)
  assert.equal(service.bodies('failure').length, 0)
})

test('a link that is unknown, gone or open elsewhere says so; a network that is away is waited for', async () => {
  for (const [status, problem] of [
    [404, 'unknown_link'],
    [410, 'gone'],
    [403, 'other_device'],
  ] as const) {
    const { flow } = await createStage({ answers: { open: [{ status, code: 'ANY' }] } })
    await flow.start()
    assert.deepEqual(flow.view().state, { at: 'problem', problem })
  }
  const { flow, seen } = await createStage({ answers: { open: ['no network', 'no network'] } })
  await flow.start()
  assert.deepEqual(seen.screens, ['loading', 'problem', 'welcome'])
})

test('a browser that cannot do it is told before the session is bound to it', async () => {
  const inApp = await createStage({ browser: { hasCameraApi: false, inApp: { name: 'Chat' } } })
  await inApp.flow.start()
  assert.deepEqual(inApp.flow.view().state, { at: 'unsupported', why: { kind: 'in_app', app: 'Chat' } })
  const insecure = await createStage({ browser: { isSecure: false, hasCameraApi: false } })
  await insecure.flow.start()
  assert.deepEqual(insecure.flow.view().state, { at: 'camera', status: 'insecure_context' })
  assert.deepEqual([...inApp.service.calls, ...insecure.service.calls], [])
})

test('a session whose time is over is asked for, and its end shown', async () => {
  const { flow, letPass, reaches } = await createStage({ answers: { open: [{}, ended('EXPIRED')] } })
  await flow.start()
  letPass(1_000_000)
  await reaches('expired')
})

test('an embedded page tells its host each step and the end, and does not leave by itself', async () => {
  const { flow, seen, until } = await createStage({ embedded: true })
  await flow.start()
  flow.actions.consent(true)
  await until(() => seen.told.at(-1)?.event === 'finished')
  assert.deepEqual(
    seen.told.map(({ event, step }) => step ?? event),
    ['ready', 'welcome', 'camera', 'capture', 'sending', 'done', 'finished'],
  )
  assert.deepEqual(seen.told.at(-1)?.flowStatus, 'COMPLETED')
  assert.deepEqual(seen.left, [])
})
