import type { EmbeddingId, Measured, Sighting } from '@ostiary/faces'
import type { NotedRequest } from '../ledger/ledger.ts'
import type { EngineOutputs, LoadProgress } from './engine.ts'

/** What the worker is told before anything else, together with its end of the channel. */
export interface EngineSetup {
  /** The folder of the page, with a slash at its end: models and runtime lie below it. */
  baseUrl: string
  threads: number
}

/** What the page asks of the worker; each question has one answer with its number. */
export type EngineQuestion =
  | { ask: 'load' }
  | { ask: 'look'; picture: ImageBitmap }
  | { ask: 'measure'; picture: ImageBitmap }
  | { ask: 'embed'; embedding: EmbeddingId }
  | { ask: 'selfie' }
  | { ask: 'begin'; outputs: EngineOutputs }

export type EngineAnswer =
  | { is: 'loaded'; id: string; hash: string; threads: number; lookMs: number }
  | { is: 'sighting'; sighting: Sighting }
  | { is: 'measured'; measured: Measured | null }
  | { is: 'embedding'; vector: Float32Array }
  | { is: 'selfie'; jpeg: Uint8Array<ArrayBuffer> }
  | { is: 'begun' }
  /** `file` when something could not be loaded; `broken` when this worker can never be of use again. */
  | { is: 'failed'; message: string; file?: string; broken?: boolean }

export type ToWorker = { number: number } & EngineQuestion
export type FromWorker =
  | { number: number; answer: EngineAnswer }
  | { progress: LoadProgress }
  | { request: NotedRequest }
