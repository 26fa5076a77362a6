import type { EmbeddingId, Measured, Sighting } from '@ostiary/faces'

/** The face engine as the page sees it. The work is done in a Web Worker; pictures go there and never further. */
export interface Engine {
  /**
   * Loads what looking and measuring need. Again after a failure: what is there already is not fetched again. After `close`
   * in a new worker. To be called once at a time.
   */
  load(onProgress: (progress: LoadProgress) => void): Promise<LoadedModels>
  /** For guidance: where the face is and how good the picture. The bitmap is closed by the engine. */
  look(picture: ImageBitmap): Promise<Sighting>
  /** Everything about one sample; null without a usable face. Pictures wait their turn. The bitmap is closed by the engine. */
  measure(picture: ImageBitmap): Promise<Measured | null>
  /** The feature vector of the best sample measured since `begin`, for flows that need one. */
  embed(id: EmbeddingId): Promise<Float32Array>
  /** That sample as a JPEG, where the capture was begun with `selfie`. It is given once and forgotten. */
  selfie(): Promise<Uint8Array<ArrayBuffer>>
  /** A new capture begins: forgets everything about the samples before. Nothing is wished for after the last one. */
  begin(outputs?: EngineOutputs): Promise<void>
  close(): void
}

export interface EngineOutputs {
  /** Ages are estimated. */
  ages: boolean
  /** The picture of the best sample is kept. */
  selfie: boolean
}

export interface LoadProgress {
  loadedBytes: number
  totalBytes: number
}

/** Names the set of models in the sealed payload; the server knows the sets that were released. */
export interface LoadedModels {
  id: string
  hash: string
  backend: 'wasm' | 'webgpu'
  threads: number
}

/** The models could not be fetched, or are not what the manifest says. `file` names which. */
export class EngineLoadError extends Error {
  readonly file: string

  constructor(file: string, cause?: unknown) {
    super(`Could not load ${file}`, cause === undefined ? undefined : { cause })
    this.name = 'EngineLoadError'
    this.file = file
  }
}
