import type { Net, Tensor } from '@ostiary/faces'
import { env, InferenceSession, Tensor as OrtTensor } from 'onnxruntime-web/wasm'

export interface RuntimeOptions {
  /** The runtime itself, already checked. */
  wasm: Uint8Array<ArrayBuffer>
  /** Its loader, on our own origin: the runtime makes its threads from this address. */
  loaderUrl: string
  threads: number
}

/** Where the build puts the runtime (build.ts), and what it must be. Vite puts it in. */
export interface RuntimeFacts {
  loaderPath: string
  wasm: { path: string; sizeBytes: number; sha256: string }
}

/** To be called once, before the first net. */
export function configureRuntime({ wasm, loaderUrl, threads }: RuntimeOptions): void {
  env.wasm.numThreads = threads
  // We are in a worker of our own already.
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
