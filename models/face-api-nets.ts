/**
 * The two nets of face-api, which ship as weights without a graph: the order of the layers is written down here. Both take
 * NCHW, RGB from 0 to 255, and take away the mean themselves. The age net's second head (gender) is left out because
 * nothing here uses it.
 */
import { float32, reshape, type Stored, transpose } from './array.ts'
import { type Attributes, createOnnxGraph, type OnnxGraph } from './onnx-graph.ts'
import { type Weights, weightOf } from './tfjs-weights.ts'

const MEAN_RGB = [122.782, 117.001, 104.298]
/** Filters are stored as height, width, in, out; ONNX wants out, in, height, width. */
const FILTER = [3, 2, 0, 1]
/** Depthwise filters are stored as height, width, channel, 1; ONNX wants channel, 1, height, width. */
const DEPTHWISE = [2, 3, 0, 1]
const AGE_SIDE = 112
const FACE_SIDE = 150
const DESCRIPTOR = 128

interface Layers {
  graph: OnnxGraph
  weight(name: string): Stored
  relu(x: string): string
}

export function convertAgeNet(weights: Weights): Uint8Array {
  const layers = createLayers('fa_age', weights)
  const { graph, relu } = layers
  let x = relu(convolve(layers, normalised(graph), { name: 'entry_flow/conv_in', stride: 2 }))
  x = reduce(layers, x, { name: 'entry_flow/reduction_block_0', active: false })
  x = reduce(layers, x, { name: 'entry_flow/reduction_block_1', active: true })
  for (const block of [0, 1]) {
    let y = x
    for (const part of [0, 1, 2])
      y = separable(layers, relu(y), `middle_flow/main_block_${block}/separable_conv${part}`)
    x = graph.node('Add', [x, y])
  }
  x = reduce(layers, x, { name: 'exit_flow/reduction_block', active: true })
  x = relu(separable(layers, x, 'exit_flow/separable_conv'))
  x = graph.node('AveragePool', [x], { kernel_shape: [7, 7], strides: [2, 2] })
  x = graph.node('Flatten', [x])
  const age = [layers.weight('fc/age/weights'), layers.weight('fc/age/bias')]
  graph.output(graph.node('Gemm', [x, ...age.map(graph.weights)]), { name: 'age', dims: ['n', 1] })
  return graph.finish({ name: 'input', dims: ['n', 3, AGE_SIDE, AGE_SIDE] })
}

export function convertFaceNet(weights: Weights): Uint8Array {
  const layers = createLayers('dlib', weights)
  const { graph } = layers
  let x = scaled(layers, normalised(graph), { name: 'conv32_down', stride: 2, active: true })
  x = graph.node('MaxPool', [x], { kernel_shape: [3, 3], strides: [2, 2] })
  for (const name of ['conv32_1', 'conv32_2', 'conv32_3']) x = residual(layers, x, name)
  x = halve(layers, x, { name: 'conv64_down', side: 35, channelsIn: 32, channelsOut: 64 })
  for (const name of ['conv64_1', 'conv64_2', 'conv64_3']) x = residual(layers, x, name)
  x = halve(layers, x, { name: 'conv128_down', side: 17, channelsIn: 64, channelsOut: 128 })
  for (const name of ['conv128_1', 'conv128_2']) x = residual(layers, x, name)
  x = halve(layers, x, { name: 'conv256_down', side: 8, channelsIn: 128, channelsOut: 256 })
  for (const name of ['conv256_1', 'conv256_2']) x = residual(layers, x, name)
  x = halve(layers, x, { name: 'conv256_down_out', side: 4, channelsIn: 256, channelsOut: 256 })
  x = graph.node('ReduceMean', [x], { axes: [2, 3], keepdims: 0 })
  x = graph.node('MatMul', [x, graph.weights(layers.weight('fc'))])
  graph.output(x, { name: 'descriptor', dims: ['n', DESCRIPTOR] })
  return graph.finish({ name: 'input', dims: ['n', 3, FACE_SIDE, FACE_SIDE] })
}

function createLayers(name: string, weights: Weights): Layers {
  const graph = createOnnxGraph(name)
  return { graph, weight: (each) => weightOf(weights, each), relu: (x) => graph.node('Relu', [x]) }
}

function normalised(graph: OnnxGraph): string {
  const centred = graph.node('Sub', ['input', graph.weights(float32(MEAN_RGB, [1, 3, 1, 1]))])
  return graph.node('Mul', [centred, graph.weights(float32([1 / 255], []))])
}

function convolve({ graph, weight }: Layers, x: string, { name, stride }: { name: string; stride: number }): string {
  const filters = graph.weights(transpose(weight(`${name}/filters`), FILTER))
  return graph.node('Conv', [x, filters, graph.weights(weight(`${name}/bias`))], sameSize(stride))
}

/** A filter for each channel, then one that mixes them. */
function separable({ graph, weight }: Layers, x: string, name: string): string {
  const depthwise = transpose(weight(`${name}/depthwise_filter`), DEPTHWISE)
  const each = graph.node('Conv', [x, graph.weights(depthwise)], { ...sameSize(1), group: depthwise.shape[0] ?? 1 })
  const pointwise = transpose(weight(`${name}/pointwise_filter`), FILTER)
  return graph.node('Conv', [each, graph.weights(pointwise), graph.weights(weight(`${name}/bias`))], sameSize(1))
}

function reduce(layers: Layers, x: string, { name, active }: { name: string; active: boolean }): string {
  const { graph, relu } = layers
  let y = separable(layers, active ? relu(x) : x, `${name}/separable_conv0`)
  y = separable(layers, relu(y), `${name}/separable_conv1`)
  y = graph.node('MaxPool', [y], { kernel_shape: [3, 3], ...sameSize(2) })
  return graph.node('Add', [y, convolve(layers, x, { name: `${name}/expansion_conv`, stride: 2 })])
}

interface Scaled {
  name: string
  stride: number
  active: boolean
}

/** A convolution and what dlib puts after it: each channel by a factor, plus a constant. */
function scaled({ graph, weight, relu }: Layers, x: string, { name, stride, active }: Scaled): string {
  const filters = graph.weights(transpose(weight(`${name}/conv/filters`), FILTER))
  const padding = stride === 1 ? sameSize(1) : { auto_pad: 'VALID', strides: [stride, stride] }
  const y = graph.node('Conv', [x, filters, graph.weights(weight(`${name}/conv/bias`))], padding)
  const perChannel = (array: Stored) => graph.weights(reshape(array, [1, array.values.length, 1, 1]))
  const factor = graph.node('Mul', [y, perChannel(weight(`${name}/scale/weights`))])
  const sum = graph.node('Add', [factor, perChannel(weight(`${name}/scale/biases`))])
  return active ? relu(sum) : sum
}

function residual(layers: Layers, x: string, name: string): string {
  const first = scaled(layers, x, { name: `${name}/conv1`, stride: 1, active: true })
  const second = scaled(layers, first, { name: `${name}/conv2`, stride: 1, active: false })
  return layers.relu(layers.graph.node('Add', [second, x]))
}

interface Halving {
  name: string
  /** Of the picture that comes in. */
  side: number
  channelsIn: number
  channelsOut: number
}

/** Half the side: the way round has fewer channels, the convolved way may be a row short; zeros fill up both. */
function halve(layers: Layers, x: string, { name, side, channelsIn, channelsOut }: Halving): string {
  const { graph, relu } = layers
  const first = scaled(layers, x, { name: `${name}/conv1`, stride: 2, active: true })
  let convolved = scaled(layers, first, { name: `${name}/conv2`, stride: 1, active: false })
  let pooled = graph.node('AveragePool', [x], { kernel_shape: [2, 2], strides: [2, 2] })
  const rows = Math.floor((side - 2) / 2) - Math.floor((side - 3) / 2)
  if (rows > 0) convolved = graph.node('Pad', [convolved, graph.indices([0, 0, 0, 0, 0, 0, rows, rows])])
  const channels = channelsOut - channelsIn
  if (channels > 0) pooled = graph.node('Pad', [pooled, graph.indices([0, 0, 0, 0, 0, channels, 0, 0])])
  return relu(graph.node('Add', [pooled, convolved]))
}

function sameSize(stride: number): Attributes {
  return { auto_pad: 'SAME_UPPER', strides: [stride, stride] }
}
