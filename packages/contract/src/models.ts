/** The face models a launch page runs: how they are listed, and which set of them the server takes results from. */
export const MODEL_KINDS = ['detector', 'mesh', 'embedding', 'age', 'eyes', 'spoof'] as const
export type ModelKind = (typeof MODEL_KINDS)[number]

/** `manifest.json`, beside the nets: every file by its digest, with what one must know to run it. */
export interface ModelManifest {
  id: string
  /** base64url of SHA-256 over `modelSetText` of the nets: what a device names as its model. */
  hash: string
  nets: readonly ModelNet[]
}

export interface ModelNet {
  id: string
  /** Relative to the manifest. */
  file: string
  /** Hexadecimal. */
  sha256: string
  bytes: number
  kind: ModelKind
  input: ModelInput
  outputs: readonly ModelOutput[]
  /** Of embeddings: how many numbers, and how two are compared. */
  dim?: number
  metric?: 'cosine' | 'euclidean'
  preprocess: ModelPreprocess
  /** Where to begin; what was measured, on which pictures, stands in docs/models.md. */
  thresholds?: Readonly<Record<string, number>>
  evaluationSet?: string
  licence: string
  provenance: { package: string; version: string; file: string; converted: boolean }
  note: string
}

export interface ModelInput {
  name: string
  layout: 'NHWC' | 'NCHW'
  /** Without the number of pictures. */
  dims: readonly [number, number, number]
}

export interface ModelOutput {
  name: string
  /** Without the number of pictures. */
  dims: readonly number[]
  meaning: string
}

/** A pixel's channel from 0 to 255 becomes `(value - mean) * scale`. */
export interface ModelPreprocess {
  /** What is cut out of the picture, in words. */
  crop: string
  channels: 'RGB' | 'BGR' | 'grey'
  /** One for all channels, or one each, in the order of `channels`. */
  mean: readonly number[]
  scale: number
}

/** The text whose SHA-256 names a set of nets: a line for each, in the order of their ids. */
export function modelSetText(nets: readonly { id: string; sha256: string }[]): string {
  return nets
    .map(({ id, sha256 }) => `${id} ${sha256}\n`)
    .sort()
    .join('')
}

/** The sets that were released, the newest last. `node models/main.ts` makes the files and refuses other bytes. */
export const RELEASED_MODELS: readonly { id: string; hash: string }[] = [
  { id: 'ostiary-faces-1', hash: 'x4tC_XocbJp_cKbh1Vs1xTQOz5exBrzoOatSVzRmOL4' },
]
