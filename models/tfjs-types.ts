/** What the graph converter and the conversions of single operations share. */
import type { Stored } from './array.ts'
import type { OnnxGraph } from './onnx-graph.ts'

export interface GraphNode {
  name: string
  op: string
  input?: string[]
  attr?: Record<string, GraphAttribute>
}

export interface GraphAttribute {
  i?: string | number
  b?: boolean
  s?: string
  list?: { i?: (string | number)[]; s?: string[] }
  shape?: { dim: { size: string | number }[] }
}

export type Layout = 'NCHW' | 'plain'

/** A value in the ONNX graph. `plain` is as TensorFlow has it. */
export interface Placed {
  name: string
  layout: Layout
  rank: number
}

export interface Conversion {
  graph: OnnxGraph
  /** The weights behind an input, or undefined when it is computed. */
  weightsOf(input: string): Stored | undefined
  /** Whole numbers that are part of the graph: shapes, axes, paddings. */
  indicesOf(input: string): number[]
  placed(input: string): Placed | undefined
  /** Adds weights, in half precision if the net is to have that. */
  addWeights(array: Stored): string
  /** The name of an input in a layout; turns it round if it is the other way. */
  take(input: string, layout: Layout): string
}
