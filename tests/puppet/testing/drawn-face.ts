import type { Picture } from '@ostiary/faces'

/**
 * A face that nobody has: 468 points on a flattened ball, with lids where the mesh has them, and a picture to go with it.
 * Enough for everything but the nets.
 */
export function drawnFace(size = 240): { picture: Picture; mesh: Float32Array } {
  const middle = size / 2
  const mesh = new Float32Array(468 * 3)
  for (let index = 0; index < 468; index++) {
    // A sunflower's order spreads points evenly over a disc.
    const radius = Math.sqrt((index + 0.5) / 468)
    const angle = index * 2.399963
    mesh.set(onBall({ x: radius * Math.cos(angle), y: radius * Math.sin(angle) }, size), index * 3)
  }
  for (const [place, index] of OUTLINE.entries()) {
    const angle = (place / OUTLINE.length) * 2 * Math.PI - Math.PI / 2
    mesh.set(onBall({ x: 1.02 * Math.cos(angle), y: 1.02 * Math.sin(angle) }, size), index * 3)
  }
  for (const [side, { upper, lower }] of LIDS.entries()) {
    const centre = { x: side === 0 ? -0.4 : 0.4, y: -0.25 }
    for (const [rim, sign] of [
      [upper, -1],
      [lower, 1],
    ] as const) {
      for (const [step, index] of rim.entries()) {
        const share = step / (rim.length - 1)
        const y = centre.y + sign * 0.08 * Math.sin(Math.PI * share)
        mesh.set(onBall({ x: centre.x + (share - 0.5) * 0.5, y }, size), index * 3)
      }
    }
  }
  return { picture: paint(size, middle, mesh), mesh }
}

/** Radius of the face, as a share of the picture. */
const FACE_RADIUS = 0.3

function onBall({ x, y }: { x: number; y: number }, size: number): [number, number, number] {
  const depth = Math.sqrt(Math.max(0, 1.1 - x * x - y * y))
  return [
    size / 2 + x * FACE_RADIUS * size,
    size / 2 + y * FACE_RADIUS * 1.25 * size,
    -depth * FACE_RADIUS * 0.6 * size,
  ]
}

/** Skin that shades from side to side, white eyes with a dark middle, a grey wall. */
function paint(size: number, middle: number, mesh: Float32Array): Picture {
  const data = new Uint8ClampedArray(size * size * 4)
  const eyes = [159, 386].map((top, side) => ({
    x: mesh[top * 3] ?? 0,
    y: ((mesh[top * 3 + 1] ?? 0) + (mesh[(side === 0 ? 145 : 374) * 3 + 1] ?? 0)) / 2,
  }))
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const [x, y] = [(column - middle) / (FACE_RADIUS * size), (row - middle) / (FACE_RADIUS * 1.25 * size)]
      const isFace = x * x + y * y < 1
      const eye = eyes.find((place) => Math.hypot((column - place.x) / 17, (row - place.y) / 7) < 1)
      const colour = eye
        ? eyeColour(Math.hypot(column - eye.x, row - eye.y))
        : isFace
          ? [205 + 20 * x, 160 + 20 * x, 140]
          : [120, 125, 130]
      data.set([...colour, 255], (row * size + column) * 4)
    }
  }
  return { width: size, height: size, data }
}

function eyeColour(distance: number): number[] {
  return distance < 5 ? [30, 25, 20] : [240, 240, 240]
}

const OUTLINE = [
  10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377, 152, 148, 176, 149, 150, 136,
  172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
]

const LIDS = [
  { upper: [33, 246, 161, 160, 159, 158, 157, 173, 133], lower: [33, 7, 163, 144, 145, 153, 154, 155, 133] },
  { upper: [362, 398, 384, 385, 386, 387, 388, 466, 263], lower: [362, 382, 381, 380, 374, 373, 390, 249, 263] },
]
