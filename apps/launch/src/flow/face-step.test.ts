import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CaptureFailure, type RunCapture } from '../capture/capture-types.ts'
import { EngineLoadError } from '../engine/engine.ts'
import { ended } from './testing/service.ts'
import { createStage, goodCapture } from './testing/stage.ts'

const failing =
  (code: number): RunCapture =>
  async (deps) => {
    await goodCapture(deps)
    throw new CaptureFailure(code)
  }

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
