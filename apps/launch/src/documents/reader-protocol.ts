import type { PortraitFace } from '@ostiary/faces'
import type { LoadProgress } from '../engine/engine.ts'
import type { NotedRequest } from '../ledger/ledger.ts'
import type { DocumentChoice, DocumentSide } from './document-types.ts'
import type { DocumentLook, WantedDocument } from './reader.ts'

/** The first message to the worker; it comes with the worker's port of the channel. */
export interface ReaderSetup {
  /** URL of the page's folder, with a trailing slash. */
  baseUrl: string
}

/** Questions of the page. Each gets one answer with the same number. */
export type ReaderQuestion =
  | { ask: 'load'; choice: DocumentChoice }
  | { ask: 'begin'; wanted: WantedDocument }
  | { ask: 'look'; picture: ImageBitmap; side: DocumentSide }
  | { ask: 'pasted'; face: PortraitFace }

export type ReaderAnswer =
  | { is: 'loaded' }
  | { is: 'begun' }
  | { is: 'look'; look: DocumentLook }
  | { is: 'pasted'; isPasted: boolean }
  | { is: 'failed' }

export type ToReader = { number: number } & ReaderQuestion
export type FromReader =
  | { number: number; answer: ReaderAnswer }
  | { progress: LoadProgress }
  | { request: NotedRequest }
