import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { CaptureFailure, type RunCapture } from '../capture/capture-types.ts'
import type { LoadProgress } from '../engine/engine.ts'
import { createFlowFixture, type FlowFixtureOptions, findingForEver, goodCapture, MODELS } from './testing/fixture.ts'

/** Longer than any pause in the fixture. */
async function aWhile(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn()
}

async function atCapture(options: FlowFixtureOptions) {
  const fixture = await createFlowFixture(options)
  await fixture.flow.start()
  fixture.flow.actions.consent(true)
  await fixture.reaches('capture')
  return fixture
}

test('the camera goes off while the page is hidden, and one tap turns it on again: no report, no lost try', async () => {
  const { flow, seen, service, hide, show, reaches } = await atCapture({ captures: [findingForEver] })
  assert.equal(seen.running, 1)
  hide()
  await reaches('camera', { status: 'track_ended' })
  assert.equal(seen.running, 0)
  assert.equal(flow.view().camera, null)
  show()
  flow.actions.startCamera()
  await reaches('done')
  assert.deepEqual(service.bodies('failure'), [])
  assert.equal(service.bodies('challenge').length, 1)
  assert.ok(!service.events().includes('failure'))
})

test('the log waits for the challenge, but not for long: who never gets there has sent it', async () => {
  const { service, letPass, until } = await atCapture({ captures: [findingForEver] })
  await aWhile()
  assert.deepEqual(service.paths(), ['open', 'consent'])
  letPass(15_000)
  await until(() => service.paths().length === 3)
  assert.equal(service.events().at(-1), 'camera_ready')
})

test('who leaves before the challenge has sent the log, with the leaving in it', async () => {
  const { service, hide, reaches, until } = await atCapture({ captures: [findingForEver] })
  hide()
  await reaches('camera', { status: 'track_ended' })
  await until(() => service.paths().at(-1) === 'events')
  assert.deepEqual(service.events().slice(-2), ['camera_ready', 'tab_hidden'])
})

test('no call for the log alone is sent between challenge and submit, however long the capture takes', async () => {
  const moved = Promise.withResolvers<void>()
  const slow: RunCapture = async (deps) => {
    const challenge = await deps.challenge()
    deps.log('challenge_received', challenge.attempt)
    await moved.promise
    return goodCapture({ ...deps, challenge: async () => challenge })
  }
  const { service, letPass, reaches, until } = await atCapture({ captures: [slow] })
  await until(() => service.events().includes('camera_ready'))
  letPass(15_000)
  await aWhile()
  moved.resolve()
  await reaches('done')
  assert.deepEqual(service.paths(), ['open', 'consent', 'challenge', 'submit'])
})

/** All bytes are there, and the nets start for ever. */
const startingForEver: FlowFixtureOptions['loadModels'] = (onProgress) => {
  onProgress({ loadedBytes: 1, totalBytes: 1 })
  return new Promise(() => {})
}

test('the camera also goes off while the models still load', async () => {
  const { seen, service, hide, reaches, until } = await atCapture({ loadModels: startingForEver })
  await until(() => seen.running === 1)
  hide()
  await reaches('camera', { status: 'track_ended' })
  assert.deepEqual([seen.running, service.bodies('failure')], [0, []])
})

test('a user who is away only for a moment returns to the same running camera', async () => {
  const { flow, seen, hide, show } = await atCapture({ captures: [findingForEver] })
  hide()
  show()
  await aWhile()
  assert.deepEqual([flow.view().state.at, seen.running], ['capture', 1])
  flow.actions.cancel()
})

test('a challenge in progress is not interrupted: it ends by itself', async () => {
  const answered = Promise.withResolvers<void>()
  const slow: RunCapture = async (deps) => {
    const capture = await goodCapture(deps)
    await answered.promise
    return capture
  }
  const { flow, hide, reaches, service, until } = await atCapture({ captures: [slow] })
  await until(() => service.bodies('challenge').length === 1)
  hide()
  await aWhile()
  assert.equal(flow.view().state.at, 'capture')
  answered.resolve()
  await reaches('done')
})

test('a challenge that cannot be fetched, because the network is away, does not keep the camera on', async () => {
  const answers = { challenge: Array.from({ length: 200 }, () => 'no network' as const) }
  const { flow, seen, service, hide, reaches, until } = await atCapture({ answers })
  await until(() => flow.view().offline)
  hide()
  await reaches('camera', { status: 'track_ended' })
  assert.deepEqual([seen.running, service.bodies('failure')], [0, []])
})

for (const [what, cameras] of [
  ['that starts', []],
  ['that cannot start', ['in_use']],
] as const) {
  test(`a camera ${what} after its user has left is neither left on nor reported`, async () => {
    const started = Promise.withResolvers<void>()
    const options = { cameras: [...cameras], cameraStarts: started.promise }
    const { seen, service, hide, reaches, agree } = await createFlowFixture(options)
    await agree()
    await reaches('camera', { status: 'asking' })
    hide()
    await aWhile()
    started.resolve()
    await reaches('camera', { status: 'track_ended' })
    assert.deepEqual([seen.running, service.bodies('failure')], [0, []])
  })
}

test('a second try notices absence from its start, while its models load again', async () => {
  let loads = 0
  const loadModels: FlowFixtureOptions['loadModels'] = (onProgress) => {
    loads++
    return loads === 1 ? Promise.resolve(MODELS) : startingForEver(onProgress)
  }
  const broken: RunCapture = async (deps) => {
    await goodCapture(deps)
    throw new CaptureFailure(-22)
  }
  const { flow, seen, hide, reaches, agree } = await createFlowFixture({ loadModels, captures: [broken] })
  await agree()
  await reaches('retry')
  flow.actions.startCamera()
  await reaches('capture')
  hide()
  await reaches('camera', { status: 'track_ended' })
  assert.equal(seen.running, 0)
})

test('a user who leaves while the models are far stays on the loading screen, and the camera waits for their return', async () => {
  let report = (_progress: LoadProgress) => {}
  const loadModels: FlowFixtureOptions['loadModels'] = (onProgress) => {
    report = onProgress
    return new Promise(() => {})
  }
  const { flow, seen, hide, show, until } = await atCapture({ loadModels })
  hide()
  await aWhile()
  assert.deepEqual([flow.view().state.at, seen.cameras], ['capture', 0])
  report({ loadedBytes: 1, totalBytes: 1 })
  await aWhile()
  assert.equal(seen.cameras, 0)
  show()
  await until(() => seen.running === 1)
  flow.actions.cancel()
})
