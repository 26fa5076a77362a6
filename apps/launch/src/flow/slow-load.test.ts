import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Engine, EngineLoadError, type LoadedModels, type LoadProgress } from '../engine/engine.ts'
import { createFlowFixture, type FlowFixtureOptions, MODELS } from './testing/fixture.ts'

const FAR: LoadProgress = { loadedBytes: 0, totalBytes: 5_000_000, rest: { loadedBytes: 0, totalBytes: 12_000_000 } }
const LOOK_THERE: LoadProgress = { ...FAR, loadedBytes: 5_000_000 }
const ALL_THERE: LoadProgress = { ...LOOK_THERE, rest: { loadedBytes: 12_000_000, totalBytes: 12_000_000 } }

/** A flow whose downloads come when the test says so. */
async function slowFlow(options: FlowFixtureOptions = {}) {
  const looking = Promise.withResolvers<LoadedModels>()
  const rest = Promise.withResolvers<void>()
  const happened: string[] = []
  let report = (_progress: LoadProgress) => {}
  const engine: Partial<Engine> = {
    survey: async (onProgress) => {
      happened.push('survey')
      onProgress(FAR)
    },
    loadRest: () => rest.promise,
    warmUp: async () => void happened.push('warm'),
    ...options.engine,
  }
  const loadModels: Engine['load'] = (onProgress) => {
    happened.push('load')
    report = onProgress
    report(FAR)
    return looking.promise
  }
  const fixture = await createFlowFixture({ loadModels, ...options, engine })
  return {
    ...fixture,
    happened,
    report: (progress: LoadProgress) => report(progress),
    lookLoaded() {
      report(LOOK_THERE)
      looking.resolve(MODELS)
    },
    restLoaded() {
      report(ALL_THERE)
      rest.resolve()
    },
    failRest: rest.reject,
    failLook: looking.reject,
  }
}

test('a user without a camera learns it at once, however slow the download is', async () => {
  const { flow, reaches, seen, agree } = await slowFlow({ cameraOutOfReach: true, cameras: ['not_found'] })
  await agree()
  await reaches('camera')
  assert.deepEqual([flow.view().state, seen.cameras], [{ at: 'camera', status: 'not_found' }, 1])
})

test('far from guidance the page loads with the camera off, and turns it on when guidance is near', async () => {
  const { flow, service, seen, reaches, until, lookLoaded, restLoaded, agree } = await slowFlow()
  await agree()
  await reaches('capture')
  assert.deepEqual([seen.cameras, flow.view().camera], [0, null])
  assert.equal(flow.view().loading?.totalBytes, 5_000_000)
  restLoaded()
  lookLoaded()
  await reaches('done')
  assert.equal(seen.cameras, 1)
  assert.deepEqual(seen.screens, ['loading', 'welcome', 'capture', 'camera', 'capture', 'sending', 'done'])
  await until(() => service.events().includes('submit'))
  assert.deepEqual(service.events().slice(2, 6), [
    'consent_given',
    'camera_requested',
    'camera_ready',
    'challenge_received 1',
  ])
})

test('with the rest far away, guidance comes first; then the camera goes off until the movements can begin', async () => {
  const { flow, service, seen, reaches, until, lookLoaded, restLoaded, happened, agree } = await slowFlow()
  await agree()
  await reaches('capture')
  lookLoaded()
  await until(() => seen.cameras === 1 && seen.running === 0 && flow.view().state.at === 'capture')
  assert.equal(flow.view().loading?.totalBytes, 17_000_000)
  assert.deepEqual([service.bodies('challenge'), service.bodies('failure')], [[], []])
  restLoaded()
  await reaches('done')
  assert.equal(seen.cameras, 2)
  assert.equal(service.bodies('challenge').length, 1)
  assert.ok(happened.includes('warm'))
})

test('a connection that stops when the rest seems near turns the camera off', async () => {
  const { flow, service, seen, until, reaches, report, lookLoaded, restLoaded, letPass, agree } = await slowFlow()
  await agree()
  await reaches('capture')
  lookLoaded()
  report({ ...LOOK_THERE, rest: { loadedBytes: 11_999_999, totalBytes: 12_000_000 } })
  await until(() => seen.running === 1 && flow.view().capture !== null)
  letPass(12_000)
  await until(() => seen.running === 0 && flow.view().state.at === 'capture')
  assert.deepEqual([service.bodies('challenge'), service.bodies('failure')], [[], []])
  restLoaded()
  await reaches('done')
  assert.equal(seen.cameras, 2)
})

test('a net that fails to come after guidance is reported as -20, and the next try loads it', async () => {
  let fails = true
  const loadRest = async () => {
    if (fails) throw new EngineLoadError('models/fa_age.onnx')
  }
  const { flow, service, reaches, until, lookLoaded, agree } = await slowFlow({ engine: { loadRest } })
  await agree()
  await reaches('capture')
  lookLoaded()
  await reaches('retry', { tip: 'models' })
  await until(() => service.bodies('failure')[0]?.code === -20)
  assert.deepEqual(service.bodies('challenge'), [])
  fails = false
  flow.actions.startCamera()
  await reaches('done')
})

test('models that fail while the camera is off lead to the same screen', async () => {
  const { service, seen, reaches, until, failLook, agree } = await slowFlow()
  await agree()
  await reaches('capture')
  failLook(new EngineLoadError('models/facemesh.onnx'))
  await reaches('retry', { tip: 'models' })
  await until(() => service.bodies('failure')[0]?.code === -20)
  assert.equal(seen.cameras, 0)
})

test('nets that do not run are noticed before a challenge is asked for', async () => {
  const warmUp = () => Promise.reject(new EngineLoadError('models/fa_age.onnx'))
  const { service, reaches, until, agree } = await createFlowFixture({ engine: { warmUp } })
  await agree()
  await reaches('retry', { tip: 'models' })
  await until(() => service.bodies('failure')[0]?.code === -22)
  assert.deepEqual(service.bodies('challenge'), [])
})

test('the loading screen can be left: by a handoff and by cancelling', async () => {
  const moved = await slowFlow()
  await moved.flow.start()
  moved.flow.actions.consent(true)
  await moved.reaches('capture')
  moved.flow.actions.askHandoff()
  await moved.reaches('handoff', { status: 'ready' })
  moved.lookLoaded()
  const left = await slowFlow()
  await left.flow.start()
  left.flow.actions.consent(true)
  await left.reaches('capture')
  left.flow.actions.cancel()
  await left.reaches('cancelled')
  assert.deepEqual([moved.seen.cameras, left.seen.cameras], [0, 0])
})

test('who saves data downloads nothing before consent, and sees how much it will be', async () => {
  const { flow, happened, reaches, lookLoaded, restLoaded } = await slowFlow({ browser: { saveData: true } })
  await flow.start()
  await reaches('welcome')
  assert.deepEqual(happened, ['survey'])
  assert.deepEqual(flow.view().download, { bytes: 17_000_000, seconds: undefined, later: true })
  flow.actions.consent(true)
  await reaches('capture')
  assert.deepEqual(happened, ['survey', 'load'])
  restLoaded()
  lookLoaded()
  await reaches('done')
})

test('the screen stays on from the camera to the end of the face step', async () => {
  const { flow, seen, reaches } = await createFlowFixture()
  await flow.start()
  assert.equal(seen.awake.at(-1), false)
  flow.actions.consent(true)
  await reaches('done')
  assert.ok(seen.awake.includes(true))
  assert.equal(seen.awake.at(-1), false)
})
