/** The face engine's worker. Pictures come in, and only numbers go out. */
import { systemClock } from '@ostiary/device'
import { createFaceEngine, type FaceEngine, LOOK_NETS, MEASURE_NETS, type NetId } from '@ostiary/faces'
import { watchTimeline } from '../ledger/timeline.ts'
import { trustWorkerUrls } from '../trusted-urls.ts'
import { compileVerified } from './compile-verified.ts'
import {
  type EngineHostOptions,
  type EngineReport,
  RuntimeBrokenError,
  type StartedFaces,
  serveEngine,
} from './engine-host.ts'
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
  if (port) serveEngine({ port, pixelsOf: pixelReader(), jpegOf, ...starter(data) })
})

function starter({ baseUrl, threads }: EngineSetup): Pick<EngineHostOptions, 'survey' | 'start'> {
  let report: EngineReport | undefined
  watchTimeline((request) => report?.request(request), { includeFetch: true })
  const files = createModelFiles({
    baseUrl,
    fetch: (url, options) => fetch(url, options),
    isCached: async (url) => (await caches.match(url)) !== undefined,
    onProgress: (progress) => report?.progress(progress),
  })
  const loaderUrl = new URL(RUNTIME.loaderPath, baseUrl).href
  trustWorkerUrls(loaderUrl)

  async function survey(to: EngineReport) {
    report = to
    const { id, hash, nets } = await files.models()
    const fileOf = (net: NetId): PinnedFile => nets.get(net) ?? missing(net)
    const [first, rest] = [LOOK_NETS.map(fileOf), MEASURE_NETS.map(fileOf)]
    await files.expect([RUNTIME.wasm, ...first], rest)
    return { id, hash, fileOf, first }
  }

  async function start(to: EngineReport): Promise<StartedFaces> {
    const code = Promise.all([
      import('./ort-runtime.ts').catch((error) => {
        throw new RuntimeBrokenError('the runtime', error)
      }),
      // The runtime imports the loader too. Importing it here first gives an error that names a missing loader.
      import(/* @vite-ignore */ loaderUrl).catch((error) => {
        throw new RuntimeBrokenError(RUNTIME.loaderPath, error)
      }),
    ])
    code.catch(() => {})
    const { id, hash, fileOf, first } = await survey(to)
    const [module] = await Promise.all([
      compileVerified(RUNTIME.wasm, files.get),
      ...first.map((file) => files.get(file)),
    ])
    files.drop(RUNTIME.wasm)
    const made = new Set<NetId>()
    const loadRest = async () => {
      const wanted = MEASURE_NETS.filter((id) => !made.has(id))
      await Promise.all(wanted.map((id) => files.get(fileOf(id)).then(to.fetched)))
    }
    // The rest comes while the nets start. Not for a trial of more threads, which may be closed at once.
    if (threads === 1) loadRest().catch(() => {})

    const [{ configureRuntime, netOf }] = await code
    configureRuntime({ module, loaderUrl, threads })
    const cold = new Set<NetId>(MEASURE_NETS)
    const engine = createFaceEngine({
      now: systemClock.monotonicMs,
      agedMax: AGED_MAX,
      load: async (id) => {
        const file = fileOf(id)
        const bytes = await files.get(file)
        made.add(id)
        files.drop(file)
        return netOf(bytes).catch((error) => {
          throw new RuntimeBrokenError(file.path, error)
        })
      },
    })
    await engine.warmUp(LOOK_NETS)
    const warm = async (id: NetId) => {
      await engine.warmUp([id])
      cold.delete(id)
    }
    return {
      engine,
      id,
      hash,
      threads,
      lookMs: await timeLook(engine),
      loadRest,
      async warmNext() {
        const next = [...cold].find((id) => files.has(fileOf(id)))
        return (
          next !== undefined &&
          warm(next).then(
            () => true,
            () => false,
          )
        )
      },
      async warmUp() {
        for (const id of cold) await warm(id)
      },
    }
  }

  return { start, survey: async (to) => void (await survey(to)) }
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
