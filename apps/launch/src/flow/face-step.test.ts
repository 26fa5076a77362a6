import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CaptureFailure, type RunCapture } from '../capture/capture-types.ts'
import { EngineLoadError } from '../engine/engine.ts'
import { createFlowFixture, findingForEver, goodCapture, MODELS } from './testing/fixture.ts'
import { ended } from './testing/service.ts'
import type { VerificationPart } from './verification-part.ts'

const failing =
  (code: number): RunCapture =>
  async (deps) => {
    await goodCapture(deps)
    throw new CaptureFailure(code)
  }

test('a capture that was not accepted is tried again, with a retake in the log before the next challenge', async () => {
  const { flow, service, reaches, agree } = await createFlowFixture({
    answers: { submit: [{ state: 'READY', errors: [-32] }] },
  })
  await agree()
  await reaches('retry')
  assert.deepEqual(flow.view().state, { at: 'retry', tip: 'neutral' })
  flow.actions.startCamera()
  await reaches('done')
  const second = service.events().slice(10)
  assert.deepEqual(second.slice(0, 4), ['camera_requested', 'camera_ready', 'retake 1', 'challenge_received 2'])
})

test('a failure on the device is reported with its code, and the tip says what to do', async () => {
  const { service, reaches, until, agree } = await createFlowFixture({
    captures: [failing(-10)],
    answers: { failure: [{ state: 'READY' }] },
  })
  await agree()
  await reaches('retry', { tip: 'light' })
  await until(() => service.bodies('failure')[0]?.code === -10)
})

test('a camera that does not start is explained and reported, and the last try ends the flow', async () => {
  const answers = {
    failure: [{ attemptsLeft: 2 }, { attemptsLeft: 1 }, { attemptsLeft: 0, ...ended('COMPLETED', [-7]) }],
  }
  const { flow, service, reaches, until, agree } = await createFlowFixture({
    cameras: ['in_use', 'in_use', 'in_use'],
    answers,
  })
  await agree()
  for (const left of [2, 1]) {
    await until(() => flow.view().session?.attemptsLeft === left)
    assert.deepEqual(flow.view().state, { at: 'camera', status: 'in_use' })
    flow.actions.startCamera()
  }
  await reaches('ended')
  assert.deepEqual(
    service.bodies('failure').map(({ code, reason }) => [code, reason]),
    Array(3).fill([-7, 'in_use']),
  )
})

test('a browser that refuses the camera again without asking costs one try, however often the user presses', async () => {
  const { flow, service, seen, reaches, until, agree } = await createFlowFixture({
    cameras: Array(6).fill('permission_denied'),
    answers: { failure: [{ attemptsLeft: 2 }] },
  })
  await agree()
  await until(() => flow.view().session?.attemptsLeft === 2)
  for (let press = 2; press <= 6; press++) {
    flow.actions.startCamera()
    await until(() => seen.cameras === press && flow.view().state.at === 'camera')
    await reaches('camera', { status: 'permission_denied' })
  }
  assert.equal(service.bodies('failure').length, 1)
  // The user has found the setting.
  flow.actions.startCamera()
  await reaches('done')
})

test('a refusal that took a person’s time is a refusal of its own', async () => {
  let started = Promise.withResolvers<void>()
  started.resolve()
  const fixture = await createFlowFixture({
    cameras: ['permission_denied', 'permission_denied'],
    answers: { failure: [{ attemptsLeft: 2 }, { attemptsLeft: 1 }] },
    cameraStarts: () => started.promise,
  })
  const { flow, service, seen, until, letPass } = fixture
  await fixture.agree()
  await until(() => flow.view().session?.attemptsLeft === 2)
  started = Promise.withResolvers<void>()
  flow.actions.startCamera()
  await until(() => seen.cameras === 2)
  letPass(2_000)
  started.resolve()
  await until(() => flow.view().session?.attemptsLeft === 1)
  assert.equal(service.bodies('failure').length, 2)
})

test('a failure that costs no try ends the flow on the last try, instead of asking for ever', async () => {
  const { service, reaches, agree } = await createFlowFixture({
    captures: [failing(-22)],
    answers: {
      challenge: [
        { state: 'FACE_ACTIVE', attempt: 3, attemptsLeft: 0 },
        { status: 409, code: 'SESSION_NOT_OPEN' },
      ],
      open: [{}, ended('COMPLETED')],
    },
  })
  await agree()
  await reaches('ended')
  assert.deepEqual(service.paths().slice(-3), ['failure', 'challenge', 'open'])
})

test('models that fail to load are reported as -20, and the next try loads them again', async () => {
  let loads = 0
  const loadModels = async () => {
    loads++
    if (loads <= 6) throw new EngineLoadError('facemesh.onnx')
    return { id: 'faces-1', hash: 'A'.repeat(43), backend: 'wasm', threads: 1 } as const
  }
  const { flow, service, reaches, until, agree } = await createFlowFixture({ loadModels })
  await agree()
  await reaches('retry', { tip: 'models' })
  await until(() => service.bodies('failure')[0]?.code === -20)
  loads = 6
  flow.actions.startCamera()
  await reaches('done')
})

/** What happens to the engine of a fixture, in order. */
function watchedEngine() {
  const happened: string[] = []
  const loadModels = async () => {
    happened.push('load')
    return MODELS
  }
  return { happened, options: { loadModels, engine: { close: () => void happened.push('close') } } }
}

test('an engine that breaks during a try is closed, and the next try begins with another', async () => {
  const { happened, options } = watchedEngine()
  const { flow, service, reaches, until, agree } = await createFlowFixture({ ...options, captures: [failing(-22)] })
  await agree()
  await reaches('retry', { tip: 'models' })
  await until(() => service.bodies('failure')[0]?.code === -22)
  assert.deepEqual(happened, ['load', 'close'])
  flow.actions.startCamera()
  await reaches('done')
  assert.deepEqual(happened.slice(0, 3), ['load', 'close', 'load'])
})

test('an engine that breaks after the movements, before the feature vector exists, is closed too', async () => {
  const { happened, options } = watchedEngine()
  const nothing = () => undefined
  const dying: VerificationPart = {
    obstacle: async () => undefined,
    complete: () => Promise.reject(new EngineLoadError('the face engine')),
    seen: nothing,
    judged: async () => undefined,
    askPasskey: nothing,
    skipPasskey: nothing,
    popOut: nothing,
    end: async () => {},
  }
  const facts = {
    realm: 'shop',
    version: 'FACE3_3',
    sendImages: false,
    estimateAge: false,
    matching: 'server',
  } as const
  const { service, reaches, until, agree } = await createFlowFixture({
    ...options,
    purpose: { type: 'SIGN-IN', requirements: ['face'], verification: facts },
    loadVerification: async () => () => dying,
  })
  await agree()
  await reaches('retry', { tip: 'models' })
  await until(() => service.bodies('failure')[0]?.code === -22)
  assert.deepEqual(happened, ['load', 'close'])
})

test('an engine that fails to start is closed too: it could not start a second time', async () => {
  const { happened, options } = watchedEngine()
  const loadModels = () => Promise.reject(new TypeError('no memory for the nets'))
  const { service, reaches, until, agree } = await createFlowFixture({ ...options, loadModels })
  await agree()
  await reaches('retry', { tip: 'models' })
  await until(() => service.bodies('failure')[0]?.code === -22)
  assert.deepEqual(happened, ['close'])
})

test('a failed download does not close the engine: it keeps the files that it has', async () => {
  const { happened, options } = watchedEngine()
  const loadModels = () => Promise.reject(new EngineLoadError('facemesh.onnx'))
  const { service, reaches, until, agree } = await createFlowFixture({ ...options, loadModels })
  await agree()
  await reaches('retry', { tip: 'models' })
  await until(() => service.bodies('failure')[0]?.code === -20)
  assert.deepEqual(happened, [])
})

/** Shows the first movement and waits until it has to stop. */
const showingForEver: RunCapture = async ({ challenge, log, onView, signal }) => {
  const { attempt } = await challenge()
  log('challenge_received', attempt)
  log('movement_shown', 1)
  const seen = { movementsSeen: 0, movementsTotal: 3, progress: 0.1 }
  onView({ ...seen, phase: 'challenge', guidance: null, movement: 'turn_left' })
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

test('who cannot make a movement gets another challenge in the same try, with the camera still on', async () => {
  const { flow, service, seen, reaches, until, agree } = await createFlowFixture({
    captures: [showingForEver, showingForEver],
    answers: { challenge: [{ attempt: 1 }, { attempt: 1 }, { attempt: 1 }] },
  })
  await agree()
  await until(() => flow.view().capture?.movement === 'turn_left')
  flow.actions.cannot(['turn'])
  await until(() => service.bodies('challenge').length === 2)
  assert.deepEqual(flow.view().cannot, ['turn'])
  await until(() => service.events().length > 0 && flow.view().capture?.phase === 'challenge')
  flow.actions.askMoreTime()
  await reaches('done')
  assert.equal(flow.view().moreTime, true)
  assert.equal(seen.cameras, 1)
  assert.deepEqual(
    service.bodies('challenge').map(({ attempt, cannot, pace }) => ({ attempt, cannot, pace })),
    [
      { attempt: 1, cannot: undefined, pace: undefined },
      { attempt: 1, cannot: ['turn'], pace: undefined },
      { attempt: 1, cannot: ['turn'], pace: 'slow' },
    ],
  )
  const events = service.events()
  assert.equal(events.filter((event) => event === 'challenge_received 1').length, 3)
  assert.ok(!events.some((event) => event.startsWith('retake')))
  assert.deepEqual(service.bodies('failure'), [])
})

test('who then puts the phone away films nothing, and loses no try', async () => {
  const { flow, service, seen, hide, show, reaches, until, agree } = await createFlowFixture({
    captures: [showingForEver, findingForEver],
    answers: { challenge: [{ attempt: 1 }, { attempt: 1 }] },
  })
  await agree()
  await until(() => flow.view().capture?.movement === 'turn_left')
  flow.actions.cannot(['turn'])
  await until(() => flow.view().capture?.guidance === 'no_face')
  hide()
  await reaches('camera', { status: 'track_ended' })
  assert.equal(seen.running, 0)
  show()
  flow.actions.startCamera()
  await reaches('done')
  assert.deepEqual(
    service.bodies('challenge').map(({ attempt, cannot }) => [attempt, cannot]),
    [
      [1, undefined],
      [1, ['turn']],
    ],
  )
})

test('on the retry screen it is said for the next try, and a reload does not forget it', async () => {
  const { flow, service, reaches } = await createFlowFixture({
    answers: { open: [{ cannot: ['up'] }], submit: [{ state: 'READY', errors: [-32] }] },
  })
  await flow.start()
  assert.deepEqual(flow.view().cannot, ['up'])
  flow.actions.consent(true)
  await reaches('retry')
  flow.actions.cannot(['turn', 'blink'])
  assert.deepEqual(flow.view().cannot, ['up', 'turn'])
  flow.actions.startCamera()
  await reaches('done')
  assert.deepEqual(
    service.bodies('challenge').map(({ attempt, cannot }) => [attempt, cannot]),
    [
      [1, ['up']],
      [2, ['up', 'turn']],
    ],
  )
})

test('a process of the last release refuses the fields: the page takes the challenge that it gives', async () => {
  const { service, reaches, agree } = await createFlowFixture({
    answers: {
      open: [{ cannot: ['up'], eventsTravel: false }],
      challenge: [{ status: 400, code: 'VALIDATION_FAILED' }],
    },
  })
  await agree()
  await reaches('done')
  assert.deepEqual(
    service.bodies('challenge').map(({ cannot }) => cannot),
    [['up'], undefined],
  )
})
