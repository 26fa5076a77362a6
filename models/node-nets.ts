/** The nets on Node, for tools and tests: the same runtime and the same files as on the page. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ModelManifest } from '@ostiary/contract'
import type { LoadNet, Net, NetId, Tensor } from '@ostiary/faces'
import * as ort from 'onnxruntime-web/wasm'
import { MODELS_FOLDER } from './manifest.ts'

/** Every call creates a session; a caller that needs a net often keeps it. */
export function loadNetFromDisk(folder = MODELS_FOLDER): LoadNet {
  return async (id) => createNet(readNet(folder, id))
}

export async function createNet(file: Uint8Array): Promise<Net> {
  ort.env.wasm.numThreads = 1
  // Errors only: the runtime also warns of every weight it could fold away.
  const session = await ort.InferenceSession.create(file, { executionProviders: ['wasm'], logSeverityLevel: 3 })
  const [input] = session.inputNames
  if (input === undefined) throw new Error('the net has no input')
  return {
    async run({ data, dims }) {
      const outputs = await session.run({ [input]: new ort.Tensor('float32', data, dims) })
      return Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, toTensor(name, value)]))
    },
  }
}

export function readManifest(folder = MODELS_FOLDER): ModelManifest {
  const path = join(folder, 'manifest.json')
  if (!existsSync(path)) throw new Error('The face models are not there: run tools/bootstrap')
  return JSON.parse(readFileSync(path, 'utf8')) as ModelManifest
}

function readNet(folder: string, id: NetId): Uint8Array {
  const net = readManifest(folder).nets.find((each) => each.id === id)
  if (net === undefined) throw new Error(`The manifest of the face models has no ${id}: run tools/bootstrap`)
  return readFileSync(join(folder, net.file))
}

function toTensor(name: string, { data, dims }: ort.Tensor): Tensor {
  if (!(data instanceof Float32Array)) throw new Error(`the output ${name} is not made of 32-bit floats`)
  return { data, dims }
}
