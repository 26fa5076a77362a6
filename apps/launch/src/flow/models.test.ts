import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EngineLoadError, type LoadedModels, type LoadProgress } from '../engine/engine.ts'
import { createModels, type Download, type Loading } from './models.ts'

const MODELS: LoadedModels = { id: 'faces-1', hash: 'A'.repeat(43), backend: 'wasm', threads: 1 }
const SIZES = { loadedBytes: 1, totalBytes: 2, rest: { loadedBytes: 0, totalBytes: 8 } }

function loader(outcomes: ('ok' | Error)[], rests: ('ok' | Error)[] = []) {
  const closed: number[] = []
  const waits: number[] = []
  const progress: (Loading | null)[] = []
  const models = createModels({
    engine: {
      survey: async (onProgress) => onProgress(SIZES),
      async load(onProgress) {
        onProgress(SIZES)
        const outcome = outcomes.shift()
        if (outcome instanceof Error) throw outcome
        return MODELS
      },
      async loadRest() {
        const outcome = rests.shift()
        if (outcome instanceof Error) throw outcome
      },
      close: () => void closed.push(outcomes.length),
    },
    nowMs: () => 0,
    wait: async (ms) => void waits.push(ms),
    onProgress: (loading) => progress.push(loading),
  })
  return { models, closed, waits, progress }
}

const missing = () => new EngineLoadError('facemesh.onnx')

test('models are loaded once, however often they are requested, and progress goes on to the rest and to the end', async () => {
  const { models, progress } = loader(['ok'])
  assert.equal(models.ready(), models.ready())
  assert.deepEqual(await models.ready(), MODELS)
  await models.complete()
  assert.deepEqual(
    progress.map((loading) => loading?.totalBytes),
    [2, 10, undefined],
  )
})

test('a file that fails to load is requested twice more', async () => {
  const { models, waits } = loader([missing(), missing(), 'ok'])
  assert.deepEqual(await models.ready(), MODELS)
  assert.deepEqual(waits, [1000, 3000])
})

test('the third failure rejects, and the next request starts loading again', async () => {
  const { models } = loader([missing(), missing(), missing(), 'ok'])
  await assert.rejects(models.ready(), EngineLoadError)
  assert.deepEqual(await models.ready(), MODELS)
})

test('the rest fails in the same way, and only the rest is loaded again', async () => {
  const { models, waits } = loader(['ok'], [missing(), missing(), missing(), 'ok'])
  await assert.rejects(models.complete(), EngineLoadError)
  assert.deepEqual(waits, [1000, 3000])
  assert.equal(models.isNear('look'), true)
  assert.equal(models.isNear('all'), false)
  await models.complete()
  assert.equal(models.isNear('all'), true)
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
  await models.complete()
  models.drop()
  assert.deepEqual(closed, [1])
  assert.equal(models.isNear('look'), false)
  const second = models.ready()
  assert.notEqual(second, first)
  assert.deepEqual(await second, MODELS)
  await models.complete()
  assert.equal(progress.length, 6, 'progress is reported again')
})

test('a survey says how much there is, and loads nothing', async () => {
  const { models, progress } = loader([])
  await models.survey()
  assert.deepEqual(progress, [{ loadedBytes: 1, totalBytes: 2, secondsLeft: undefined }])
})

/** Downloads at a rate that the test sets. */
function slowLoader() {
  let ms = 0
  let report = (_progress: LoadProgress) => {}
  let finish = () => {}
  let downloads: Download | undefined
  const models = createModels({
    engine: {
      survey: async () => {},
      load: (onProgress) =>
        new Promise((resolve) => {
          report = onProgress
          finish = () => resolve(MODELS)
        }),
      loadRest: () => new Promise(() => {}),
      close: () => {},
    },
    nowMs: () => ms,
    wait: async () => {},
    onProgress: (_loading, download) => {
      downloads = download
    },
  })
  return {
    models,
    finish: () => finish(),
    download: () => downloads,
    /** One second passes, and then so much has come. */
    come(loadedBytes: number, restBytes = 0) {
      ms += 1_000
      report({ loadedBytes, totalBytes: 5_000_000, rest: { loadedBytes: restBytes, totalBytes: 12_000_000 } })
    },
  }
}

test('a part is near some seconds before it is there, by the rate of the bytes', async () => {
  const { models, come, finish, download } = slowLoader()
  let isNear = false
  const near = models.near('look', new AbortController().signal).then(() => {
    isNear = true
  })
  assert.equal(models.isNear('look'), false)
  for (let bytes = 0; bytes <= 4_400_000; bytes += 50_000) come(bytes)
  await Promise.resolve()
  assert.equal(isNear, false, '12 seconds are left')
  assert.equal(Math.round(download()?.seconds ?? 0), 340)
  come(4_450_000)
  come(4_500_000)
  await near
  assert.equal(models.isNear('all'), false)
  finish()
  await models.ready()
  for (let bytes = 0; bytes <= 12_000_000; bytes += 1_000_000) come(5_000_000, bytes)
  assert.equal(models.isNear('all'), true)
})

test('who waits for a part hears that it cannot be loaded, and may leave', async () => {
  const { models } = loader([missing(), missing(), missing()])
  await assert.rejects(models.near('look', new AbortController().signal), EngineLoadError)
  const leave = new AbortController()
  const waiting = slowLoader().models.near('all', leave.signal)
  leave.abort(new Error('left'))
  await assert.rejects(waiting, /left/)
})
