import type { Net, Tensor } from '@ostiary/faces'
import { env, InferenceSession, Tensor as OrtTensor } from 'onnxruntime-web/wasm'

export interface RuntimeOptions {
  /** The runtime's bytes, already verified. */
  wasm: Uint8Array<ArrayBuffer>
  /** URL of its loader, on our own origin. The runtime starts its threads from it. */
  loaderUrl: string
  threads: number
}

/** Path and hash of the runtime (build.ts). Vite defines the value. */
export interface RuntimeFacts {
  loaderPath: string
  wasm: { path: string; sizeBytes: number; sha256: string }
}

/** Call it once, before the first net. */
export function configureRuntime({ wasm, loaderUrl, threads }: RuntimeOptions): void {
  env.wasm.numThreads = threads
  // This code runs in a worker already.
  env.wasm.proxy = false
  env.wasm.wasmPaths = { mjs: loaderUrl }
  env.wasm.wasmBinary = wasm.buffer
  env.logLevel = 'error'
}

export async function netOf(model: Uint8Array): Promise<Net> {
  const session = await InferenceSession.create(model, { executionProviders: ['wasm'] })
  const [inputName] = session.inputNames
  if (inputName === undefined || session.inputNames.length > 1) throw new Error('A net of ours has one input')
  return {
    async run({ data, dims }) {
      const outputs = await session.run({ [inputName]: new OrtTensor('float32', data, dims) })
      return Object.fromEntries(Object.entries(outputs).map(([name, output]) => [name, tensorOf(name, output)]))
    },
  }
}

function tensorOf(name: string, { data, dims }: OrtTensor): Tensor {
  if (!(data instanceof Float32Array)) throw new Error(`The output ${name} is not of 32-bit floats`)
  return { dims, data }
}
