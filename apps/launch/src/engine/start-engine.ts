import type { NotedRequest } from '../ledger/ledger.ts'
import { trustedScriptUrl } from '../trusted-urls.ts'
import { type Engine, EngineLoadError, type LoadProgress } from './engine.ts'
import { connectEngine, type EngineClient, type LoadedEngine } from './engine-client.ts'
import type { EngineSetup } from './protocol.ts'
import { areMoreThreadsFaster, threadsToTry } from './threads.ts'
import workerUrl from './worker.ts?worker&url'

export interface StartEngineOptions {
  /** Called for every network request of the worker. */
  onRequest?: (request: NotedRequest) => void
}

/** The page's face engine, which runs in a Web Worker. The first `load` starts the worker; looking or measuring before that throws. */
export function startEngine({ onRequest = () => {} }: StartEngineOptions = {}): Engine {
  let client: EngineClient | undefined
  function workingClient(): EngineClient {
    if (!client || client.broken) {
      client?.close()
      client = startWorker(1, onRequest)
    }
    return client
  }
  const startedClient = () => client ?? notLoaded()

  return {
    survey: (onProgress) => workingClient().survey(onProgress),
    async load(onProgress) {
      const first = workingClient()
      const { id, hash, threads, lookMs } = await first.load(onProgress)
      const faster = await tryMoreThreads(lookMs, { onRequest, onProgress })
      if (faster) {
        first.close()
        client = faster.client
      }
      return { id, hash, backend: 'wasm', threads: faster?.loaded.threads ?? threads }
    },
    loadRest: () => startedClient().loadRest(),
    warmUp: () => startedClient().warmUp(),
    look: (picture) => startedClient().look(picture),
    measure: (picture) => startedClient().measure(picture),
    embed: (id) => startedClient().embed(id),
    selfie: () => startedClient().selfie(),
    keepFace: () => startedClient().keepFace(),
    findPortrait: (picture, areas) => startedClient().findPortrait(picture, areas),
    comparePortrait: () => startedClient().comparePortrait(),
    forgetComparison: () => startedClient().forgetComparison(),
    begin: (outputs) => startedClient().begin(outputs),
    close: () => client?.close(),
  }
}

/**
 * If the worker with one thread is slow, loads a second worker with more threads. Returns undefined if there was no reason to try,
 * or the second worker failed or is not clearly faster.
 */
async function tryMoreThreads(
  oneThreadLookMs: number,
  { onRequest, onProgress }: Required<StartEngineOptions> & { onProgress: (progress: LoadProgress) => void },
): Promise<{ client: EngineClient; loaded: LoadedEngine } | undefined> {
  const sharesMemory = crossOriginIsolated && typeof SharedArrayBuffer !== 'undefined'
  const threads = threadsToTry(oneThreadLookMs, { sharesMemory, cores: navigator.hardwareConcurrency })
  if (threads === undefined) return undefined
  const client = startWorker(threads, onRequest)
  try {
    let isChosen = false
    const loaded = await client.load((progress) => isChosen && onProgress(progress))
    isChosen = areMoreThreadsFaster(oneThreadLookMs, loaded.lookMs)
    if (isChosen) return { client, loaded }
  } catch {
    // Not an error for the page: the worker with one thread is loaded and stays in use.
  }
  client.close()
  return undefined
}

function startWorker(threads: number, onRequest: (request: NotedRequest) => void): EngineClient {
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(trustedScriptUrl(workerUrl), { type: 'module', name: 'ostiary-faces' })
  const client = connectEngine({ port: port1, onRequest, onClose: () => worker.terminate() })
  // After an uncaught error the worker is never used again. The type matters only during `load`, which is then tried again with a
  // new worker; later the flow reports every error of the engine as FACE_SCAN_ERROR.
  worker.onerror = ({ message }) => client.fail(new EngineLoadError('the face engine', new Error(message)))
  const setup: EngineSetup = { baseUrl: new URL('.', document.baseURI).href, threads }
  worker.postMessage(setup, [port2])
  return client
}

function notLoaded(): never {
  throw new Error('Call load() first')
}
