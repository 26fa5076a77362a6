/** Reads weights as TensorFlow.js stores them: a manifest in JSON beside one file of bytes. */
import { countOf, type Stored } from './array.ts'

interface WeightEntry {
  name: string
  shape: number[]
  dtype: string
  quantization?: { dtype: string; scale?: number; min?: number }
}

export type WeightsManifest = readonly { paths: string[]; weights: WeightEntry[] }[]
export type Weights = ReadonlyMap<string, Stored>

/** The groups of a manifest, read one after the other from the one file that all our sources have. */
export function readWeights(manifest: WeightsManifest, file: Uint8Array): Weights {
  const weights = new Map<string, Stored>()
  let at = 0
  for (const entry of manifest.flatMap((group) => group.weights)) {
    const { array, sizeBytes } = readEntry(entry, file, at)
    weights.set(entry.name, array)
    at += sizeBytes
  }
  if (at !== file.length) throw new Error(`the weight file has ${file.length} bytes, its manifest describes ${at}`)
  return weights
}

function readEntry(entry: WeightEntry, file: Uint8Array, at: number): { array: Stored; sizeBytes: number } {
  const { shape, quantization } = entry
  const count = countOf(shape)
  const type = quantization?.dtype ?? entry.dtype
  // A copy, because a typed array may not begin at every byte. (`slice` would copy too, but not that of a Buffer.)
  const take = (sizeBytes: number) => new Uint8Array(file.subarray(at, at + sizeBytes)).buffer
  switch (type) {
    case 'float32':
      return { array: { type, shape, values: new Float32Array(take(count * 4)) }, sizeBytes: count * 4 }
    case 'int32':
      return { array: { type, shape, values: new Int32Array(take(count * 4)) }, sizeBytes: count * 4 }
    case 'float16':
      return { array: { type, shape, values: new Uint16Array(take(count * 2)) }, sizeBytes: count * 2 }
    case 'uint8': {
      const { scale = 1, min = 0 } = quantization ?? {}
      return { array: { type, shape, values: new Uint8Array(take(count)), scale, min }, sizeBytes: count }
    }
    default:
      throw new Error(`weights of the type ${type} (${entry.name}) are not known here`)
  }
}

export function weightOf(weights: Weights, name: string): Stored {
  const found = weights.get(name)
  if (found === undefined) throw new Error(`there is no weight named ${name}`)
  return found
}
