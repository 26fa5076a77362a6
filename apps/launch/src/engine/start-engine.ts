import type { NotedRequest } from '../ledger/ledger.ts'
import { trustedScriptUrl } from '../trusted-urls.ts'
import { type Engine, EngineLoadError } from './engine.ts'
import { connectEngine, type EngineClient, type LoadedEngine } from './engine-client.ts'
import type { EngineSetup } from './protocol.ts'
import { areWorthIt, threadsToTry } from './threads.ts'
import workerUrl from './worker.ts?worker&url'

export interface StartEngineOptions {
  /** Called for every network request of the worker. */
  onRequest?: (request: NotedRequest) => void
}

/** The engine of this page, in its own worker. The worker starts at `load`. */
export function startEngine({ onRequest = () => {} }: StartEngineOptions = {}): Engine {
  let client: EngineClient | undefined
  const ready = () => client ?? notLoaded()

  return {
    async load(onProgress) {
      if (!client || client.broken) {
        client?.close()
        client = startWorker(1, onRequest)
      }
      const { id, hash, threads, lookMs } = await client.load(onProgress)
      const better = await tryThreads(lookMs, onRequest)
      if (better) {
        client.close()
        client = better.client
      }
      return { id, hash, backend: 'wasm', threads: better?.loaded.threads ?? threads }
    },
    look: (picture) => ready().look(picture),
    measure: (picture) => ready().measure(picture),
    embed: (id) => ready().embed(id),
    selfie: () => ready().selfie(),
    begin: (outputs) => ready().begin(outputs),
    close: () => client?.close(),
  }
}

/** Tries a second worker with more threads if the first is slow. Returns undefined if that is not faster or fails. */
async function tryThreads(
  lookMs: number,
  onRequest: (request: NotedRequest) => void,
): Promise<{ client: EngineClient; loaded: LoadedEngine } | undefined> {
  const threads = threadsToTry(lookMs, { crossOriginIsolated, cores: navigator.hardwareConcurrency })
  if (threads === undefined) return undefined
  const client = startWorker(threads, onRequest)
  try {
    const loaded = await client.load(() => {})
    if (areWorthIt(lookMs, loaded.lookMs)) return { client, loaded }
  } catch {
    // One thread works already, so a failed trial is not reported.
  }
  client.close()
  return undefined
}

function startWorker(threads: number, onRequest: (request: NotedRequest) => void): EngineClient {
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(trustedScriptUrl(workerUrl), { type: 'module', name: 'ostiary-faces' })
  const client = connectEngine({ port: port1, onRequest, onClose: () => worker.terminate() })
  worker.onerror = ({ message }) => client.fail(new EngineLoadError('the face engine', new Error(message)))
  const setup: EngineSetup = { baseUrl: new URL('.', document.baseURI).href, threads }
  worker.postMessage(setup, [port2])
  return client
}

function notLoaded(): never {
  throw new Error('Call load() first')
}
