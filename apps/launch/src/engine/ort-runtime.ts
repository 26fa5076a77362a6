import type { Net, Tensor } from '@ostiary/faces'
import { env, InferenceSession, Tensor as OrtTensor } from 'onnxruntime-web/wasm'
import type { PinnedFile } from './model-files.ts'

export interface RuntimeOptions {
  /** The compiled runtime. The hash of its bytes was checked. */
  module: WebAssembly.Module
  /** URL of its loader, on our own origin. The runtime starts its threads from it. */
  loaderUrl: string
  threads: number
}

/** Path and hash of the runtime (build.ts). Vite defines the value. */
export interface RuntimeFacts {
  loaderPath: string
  wasm: PinnedFile
}

/** Call it once, before the first net. */
export function configureRuntime({ module, loaderUrl, threads }: RuntimeOptions): void {
  env.wasm.numThreads = threads
  // This code runs in a worker already.
  env.wasm.proxy = false
  env.wasm.wasmPaths = { mjs: loaderUrl }
  env.wasm.wasmBinary = NO_BYTES
  instantiateInstead(module)
  env.logLevel = 'error'
}

/** Stands for the runtime's bytes, which are compiled already. */
const NO_BYTES = new ArrayBuffer(0)

/**
 * The runtime takes bytes only, and the browser keeps the compiled code of a file only if it compiles the answer itself. So the runtime
 * gets no bytes, and where it instantiates them, in this worker, it gets the module.
 */
function instantiateInstead(module: WebAssembly.Module): void {
  const instantiate = WebAssembly.instantiate
  const instead = async (source: BufferSource, imports?: WebAssembly.Imports) =>
    source.byteLength === 0 ? { module, instance: await instantiate(module, imports) } : instantiate(source, imports)
  WebAssembly.instantiate = instead as typeof instantiate
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
