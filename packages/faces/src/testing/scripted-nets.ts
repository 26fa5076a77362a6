import { letterbox } from '../detect.ts'
import { applyTo } from '../geometry.ts'
import type { LoadNet, NetId, Picture, Point, Tensor } from '../types.ts'

/** What the scripted camera shows: faces by their middle and width in a picture of 640 by 480. */
export interface Scene {
  faces: readonly (Point & { width: number })[]
  /** Whether the mesh net takes what it sees for a face. */
  meshSure: boolean
  /** How far the face lies from where it is looked for, in pixels of the mesh net, from one reading to the next. */
  drift: number
}

export interface ScriptedNets {
  load: LoadNet
  scene: Scene
  /** Every run, in order. */
  runs: NetId[]
  loads: NetId[]
  /** What the nets of measuring give. */
  says: { live: number; feature: Float32Array; fa: readonly [number, number]; deepAge: number; eyesShut: number }
}

export function blank(shade = 128, width = 640, height = 480): Picture {
  return { width, height, data: new Uint8ClampedArray(width * height * 4).fill(shade) }
}

/** Fake nets with outputs that the test sets: the order of the calls can be tested without real nets. */
export function scriptedNets(): ScriptedNets {
  const nets: ScriptedNets = {
    scene: { faces: [], meshSure: true, drift: 0 },
    runs: [],
    loads: [],
    says: { live: 3, feature: Float32Array.of(1, 0, 0), fa: [30, 32], deepAge: 35, eyesShut: -5 },
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

function answer({ scene, says }: ScriptedNets, id: NetId, input: Tensor): Record<string, Tensor> {
  switch (id) {
    case 'blazeface':
      return detections(scene)
    case 'facemesh':
      return {
        Identity_1: tensor([scene.meshSure && scene.faces.length > 0 ? 0.99 : 0.01]),
        Identity_2: tensor(FACE.map((value, at) => (at % 3 === 0 ? value + scene.drift : value))),
      }
    case 'fr_eye':
      return { output: tensor([says.eyesShut, -says.eyesShut]) }
    case 'fr_liveness':
      return { output: tensor([says.live, 0, 0]) }
    case 'fr_feature':
    case 'dlib':
      return { output: { dims: [1, says.feature.length], data: says.feature } }
    case 'fa_age':
      return { age: tensor(says.fa.slice(0, input.dims[0])) }
    case 'faceres_deep':
      return { Softmax_1: tensor(Array.from({ length: 100 }, (_, age) => (age === says.deepAge ? 1 : 0))) }
  }
}

function tensor(values: readonly number[]): Tensor {
  return { dims: [1, values.length], data: Float32Array.from(values) }
}

function detections({ faces }: Scene): Record<string, Tensor> {
  const logits = new Float32Array(512).fill(-20)
  const boxes = new Float32Array(512 * 16)
  const to = letterbox({ width: 640, height: 480, data: new Uint8ClampedArray() })
  for (const face of faces) {
    const { x, y } = applyTo(to, face)
    const [column, row] = [Math.floor(x / 16), Math.floor(y / 16)]
    const anchor = (row * 16 + column) * 2
    const [dx, dy] = [x - (column + 0.5) * 16, y - (row + 0.5) * 16]
    const width = face.width * to.a
    logits[anchor] = 5
    boxes.set([dx, dy, width, width, dx - width / 5, dy - width / 6, dx + width / 5, dy - width / 6], anchor * 16)
  }
  return {
    Identity: { dims: [1, 512, 1], data: logits },
    Identity_1: { dims: [1, 384, 1], data: new Float32Array(384).fill(-20) },
    Identity_2: { dims: [1, 512, 16], data: boxes },
    Identity_3: { dims: [1, 384, 16], data: new Float32Array(384 * 16) },
  }
}

/** A face that fills two thirds of the square it is looked for in, so that following it stays where it is. */
const FACE: readonly number[] = (() => {
  const points = Array.from({ length: 468 }, () => [96, 96, 0])
  const at: Readonly<Record<number, readonly [number, number]>> = {
    10: [96, 32],
    152: [96, 160],
    234: [32, 96],
    454: [160, 96],
    33: [60, 80],
    133: [82, 80],
    159: [71, 77.5],
    158: [71, 77.5],
    145: [71, 82.5],
    153: [71, 82.5],
    362: [110, 80],
    263: [132, 80],
    386: [121, 77.5],
    385: [121, 77.5],
    374: [121, 82.5],
    380: [121, 82.5],
    1: [96, 105],
    61: [74, 130],
    291: [118, 130],
  }
  for (const [index, [x, y]] of Object.entries(at)) points[Number(index)] = [x, y, 0]
  return points.flat()
})()
