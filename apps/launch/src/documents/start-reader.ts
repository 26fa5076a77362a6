import type { NotedRequest } from '../ledger/ledger.ts'
import { trustedScriptUrl } from '../trusted-urls.ts'
import type { DocumentReader } from './reader.ts'
import { connectReader } from './reader-client.ts'
import type { ReaderSetup } from './reader-protocol.ts'
import workerUrl from './reader-worker.ts?worker&url'

/** Starts the reader's worker. It is loaded now: call it only when the user has chosen a document. */
export function startReader(onRequest: (request: NotedRequest) => void): DocumentReader {
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(trustedScriptUrl(workerUrl), { type: 'module', name: 'ostiary-documents' })
  const client = connectReader({ port: port1, onRequest, onClose: () => worker.terminate() })
  worker.onerror = () => client.fail()
  const setup: ReaderSetup = { baseUrl: new URL('.', document.baseURI).href }
  worker.postMessage(setup, [port2])
  return client
}
