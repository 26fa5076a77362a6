/** Builds an ONNX file (opset 13, IR 8) node by node. The bytes depend on nothing but the calls. */
import { numbersOf, type Stored } from './array.ts'
import { createMessage, type Message } from './protobuf.ts'

export type Attribute = number | string | readonly number[]
export type Attributes = Readonly<Record<string, Attribute>>
/** A dimension that is not fixed has a name. */
export type Dimension = number | string

export interface Value {
  name: string
  dims: readonly Dimension[]
}

export interface OnnxGraph {
  /** Weights in the type they are stored in; what a node gets is in full precision. */
  weights(array: Stored): string
  /** Whole numbers, as shapes and axes are given. */
  indices(values: readonly number[]): string
  /** A node with one output, whose name is returned. */
  node(type: string, inputs: readonly string[], attributes?: Attributes): string
  /** Gives a node's output the name that the net's user reads. */
  output(from: string, value: Value): void
  finish(input: Value): Uint8Array
}

const OPSET = 13
const IR_VERSION = 8
const FLOAT = 1
const UINT8 = 2
const INT64 = 7
const FLOAT16 = 10
/** A compressed array of so few numbers would cost more in nodes than it saves. */
const SMALL = 64

export function createOnnxGraph(name: string): OnnxGraph {
  const nodes: Message[] = []
  const initializers: Message[] = []
  const outputs: Value[] = []
  let count = 0
  const nextName = () => `t${++count}`

  const constant = (type: number, shape: readonly number[], raw: Uint8Array): string => {
    const constantName = nextName()
    initializers.push(tensor({ name: constantName, type, shape, raw }))
    return constantName
  }
  const full = (shape: readonly number[], numbers: readonly number[]) =>
    constant(FLOAT, shape, bytesOf(Float32Array.from(numbers)))
  const node: OnnxGraph['node'] = (type, inputs, attributes = {}) => {
    const output = nextName()
    nodes.push(describeNode({ type, inputs, output, attributes }))
    return output
  }
  return {
    node,
    weights(array) {
      if (array.type === 'float32' || array.type === 'int32' || array.values.length <= SMALL)
        return full(array.shape, numbersOf(array))
      if (array.type === 'float16')
        return node('Cast', [constant(FLOAT16, array.shape, bytesOf(array.values))], { to: FLOAT })
      const bytes = node('Cast', [constant(UINT8, array.shape, bytesOf(array.values))], { to: FLOAT })
      return node('Add', [node('Mul', [bytes, full([], [array.scale])]), full([], [array.min])])
    },
    indices: (values) => constant(INT64, [values.length], bytesOf(BigInt64Array.from(values, BigInt))),
    output(from, value) {
      nodes.push(describeNode({ type: 'Identity', inputs: [from], output: value.name, attributes: {} }))
      outputs.push(value)
    },
    finish(input) {
      const graph = createMessage()
      for (const each of nodes) graph.message(1, each)
      graph.text(2, name)
      for (const each of initializers) graph.message(5, each)
      graph.message(11, describeValue(input))
      for (const each of outputs) graph.message(12, describeValue(each))
      return (
        createMessage()
          .int(1, IR_VERSION)
          // The producer's name is part of the released bytes, which are pinned: it stays.
          .text(2, 'ostiary tools/models')
          .message(7, graph)
          .message(8, createMessage().text(1, '').int(2, OPSET))
          .finish()
      )
    },
  }
}

function bytesOf(values: Float32Array | Uint16Array | Uint8Array | BigInt64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}

interface TensorFacts {
  name: string
  type: number
  shape: readonly number[]
  raw: Uint8Array
}

function tensor({ name, type, shape, raw }: TensorFacts): Message {
  const message = createMessage()
  for (const size of shape) message.int(1, size)
  return message.int(2, type).text(8, name).bytes(9, raw)
}

interface NodeFacts {
  type: string
  inputs: readonly string[]
  output: string
  attributes: Attributes
}

function describeNode({ type, inputs, output, attributes }: NodeFacts): Message {
  const message = createMessage()
  for (const input of inputs) message.text(1, input)
  message.text(2, output).text(4, type)
  for (const [name, value] of Object.entries(attributes)) message.message(5, describeAttribute(name, value))
  return message
}

/** Every attribute we write is a whole number, a list of them, or a text. */
function describeAttribute(name: string, value: Attribute): Message {
  const message = createMessage().text(1, name)
  if (typeof value === 'number') return message.int(3, value).int(20, 2)
  if (typeof value === 'string') return message.text(4, value).int(20, 3)
  for (const each of value) message.int(8, each)
  return message.int(20, 7)
}

function describeValue({ name, dims }: Value): Message {
  const shape = createMessage()
  for (const size of dims)
    shape.message(1, typeof size === 'number' ? createMessage().int(1, size) : createMessage().text(2, size))
  const type = createMessage().message(1, createMessage().int(1, FLOAT).message(2, shape))
  return createMessage().text(1, name).message(2, type)
}
