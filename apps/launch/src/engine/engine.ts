import type { EmbeddingId, Measured, PortraitArea, PortraitSighting, Sighting } from '@ostiary/faces'

/** The face engine as the page sees it. It runs in a Web Worker, and pictures never leave that worker. */
export interface Engine {
  /** Reports how much has to be downloaded, before `load`. */
  survey(onProgress: (progress: LoadProgress) => void): Promise<void>
  /**
   * Loads what `look` needs. `onProgress` is called until the rest is there too. After a failure, fetches only the missing files. After
   * `close`, starts a new worker. Do not call it while it runs.
   */
  load(onProgress: (progress: LoadProgress) => void): Promise<LoadedModels>
  /** Fetches what `measure` needs besides. Looks are answered meanwhile. After a failure, fetches only the missing files. */
  loadRest(): Promise<void>
  /** Gets the rest ready, so that the first `measure` does not wait. The worker does it by itself when it has nothing else to do. */
  warmUp(): Promise<void>
  /** For guidance: where the face is and how good the picture is. The engine closes the bitmap. */
  look(picture: ImageBitmap): Promise<Sighting>
  /** Measures one sample; null without a usable face. Samples are queued. The engine closes the bitmap. */
  measure(picture: ImageBitmap): Promise<Measured | null>
  /** The feature vector of the best sample measured since `begin`, for flows that need one. */
  embed(id: EmbeddingId): Promise<Float32Array>
  /** That sample as a JPEG, if the capture began with `selfie`. Returned once, then forgotten. */
  selfie(): Promise<Uint8Array<ArrayBuffer>>
  /**
   * Keeps the best sample measured since `begin` for `comparePortrait`. Later captures do not change it. Like the portrait, it
   * never leaves the worker.
   */
  keepFace(): Promise<void>
  /**
   * Searches these areas of a picture of a document for its portrait and keeps it for `comparePortrait`, instead of any
   * earlier one. The engine closes the bitmap.
   */
  findPortrait(picture: ImageBitmap, areas: readonly PortraitArea[]): Promise<PortraitSighting>
  /** The score of the kept face and the kept portrait, from 0 to 1; undefined while one of them is missing. */
  comparePortrait(): Promise<number | undefined>
  /** Forgets the kept face and the kept portrait. */
  forgetComparison(): Promise<void>
  /** Starts a capture: forgets all earlier samples. Call it without outputs after the last capture. */
  begin(outputs?: EngineOutputs): Promise<void>
  close(): void
}

export interface EngineOutputs {
  /** Estimate ages. */
  ages: boolean
  /** Keep the picture of the best sample. */
  selfie: boolean
}

/** Bytes as they travel. Files in the cache are not counted. */
export interface LoadProgress {
  loadedBytes: number
  totalBytes: number
  /** Of the files that only `measure` needs. */
  rest?: { loadedBytes: number; totalBytes: number }
}

/** Identifies the models in the sealed payload. The server knows all released sets. */
export interface LoadedModels {
  id: string
  hash: string
  backend: 'wasm' | 'webgpu'
  threads: number
}

/** A model could not be fetched, or does not match the manifest. `file` names it. */
export class EngineLoadError extends Error {
  readonly file: string

  constructor(file: string, cause?: unknown) {
    super(`Could not load ${file}`, cause === undefined ? undefined : { cause })
    this.name = 'EngineLoadError'
    this.file = file
  }
}
