/** The face engine's worker. Pictures come in, and only numbers go out. */
import { systemClock } from '@ostiary/device'
import { createFaceEngine, type FaceEngine, LOOK_NETS, MEASURE_NETS, type NetId } from '@ostiary/faces'
import { watchTimeline } from '../ledger/timeline.ts'
import { trustWorkerUrls } from '../trusted-urls.ts'
import { EngineLoadError } from './engine.ts'
import { type EngineReport, RuntimeBrokenError, type StartedFaces, serveEngine } from './engine-host.ts'
import { createModelFiles, type PinnedFile } from './model-files.ts'
import type { RuntimeFacts } from './ort-runtime.ts'
import { pixelReader } from './pixel-reader.ts'
import type { EngineSetup } from './protocol.ts'
import { jpegOf } from './selfie.ts'

declare const RUNTIME: RuntimeFacts

/** Ages of this many samples are enough; each costs a fifth of a second on a slow phone. */
const AGED_MAX = 8
const TIMED_LOOKS = 3

addEventListener('message', ({ data, ports: [port] }: MessageEvent<EngineSetup>) => {
  if (port) serveEngine({ port, pixelsOf: pixelReader(), jpegOf, start: starter(data) })
})

function starter({ baseUrl, threads }: EngineSetup): (report: EngineReport) => Promise<StartedFaces> {
  let report: EngineReport | undefined
  watchTimeline((request) => report?.request(request), { includeFetch: true })
  const files = createModelFiles({
    baseUrl,
    fetch: (url, options) => fetch(url, options),
    onProgress: (progress) => report?.progress(progress),
  })
  return async (to) => {
    report = to
    const models = await files.models()
    const fileOf = (id: NetId): PinnedFile => models.nets.get(id) ?? missing(id)
    const wanted = [RUNTIME.wasm, ...[...LOOK_NETS, ...MEASURE_NETS].map(fileOf)]
    files.expect(wanted)
    const [wasm] = await Promise.all(wanted.map((file) => files.get(file)))
    if (!wasm) throw new EngineLoadError(RUNTIME.wasm.path)

    const { configureRuntime, netOf } = await import('./ort-runtime.ts').catch((error) => {
      throw new RuntimeBrokenError('the runtime', error)
    })
    const loaderUrl = new URL(RUNTIME.loaderPath, baseUrl).href
    trustWorkerUrls(loaderUrl)
    // The runtime imports the loader too. Importing it here first gives an error that names a missing loader.
    await import(/* @vite-ignore */ loaderUrl).catch((error) => {
      throw new RuntimeBrokenError(RUNTIME.loaderPath, error)
    })
    configureRuntime({ wasm, loaderUrl, threads })
    files.drop(RUNTIME.wasm)
    const engine = createFaceEngine({
      now: systemClock.monotonicMs,
      agedMax: AGED_MAX,
      load: async (id) => {
        const file = fileOf(id)
        const bytes = await files.get(file)
        files.drop(file)
        return netOf(bytes).catch((error) => {
          throw new RuntimeBrokenError(file.path, error)
        })
      },
    })
    await engine.warmUp()
    return { engine, id: models.id, hash: models.hash, threads, lookMs: await timeLook(engine) }
  }
}

/** The fastest of a few looks: other work on the device can only make one slower. */
async function timeLook({ warmUp }: FaceEngine): Promise<number> {
  const times: number[] = []
  while (times.length < TIMED_LOOKS) {
    const beforeMs = systemClock.monotonicMs()
    await warmUp(LOOK_NETS)
    times.push(systemClock.monotonicMs() - beforeMs)
  }
  return Math.min(...times)
}

function missing(id: NetId): never {
  throw new Error(`The manifest has no ${id}`)
}
