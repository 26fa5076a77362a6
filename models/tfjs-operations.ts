/** Converts each TensorFlow operation of our nets to ONNX. */
import { reshape, type Stored, transpose } from './array.ts'
import type { Conversion, GraphNode, Layout, Placed } from './tfjs-types.ts'

type Convert = (conversion: Conversion, node: GraphNode) => Placed

const convolution: Convert = (conversion, node) => {
  const [picture, filterInput, bias] = inputsOf(node)
  const stored = known(conversion.weightsOf(filterInput), node)
  const depthwise = node.op.includes('epthwise')
  const filter = depthwise ? depthwiseFilter(stored) : transpose(stored, [3, 2, 0, 1])
  const inputs = [conversion.take(picture, 'NCHW'), conversion.addWeights(filter)]
  if (fusedWith(node).includes('BiasAdd')) inputs.push(conversion.addWeights(known(conversion.weightsOf(bias), node)))
  const strides = listOf(node, 'strides').slice(1, 3)
  const dilations = listOf(node, 'dilations').slice(1, 3)
  const name = conversion.graph.node('Conv', inputs, {
    strides,
    dilations: dilations.length === 2 ? dilations : [1, 1],
    group: depthwise ? (stored.shape[2] ?? 1) : 1,
    kernel_shape: filter.shape.slice(2),
    auto_pad: paddingOf(node),
  })
  return { name: activated(conversion, node, { name, layout: 'NCHW' }), layout: 'NCHW', rank: 4 }
}

/** Stored as height, width, channels, filters per channel. */
function depthwiseFilter(stored: Stored): Stored {
  const [height = 1, width = 1, channels = 1, each = 1] = stored.shape
  return reshape(transpose(stored, [2, 3, 0, 1]), [channels * each, 1, height, width])
}

const pooling =
  (type: 'MaxPool' | 'AveragePool'): Convert =>
  (conversion, node) => {
    const picture = conversion.take(inputsOf(node)[0], 'NCHW')
    const name = conversion.graph.node(type, [picture], {
      kernel_shape: listOf(node, 'ksize').slice(1, 3),
      strides: listOf(node, 'strides').slice(1, 3),
      auto_pad: paddingOf(node),
    })
    return { name, layout: 'NCHW', rank: 4 }
  }

const elementwise =
  (type: string): Convert =>
  (conversion, node) => {
    const inputs = node.input ?? []
    const placed = inputs.map(conversion.placed).filter((each) => each !== undefined)
    const rank = Math.max(...placed.map((each) => each.rank))
    const layout: Layout = rank === 4 && placed.some((each) => each.layout === 'NCHW') ? 'NCHW' : 'plain'
    const taken = inputs.map((input) => conversion.take(input, layout))
    return { name: conversion.graph.node(type, taken), layout, rank }
  }

const unary =
  (type: string): Convert =>
  (conversion, node) => {
    const from = placedInput(conversion, node)
    return { ...from, name: conversion.graph.node(type, [from.name]) }
  }

const softmax: Convert = (conversion, node) => {
  const { rank } = placedInput(conversion, node)
  const name = conversion.graph.node('Softmax', [conversion.take(inputsOf(node)[0], 'plain')], { axis: -1 })
  return { name, layout: 'plain', rank }
}

const pad: Convert = (conversion, node) => {
  const from = placedInput(conversion, node)
  const flat = conversion.indicesOf(inputsOf(node)[1])
  const axes = from.layout === 'NCHW' ? [0, 3, 1, 2] : Array.from({ length: flat.length / 2 }, (_, axis) => axis)
  const begins = axes.map((axis) => flat[2 * axis] ?? 0)
  const ends = axes.map((axis) => flat[2 * axis + 1] ?? 0)
  const name = conversion.graph.node('Pad', [from.name, conversion.graph.indices([...begins, ...ends])])
  return { ...from, name }
}

const reshaped: Convert = (conversion, node) => {
  const shape = conversion.indicesOf(inputsOf(node)[1])
  const from = conversion.take(inputsOf(node)[0], 'plain')
  const name = conversion.graph.node('Reshape', [from, conversion.graph.indices(shape)])
  return { name, layout: 'plain', rank: shape.length }
}

const reduction =
  (type: 'ReduceMean' | 'ReduceMax'): Convert =>
  (conversion, node) => {
    const { rank } = placedInput(conversion, node)
    const axes = conversion.indicesOf(inputsOf(node)[1])
    const keeps = node.attr?.keep_dims?.b === true
    const from = conversion.take(inputsOf(node)[0], 'plain')
    const name = conversion.graph.node(type, [from], { axes, keepdims: keeps ? 1 : 0 })
    return { name, layout: 'plain', rank: keeps ? rank : rank - axes.length }
  }

const matrixProduct: Convert = (conversion, node) => {
  const [left, right, bias] = inputsOf(node)
  const stored = known(conversion.weightsOf(right), node)
  const matrix = node.attr?.transpose_b?.b === true ? transpose(stored, [1, 0]) : stored
  let name = conversion.graph.node('MatMul', [conversion.take(left, 'plain'), conversion.addWeights(matrix)])
  if (fusedWith(node).includes('BiasAdd')) name = conversion.graph.node('Add', [name, conversion.take(bias, 'plain')])
  return { name: activated(conversion, node, { name, layout: 'plain' }), layout: 'plain', rank: 2 }
}

export const OPERATIONS: Readonly<Record<string, Convert>> = {
  _FusedConv2D: convolution,
  Conv2D: convolution,
  DepthwiseConv2dNative: convolution,
  FusedDepthwiseConv2dNative: convolution,
  MaxPool: pooling('MaxPool'),
  AvgPool: pooling('AveragePool'),
  AddV2: elementwise('Add'),
  Add: elementwise('Add'),
  Mul: elementwise('Mul'),
  Sub: elementwise('Sub'),
  Minimum: elementwise('Min'),
  Maximum: elementwise('Max'),
  Prelu: elementwise('PRelu'),
  Relu: unary('Relu'),
  Sigmoid: unary('Sigmoid'),
  Identity: unary('Identity'),
  Softmax: softmax,
  Pad: pad,
  Reshape: reshaped,
  Mean: reduction('ReduceMean'),
  Max: reduction('ReduceMax'),
  _FusedMatMul: matrixProduct,
  MatMul: matrixProduct,
}

/** What TensorFlow computes in one node with a convolution or product, after it. */
function activated(conversion: Conversion, node: GraphNode, value: { name: string; layout: Layout }): string {
  const { graph } = conversion
  return fusedWith(node).reduce((name, fused) => {
    switch (fused) {
      case 'BiasAdd':
        return name
      case 'Relu':
      case 'Sigmoid':
        return graph.node(fused, [name])
      case 'Relu6':
        return graph.node('Clip', [name, ...[0, 6].map((limit) => graph.weights(scalar(limit)))])
      case 'Prelu':
        return graph.node('PRelu', [name, conversion.take(node.input?.[3] ?? '', value.layout)])
      default:
        throw new Error(`${node.name} is fused with ${fused}, which is not known here`)
    }
  }, value.name)
}

function scalar(value: number): Stored {
  return { type: 'float32', shape: [], values: Float32Array.of(value) }
}

function inputsOf(node: GraphNode): [string, string, string] {
  const [first = '', second = '', third = ''] = node.input ?? []
  return [first, second, third]
}

function placedInput(conversion: Conversion, node: GraphNode): Placed {
  const [first] = inputsOf(node)
  const placed = conversion.placed(first)
  if (placed === undefined) throw new Error(`${node.name} comes before its input ${first}`)
  return placed
}

function known(stored: Stored | undefined, node: GraphNode): Stored {
  if (stored === undefined) throw new Error(`${node.name} has weights that are computed`)
  return stored
}

function listOf(node: GraphNode, name: string): number[] {
  return (node.attr?.[name]?.list?.i ?? []).map(Number)
}

function fusedWith(node: GraphNode): string[] {
  return (node.attr?.fused_ops?.list?.s ?? []).map(decoded)
}

function paddingOf(node: GraphNode): 'SAME_UPPER' | 'VALID' {
  const padding = decoded(node.attr?.padding?.s ?? '')
  if (padding === 'SAME') return 'SAME_UPPER'
  if (padding === 'VALID') return 'VALID'
  throw new Error(`${node.name} has the padding "${padding}", which is not known here`)
}

/** Texts stand in Base64 in the JSON. */
function decoded(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8')
}
