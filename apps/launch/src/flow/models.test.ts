import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EngineLoadError, type LoadedModels, type LoadProgress } from '../engine/engine.ts'
import { createModels } from './models.ts'

const MODELS: LoadedModels = { id: 'faces-1', hash: 'A'.repeat(43), backend: 'wasm', threads: 1 }

function loader(outcomes: ('ok' | Error)[]) {
  const closed: number[] = []
  const waits: number[] = []
  const progress: (LoadProgress | null)[] = []
  const models = createModels({
    engine: {
      async load(onProgress) {
        onProgress({ loadedBytes: 1, totalBytes: 2 })
        const outcome = outcomes.shift()
        if (outcome instanceof Error) throw outcome
        return MODELS
      },
      close: () => void closed.push(outcomes.length),
    },
    wait: async (ms) => void waits.push(ms),
    onProgress: (loaded) => progress.push(loaded),
  })
  return { models, closed, waits, progress }
}

test('models are loaded once, however often they are requested, and progress reports the end', async () => {
  const { models, progress } = loader(['ok'])
  assert.equal(models.ready(), models.ready())
  assert.deepEqual(await models.ready(), MODELS)
  assert.deepEqual(progress, [{ loadedBytes: 1, totalBytes: 2 }, null])
})

test('a file that fails to load is requested twice more', async () => {
  const missing = () => new EngineLoadError('facemesh.onnx')
  const { models, waits } = loader([missing(), missing(), 'ok'])
  assert.deepEqual(await models.ready(), MODELS)
  assert.deepEqual(waits, [1000, 3000])
})

test('the third failure rejects, and the next request starts loading again', async () => {
  const missing = () => new EngineLoadError('facemesh.onnx')
  const { models } = loader([missing(), missing(), missing(), 'ok'])
  await assert.rejects(models.ready(), EngineLoadError)
  assert.deepEqual(await models.ready(), MODELS)
})

test('an error that is not a failed download is not retried', async () => {
  const { models, waits } = loader([new TypeError('a fault of ours')])
  await assert.rejects(models.ready(), TypeError)
  assert.deepEqual(waits, [])
})

test('a broken engine is closed, and the next request loads another one', async () => {
  const { models, closed, progress } = loader(['ok', 'ok'])
  const first = models.ready()
  await first
  models.drop()
  assert.deepEqual(closed, [1])
  const second = models.ready()
  assert.notEqual(second, first)
  assert.deepEqual(await second, MODELS)
  assert.equal(progress.length, 4, 'progress is reported again')
})
