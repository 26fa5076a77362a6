import type { EmbeddingId, Measured, PortraitArea, PortraitSighting, Sighting } from '@ostiary/faces'
import type { NotedRequest } from '../ledger/ledger.ts'
import type { EngineOutputs, LoadProgress } from './engine.ts'

/** The first message to the worker; it comes with the worker's port of the channel. */
export interface EngineSetup {
  /** URL of the page's folder, with a trailing slash. Models and runtime are below it. */
  baseUrl: string
  threads: number
}

/** Questions of the page. Each gets one answer with the same number. */
export type EngineQuestion =
  | { ask: 'survey' }
  | { ask: 'load' }
  | { ask: 'load-rest' }
  | { ask: 'warm-up' }
  | { ask: 'look'; picture: ImageBitmap }
  | { ask: 'measure'; picture: ImageBitmap }
  | { ask: 'embed'; embedding: EmbeddingId }
  | { ask: 'selfie' }
  | { ask: 'keep-face' }
  | { ask: 'find-portrait'; picture: ImageBitmap; areas: readonly PortraitArea[] }
  | { ask: 'compare-portrait' }
  | { ask: 'forget-comparison' }
  | { ask: 'begin'; outputs: EngineOutputs }

export type EngineAnswer =
  | { is: 'loaded'; id: string; hash: string; threads: number; lookMs: number }
  | { is: 'surveyed' }
  | { is: 'rest-loaded' }
  | { is: 'warm' }
  | { is: 'sighting'; sighting: Sighting }
  | { is: 'measured'; measured: Measured | null }
  | { is: 'embedding'; vector: Float32Array }
  | { is: 'selfie'; jpeg: Uint8Array<ArrayBuffer> }
  | { is: 'face-kept' }
  | { is: 'portrait'; sighting: PortraitSighting }
  | { is: 'compared'; score: number | undefined }
  | { is: 'comparison-forgotten' }
  | { is: 'begun' }
  /** `file`: this file could not be loaded. `broken`: the worker is broken for good. */
  | { is: 'failed'; message: string; file?: string; broken?: boolean }

export type ToWorker = { number: number } & EngineQuestion
export type FromWorker =
  | { number: number; answer: EngineAnswer }
  | { progress: LoadProgress }
  | { request: NotedRequest }
