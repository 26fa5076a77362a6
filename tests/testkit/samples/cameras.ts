/** Portraits as a camera would give them: the face in the oval, in less light, with the noise of a sensor. */
import { type Box, ovalFor, type Picture } from '@ostiary/faces'

export interface Room {
  /** 1 is the light of the portrait; a quarter means a quarter as many photons. */
  light: number
  /** How much the camera brightens a dark picture, at most: its noise grows with it. 1 is not at all. */
  gainMax?: number
}

const SIZE = { width: 640, height: 480 } as const
/** The width of a well placed face, by that of the oval. */
const FILL = 0.8
/** Electrons of a white pixel in good light, and of the noise of reading one: a small sensor. */
const SENSOR = { white: 5000, read: 3 } as const

/** The portrait in a camera's picture with the face in the middle of the oval. Beyond its edges it is continued by its mirror image. */
export function beforeCamera(portrait: Picture, face: Box): Picture {
  const { width, height } = SIZE
  const oval = ovalFor(width, height)
  const scale = face.width / (2 * oval.rx * FILL)
  const [x0, y0] = [face.x + face.width / 2, face.y + face.height / 2]
  const data = new Uint8ClampedArray(width * height * 4)
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at += 4)
      sample(portrait, { x: x0 + (x - oval.x) * scale, y: y0 + (y - oval.y) * scale }, data, at)
  return { width, height, data }
}

function sample({ width, height, data }: Picture, place: { x: number; y: number }, to: Uint8ClampedArray, at: number) {
  const [x, y] = [reflected(place.x, width - 1), reflected(place.y, height - 1)]
  const [left, top] = [Math.min(width - 2, Math.floor(x)), Math.min(height - 2, Math.floor(y))]
  const [right, down] = [x - left, y - top]
  const from = (top * width + left) * 4
  for (let channel = from; channel < from + 3; channel++) {
    const below = channel + width * 4
    const upper = (data[channel] ?? 0) * (1 - right) + (data[channel + 4] ?? 0) * right
    const lower = (data[below] ?? 0) * (1 - right) + (data[below + 4] ?? 0) * right
    to[at + channel - from] = upper * (1 - down) + lower * down
  }
  to[at + 3] = 255
}

function reflected(x: number, end: number): number {
  const within = Math.abs(x) % (2 * end)
  return within > end ? 2 * end - within : within
}

/** The same picture in a darker room: fewer photons, their noise and that of the sensor. Equal calls give equal pictures. */
export function inRoom({ width, height, data }: Picture, { light, gainMax = 1 }: Room): Picture {
  const gain = Math.min(gainMax, 1 / light)
  const dim = new Uint8ClampedArray(data.length)
  const linear = Float32Array.from({ length: 256 }, (_, value) => toLinear(value / 255))
  const draw = createDraw()
  for (let at = 0; at < data.length; at++) {
    if (at % 4 === 3) {
      dim[at] = 255
      continue
    }
    const electrons = SENSOR.white * light * (linear[data[at] ?? 0] ?? 0)
    const seen = electrons + draw() * Math.sqrt(electrons + SENSOR.read ** 2)
    dim[at] = 255 * toShown(Math.max(0, (gain * seen) / SENSOR.white))
  }
  return { width, height, data: dim }
}

/** The curve of sRGB, and back. */
const toLinear = (shown: number) => (shown <= 0.04045 ? shown / 12.92 : ((shown + 0.055) / 1.055) ** 2.4)
const toShown = (linear: number) => (linear <= 0.0031308 ? linear * 12.92 : 1.055 * linear ** (1 / 2.4) - 0.055)

/** Normally distributed numbers, nearly: always the same ones. */
function createDraw(): () => number {
  let state = 12_345
  const uniform = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return () => 2 * (uniform() + uniform() + uniform() - 1.5)
}
