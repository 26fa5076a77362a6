import { letterbox } from '../detect.ts'
import { applyTo } from '../geometry.ts'
import { MESH_POINTS } from '../mesh.ts'
import type { LoadNet, NetId, Picture, Point, Tensor } from '../types.ts'

/** What the nets see, whatever the picture. */
export interface Scene {
  /** The faces by their middle and width, in pixels of a picture of 640 by 480. */
  faces: readonly (Point & { width: number })[]
  /** Whether `facemesh` confirms what `blazeface` detected as a face. */
  meshConfirms: boolean
  /**
   * At every run `facemesh` finds the face this far to the right of the middle of its input, in pixels of its input. Up to 7 the tracker
   * takes the face to be at rest. From 8 on it follows, so the face moves on with every run.
   */
  meshShiftPx: number
}

export interface ScriptedNets {
  load: LoadNet
  scene: Scene
  /** Every run, in order. */
  runs: NetId[]
  /** Every load, in order. */
  loads: NetId[]
  outputs: ScriptedOutputs
}

/** What the nets return that measure a face which was found. */
interface ScriptedOutputs {
  /** `fr_liveness`: the logit of the class "live"; those of the two other classes are 0. */
  liveLogit: number
  /** `fr_feature` and `dlib`: the feature vector. */
  feature: Float32Array
  /** `fa_age`: the ages of the face and of its mirror image, in years. */
  faAges: readonly [number, number]
  /** `faceres_deep`: the one age, in years, that gets all the probability. */
  deepAge: number
  /** `fr_eye`: the logit of a shut eye; the logit of an open eye is its negative. */
  eyeShutLogit: number
}

export function blank(shade = 128, width = 640, height = 480): Picture {
  return { width, height, data: new Uint8ClampedArray(width * height * 4).fill(shade) }
}

/** Fake neural networks ("nets") whose outputs a test sets: what runs when can be tested without models. */
export function scriptedNets(): ScriptedNets {
  const nets: ScriptedNets = {
    scene: { faces: [], meshConfirms: true, meshShiftPx: 0 },
    runs: [],
    loads: [],
    outputs: { liveLogit: 3, feature: Float32Array.of(1, 0, 0), faAges: [30, 32], deepAge: 35, eyeShutLogit: -5 },
    load: async (id) => {
      nets.loads.push(id)
      return {
        async run(input) {
          nets.runs.push(id)
          return answer(nets, id, input)
        },
      }
    },
  }
  return nets
}

function answer({ scene, outputs }: ScriptedNets, id: NetId, input: Tensor): Record<string, Tensor> {
  switch (id) {
    case 'blazeface':
      return detections(scene)
    case 'facemesh':
      return {
        Identity_1: tensor([scene.meshConfirms && scene.faces.length > 0 ? 0.99 : 0.01]),
        Identity_2: tensor(MESH.map((value, at) => (at % 3 === 0 ? value + scene.meshShiftPx : value))),
      }
    case 'fr_eye':
      return { output: tensor([outputs.eyeShutLogit, -outputs.eyeShutLogit]) }
    case 'fr_liveness':
      return { output: tensor([outputs.liveLogit, 0, 0]) }
    case 'fr_feature':
    case 'dlib':
      return { output: { dims: [1, outputs.feature.length], data: outputs.feature } }
    case 'fa_age':
      return { age: tensor(outputs.faAges.slice(0, input.dims[0])) }
    case 'faceres_deep':
      return { Softmax_1: tensor(Array.from({ length: 100 }, (_, age) => (age === outputs.deepAge ? 1 : 0))) }
  }
}

function tensor(values: readonly number[]): Tensor {
  return { dims: [1, values.length], data: Float32Array.from(values) }
}

/** The grids of `blazeface` over its input of 256 pixels (detect.ts). Scripted faces are all in the finer one. */
const FINE = { cells: 16, cellPx: 16, perCell: 2, anchors: 16 * 16 * 2 }
const COARSE = { anchors: 8 * 8 * 6 }
/** Numbers per anchor: the box (middle, width, height) and six points, of which the first two are the eyes. */
const STRIDE = 16
const LOGIT = { face: 5, nothing: -20 }

function detections({ faces }: Scene): Record<string, Tensor> {
  const logits = new Float32Array(FINE.anchors).fill(LOGIT.nothing)
  const boxes = new Float32Array(FINE.anchors * STRIDE)
  const toInput = letterbox({ width: 640, height: 480, data: new Uint8ClampedArray() })
  for (const face of faces) {
    const { x, y } = applyTo(toInput, face)
    const [column, row] = [Math.floor(x / FINE.cellPx), Math.floor(y / FINE.cellPx)]
    const anchor = (row * FINE.cells + column) * FINE.perCell
    // Offsets from the middle of the cell.
    const [dx, dy] = [x - (column + 0.5) * FINE.cellPx, y - (row + 0.5) * FINE.cellPx]
    const width = face.width * toInput.a
    const eyes = [dx - width / 5, dy - width / 6, dx + width / 5, dy - width / 6]
    logits[anchor] = LOGIT.face
    boxes.set([dx, dy, width, width, ...eyes], anchor * STRIDE)
  }
  return {
    Identity: { dims: [1, FINE.anchors, 1], data: logits },
    Identity_1: { dims: [1, COARSE.anchors, 1], data: new Float32Array(COARSE.anchors).fill(LOGIT.nothing) },
    Identity_2: { dims: [1, FINE.anchors, STRIDE], data: boxes },
    Identity_3: { dims: [1, COARSE.anchors, STRIDE], data: new Float32Array(COARSE.anchors * STRIDE) },
  }
}

/**
 * The output of `facemesh` for its input of 192 pixels. The face fills two thirds of it, which is the share that the tracker crops for, so the
 * tracker reads the next picture from the same place. All points that have no place of their own are in the middle.
 */
const MESH: readonly number[] = (() => {
  const points = Array.from({ length: MESH_POINTS }, () => [96, 96, 0])
  const at: Readonly<Record<number, readonly [number, number]>> = {
    // Forehead, chin, left and right side (left as seen in the picture).
    10: [96, 32],
    152: [96, 160],
    234: [32, 96],
    454: [160, 96],
    // The left eye: corners, upper lid, lower lid.
    33: [60, 80],
    133: [82, 80],
    159: [71, 77],
    158: [71, 77],
    145: [71, 83],
    153: [71, 83],
    // The right eye.
    362: [110, 80],
    263: [132, 80],
    386: [121, 77],
    385: [121, 77],
    374: [121, 83],
    380: [121, 83],
    // Tip of the nose, corners of the mouth.
    1: [96, 105],
    61: [74, 130],
    291: [118, 130],
  }
  for (const [index, [x, y]] of Object.entries(at)) points[Number(index)] = [x, y, 0]
  return points.flat()
})()
