/**
 * The net that names a character: three convolutions and two full layers, about 17,000 weights of one byte. It says which of 37
 * characters a cell shows or that it shows nothing, and how far the character stands from the middle of the cell.
 */
import { MRZ_CHARACTERS } from '../types.ts'
import { CELL_HEIGHT, CELL_SIZE, CELL_WIDTH } from './grid.ts'
import { addKernels } from './kernels.ts'

export const NOTHING = MRZ_CHARACTERS.length
export const CLASSES = NOTHING + 1
/** Classes, then the offset to the right and downwards. */
export const OUTPUTS = CLASSES + 2
/** Offsets are learned in quarters of a pitch, so that they weigh as much as the classes. */
export const OFFSET_UNIT = 0.25

const CHANNELS = [1, 8, 16, 24] as const
const HIDDEN = 64
const FLAT = (CHANNELS[3] * CELL_WIDTH * CELL_HEIGHT) / 64

export interface LayerShape {
  outputs: number
  /** Numbers that go into one output: channels times nine for a convolution. */
  inputs: number
}

export const LAYERS: readonly LayerShape[] = [
  { outputs: CHANNELS[1], inputs: CHANNELS[0] * 9 },
  { outputs: CHANNELS[2], inputs: CHANNELS[1] * 9 },
  { outputs: CHANNELS[3], inputs: CHANNELS[2] * 9 },
  { outputs: HIDDEN, inputs: FLAT },
  { outputs: OUTPUTS, inputs: HIDDEN },
]

export interface Layer {
  weights: Float64Array
  biases: Float64Array
}

export interface NetAnswer {
  /** CLASSES numbers for each cell; they sum to 1. */
  probabilities: Float32Array
  /** Right and down for each cell, in pitches. */
  offsets: Float32Array
}

export type Net = (cells: Float32Array, count: number) => NetAnswer

export function createNet(layers: readonly Layer[]): Net {
  const [first, second, third, fourth, fifth] = layers as [Layer, Layer, Layer, Layer, Layer]
  const [sizeA, sizeB, sizeC] = SIZES
  const input = plane(1, sizeA)
  const planeB = plane(CHANNELS[1], sizeB)
  const planeC = plane(CHANNELS[2], sizeC)
  const flat = new Float64Array(FLAT)
  const hidden = new Float64Array(HIDDEN)
  const outputs = new Float64Array(OUTPUTS)
  return (cells, count) => {
    const probabilities = new Float32Array(count * CLASSES)
    const offsets = new Float32Array(count * 2)
    for (let cell = 0; cell < count; cell++) {
      fillPlane(input, cells, cell * CELL_SIZE)
      convolve(input, first, planeB, { from: 1, to: CHANNELS[1], size: sizeA, isBordered: true })
      convolve(planeB, second, planeC, { from: CHANNELS[1], to: CHANNELS[2], size: sizeB, isBordered: true })
      convolve(planeC, third, flat, { from: CHANNELS[2], to: CHANNELS[3], size: sizeC, isBordered: false })
      multiply(flat, fourth, hidden, true)
      multiply(hidden, fifth, outputs, false)
      softmax(outputs, probabilities, cell * CLASSES)
      offsets[cell * 2] = (outputs[CLASSES] as number) * OFFSET_UNIT
      offsets[cell * 2 + 1] = (outputs[CLASSES + 1] as number) * OFFSET_UNIT
    }
    return { probabilities, offsets }
  }
}

interface Size {
  width: number
  height: number
}

/** Of the planes before each convolution; each is followed by a pooling of two by two. */
export const SIZES: readonly [Size, Size, Size] = [
  { width: CELL_WIDTH, height: CELL_HEIGHT },
  { width: CELL_WIDTH / 2, height: CELL_HEIGHT / 2 },
  { width: CELL_WIDTH / 4, height: CELL_HEIGHT / 4 },
]

/** Planes have a border of zeros, so that the loops below need no conditions. */
function plane(channels: number, { width, height }: Size): Float64Array {
  return new Float64Array(channels * (width + 2) * (height + 2))
}

function fillPlane(input: Float64Array, cells: Float32Array, from: number): void {
  for (let y = 0; y < CELL_HEIGHT; y++)
    for (let x = 0; x < CELL_WIDTH; x++)
      input[(y + 1) * (CELL_WIDTH + 2) + x + 1] = cells[from + y * CELL_WIDTH + x] as number
}

const evenSums = new Float64Array(CELL_SIZE)
const oddSums = new Float64Array(CELL_SIZE)

interface Convolution {
  from: number
  to: number
  size: Size
  /** Whether the next layer wants a border of zeros. */
  isBordered: boolean
}

/** Convolution of three by three, pooling by the largest of four, zero instead of less. */
function convolve(input: Float64Array, { weights, biases }: Layer, output: Float64Array, shape: Convolution): void {
  const { from, to, size, isBordered } = shape
  const { width, height } = size
  const area = (width + 2) * (height + 2)
  const outStride = isBordered ? width / 2 + 2 : width / 2
  const outArea = isBordered ? outStride * (height / 2 + 2) : outStride * (height / 2)
  const outFirst = isBordered ? outStride + 1 : 0
  for (let channel = 0; channel < to; channel += 2) {
    evenSums.fill(biases[channel] as number, 0, width * height)
    oddSums.fill(biases[channel + 1] as number, 0, width * height)
    for (let source = 0; source < from; source++) {
      const [one, other] = [(channel * from + source) * 9, ((channel + 1) * from + source) * 9]
      addKernels({
        input,
        first: source * area,
        width,
        height,
        weights,
        one,
        other,
        oneSums: evenSums,
        otherSums: oddSums,
      })
    }
    pool(evenSums, size, output, { first: channel * outArea + outFirst, stride: outStride })
    pool(oddSums, size, output, { first: (channel + 1) * outArea + outFirst, stride: outStride })
  }
}

function pool(
  sums: Float64Array,
  { width, height }: Size,
  output: Float64Array,
  { first, stride }: { first: number; stride: number },
): void {
  for (let y = 0; y < height / 2; y++)
    for (let x = 0, at = 2 * y * width; x < width / 2; x++, at += 2) {
      const upper = Math.max(sums[at] as number, sums[at + 1] as number)
      const lower = Math.max(sums[at + width] as number, sums[at + width + 1] as number)
      output[first + y * stride + x] = Math.max(0, upper, lower)
    }
}

function multiply(input: Float64Array, { weights, biases }: Layer, output: Float64Array, isCut: boolean): void {
  for (let to = 0; to < output.length; to++) {
    let sum = biases[to] as number
    const row = to * input.length
    for (let from = 0; from < input.length; from++) sum += (weights[row + from] as number) * (input[from] as number)
    output[to] = isCut && sum < 0 ? 0 : sum
  }
}

function softmax(outputs: Float64Array, probabilities: Float32Array, first: number): void {
  let largest = Number.NEGATIVE_INFINITY
  for (let at = 0; at < CLASSES; at++) largest = Math.max(largest, outputs[at] as number)
  let sum = 0
  for (let at = 0; at < CLASSES; at++) sum += Math.exp((outputs[at] as number) - largest)
  for (let at = 0; at < CLASSES; at++) probabilities[first + at] = Math.exp((outputs[at] as number) - largest) / sum
}

/** One byte per weight with one scale per output, then the biases as floats: as `weights.ts` has them. */
export function unpackLayers(packed: Uint8Array): Layer[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  let at = 0
  const float = () => {
    at += 4
    return view.getFloat32(at - 4, true)
  }
  return LAYERS.map(({ outputs, inputs }) => {
    const weights = new Float64Array(outputs * inputs)
    const biases = new Float64Array(outputs)
    for (let output = 0; output < outputs; output++) {
      biases[output] = float()
      const scale = float()
      for (let input = 0; input < inputs; input++) weights[output * inputs + input] = view.getInt8(at++) * scale
    }
    return { weights, biases }
  })
}

export function packLayers(layers: readonly Layer[]): Uint8Array {
  const size = LAYERS.reduce((sum, { outputs, inputs }) => sum + outputs * (inputs + 8), 0)
  const packed = new Uint8Array(size)
  const view = new DataView(packed.buffer)
  let at = 0
  const putFloat = (value: number) => {
    view.setFloat32(at, value, true)
    at += 4
  }
  LAYERS.forEach(({ outputs, inputs }, index) => {
    const { weights, biases } = layers[index] ?? { weights: new Float64Array(), biases: new Float64Array() }
    for (let output = 0; output < outputs; output++) {
      const row = weights.subarray(output * inputs, (output + 1) * inputs)
      const scale = row.reduce((largest, value) => Math.max(largest, Math.abs(value)), 1e-9) / 127
      putFloat(biases[output] ?? 0)
      putFloat(scale)
      for (const weight of row) view.setInt8(at++, Math.round(weight / scale))
    }
  })
  return packed
}
