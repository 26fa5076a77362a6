/**
 * Turns a TensorFlow.js graph model into ONNX: only the operations our nets have, only what leads to the wanted outputs.
 * TensorFlow keeps pictures as NHWC and ONNX convolves NCHW, so each value remembers which it is and is turned when asked
 * for the other way; between convolutions nothing is turned.
 */
import { numbersOf, reshape, type Stored, toHalf, transpose } from './array.ts'
import { createOnnxGraph, type Dimension, type OnnxGraph } from './onnx-graph.ts'
import { OPERATIONS } from './tfjs-operations.ts'
import type { Conversion, GraphNode, Placed } from './tfjs-types.ts'
import { readWeights, type Weights, type WeightsManifest } from './tfjs-weights.ts'

export interface GraphModel {
  modelTopology: { node: GraphNode[] }
  weightsManifest: WeightsManifest
}

export interface Wanted {
  /** Names of nodes, each with the name its output gets and its dimensions. */
  outputs: readonly { node: string; name: string; dims: readonly Dimension[] }[]
  /** Weights stored in full precision are kept in half. */
  half: boolean
}

export function parseGraphModel(text: string): GraphModel {
  const parsed = JSON.parse(text) as GraphModel
  if (!Array.isArray(parsed.modelTopology?.node) || !Array.isArray(parsed.weightsManifest))
    throw new Error('this is not a TensorFlow.js graph model')
  return parsed
}

export function convertGraphModel(model: GraphModel, file: Uint8Array, wanted: Wanted): Uint8Array {
  const weights = readWeights(model.weightsManifest, file)
  const nodes = new Map(model.modelTopology.node.map((node) => [node.name, node]))
  const graph = createOnnxGraph('converted')
  const values = new Map<string, Placed>()
  const conversion = createConversion({ graph, weights, values, half: wanted.half })
  let inputDims: readonly number[] | undefined
  const names = wanted.outputs.map(({ node }) => node)
  for (const node of inOrder(nodes, names)) {
    if (node.op === 'Const') continue
    if (node.op === 'Placeholder') {
      inputDims = [1, ...dimensionsOf(node).slice(1)]
      values.set(node.name, { name: 'input', layout: 'plain', rank: inputDims.length })
      continue
    }
    const convert = OPERATIONS[node.op]
    if (convert === undefined) throw new Error(`the operation ${node.op} (${node.name}) is not known here`)
    values.set(node.name, convert(conversion, node))
  }
  if (inputDims === undefined) throw new Error('the graph has no input')
  for (const { node, name, dims } of wanted.outputs) graph.output(conversion.take(node, 'plain'), { name, dims })
  return graph.finish({ name: 'input', dims: inputDims })
}

/** An input is a node's name, with the number of its output or a mark for a control dependency if needed. */
export function nodeOf(input: string): string {
  return input.replace(/^\^/, '').replace(/:\d+$/, '')
}

/** The nodes that lead to the wanted ones, each after those it needs. */
export function inOrder(nodes: ReadonlyMap<string, GraphNode>, wanted: readonly string[]): GraphNode[] {
  const order: GraphNode[] = []
  const seen = new Set<string>()
  const visit = (name: string) => {
    if (seen.has(name)) return
    seen.add(name)
    const node = nodes.get(name)
    if (node === undefined) throw new Error(`the graph has no node ${name}`)
    for (const input of node.input ?? []) visit(nodeOf(input))
    order.push(node)
  }
  for (const name of wanted) visit(name)
  return order
}

function dimensionsOf(node: GraphNode): number[] {
  return (node.attr?.shape?.shape?.dim ?? []).map(({ size }) => Number(size))
}

interface ConversionFacts {
  graph: OnnxGraph
  weights: Weights
  values: ReadonlyMap<string, Placed>
  half: boolean
}

function createConversion({ graph, weights, values, half }: ConversionFacts): Conversion {
  const turned = new Map<string, string>()
  const addWeights = (array: Stored) => graph.weights(half ? toHalf(array) : array)
  const weightsOf = (input: string) => weights.get(nodeOf(input))
  return {
    graph,
    addWeights,
    weightsOf,
    indicesOf(input) {
      const array = weightsOf(input)
      if (array === undefined) throw new Error(`${input} is computed, not a constant`)
      return numbersOf(array)
    },
    placed: (input) => values.get(nodeOf(input)),
    take(input, layout) {
      const array = weightsOf(input)
      if (array !== undefined) return addWeights(layout === 'NCHW' ? channelsFirst(array) : array)
      const value = values.get(nodeOf(input))
      if (value === undefined) throw new Error(`${input} comes before it is computed`)
      if (value.layout === layout || value.rank !== 4) return value.name
      const key = `${value.name} ${layout}`
      const known = turned.get(key)
      if (known !== undefined) return known
      const name = graph.node('Transpose', [value.name], { perm: layout === 'NCHW' ? [0, 3, 1, 2] : [0, 2, 3, 1] })
      turned.set(key, name)
      return name
    },
  }
}

/** Weights that meet a picture in NCHW: one number per channel, or a picture themselves. */
function channelsFirst(array: Stored): Stored {
  const { shape } = array
  if (shape.length === 1 && array.values.length > 1) return reshape(array, [array.values.length, 1, 1])
  if (shape.length === 3) return transpose(array, [2, 0, 1])
  if (shape.length === 4) return transpose(array, [0, 3, 1, 2])
  return array
}
