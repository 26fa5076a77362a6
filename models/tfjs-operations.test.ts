import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNet } from './node-nets.ts'
import { convertGraphModel, type GraphModel } from './tfjs-graph.ts'
import type { GraphNode } from './tfjs-types.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const SAME = { s: base64('SAME') }
const ONES = { list: { i: [1, 1, 1, 1] } }

/** A graph model of some nodes after an input of 1 x 2 x 2 x 2, with weights by name. */
function model(nodes: GraphNode[], weights: Record<string, { shape: number[]; values: number[] }>) {
  const entries = Object.entries(weights)
  const placeholder = { shape: { shape: { dim: [-1, 2, 2, 2].map((size) => ({ size })) } } }
  const graph: GraphModel = {
    modelTopology: {
      node: [
        ...entries.map(([name]) => ({ name, op: 'Const' })),
        { name: 'x', op: 'Placeholder', attr: placeholder },
        ...nodes,
      ],
    },
    weightsManifest: [
      { paths: ['w.bin'], weights: entries.map(([name, { shape }]) => ({ name, shape, dtype: 'float32' })) },
    ],
  }
  const file = new Uint8Array(Float32Array.from(entries.flatMap(([, { values }]) => values)).buffer)
  return { graph, file }
}

/** Two channels in a picture of 2 x 2: the first 1, 2, 3, 4, the second ten times that. */
const PICTURE = { dims: [1, 2, 2, 2], data: Float32Array.of(1, 10, 2, 20, 3, 30, 4, 40) }

async function run(nodes: GraphNode[], weights: Parameters<typeof model>[1], dims: number[]): Promise<number[]> {
  const { graph, file } = model(nodes, weights)
  const outputs = [{ node: nodes.at(-1)?.name ?? '', name: 'y', dims }]
  const net = await createNet(convertGraphModel(graph, file, { outputs, half: false }))
  const { y } = await net.run(PICTURE)
  assert.deepEqual(y?.dims, dims)
  return [...(y?.data ?? [])]
}

test('a convolution mixes channels, adds its bias and cuts off what is fused with it', async () => {
  const attr = { strides: ONES, padding: SAME, fused_ops: { list: { s: ['BiasAdd', 'Relu'].map(base64) } } }
  const node = { name: 'conv', op: '_FusedConv2D', input: ['x', 'filter', 'bias'], attr }
  const filter = { shape: [1, 1, 2, 1], values: [1, -0.2] }
  const bias = { shape: [1], values: [2.5] }
  assert.deepEqual(await run([node], { filter, bias }, [1, 2, 2, 1]), [1.5, 0.5, 0, 0])
})

test('a depthwise convolution keeps channels apart, and its border is filled up below and to the right', async () => {
  const node = {
    name: 'conv',
    op: 'DepthwiseConv2dNative',
    input: ['x', 'filter'],
    attr: { strides: ONES, padding: SAME },
  }
  // Height, width, channel: the sum of a pixel and the one to its right, the second channel times 1 and 0.
  const filter = { shape: [1, 2, 2, 1], values: [1, 1, 1, 0] }
  assert.deepEqual(await run([node], { filter }, [1, 2, 2, 2]), [3, 10, 2, 20, 7, 30, 4, 40])
})

test('a slope for each channel bends what is below zero', async () => {
  const nodes = [
    { name: 'low', op: 'Sub', input: ['x', 'three'] },
    { name: 'bent', op: 'Prelu', input: ['low', 'slope'] },
  ]
  const weights = { three: { shape: [1], values: [3] }, slope: { shape: [1, 1, 2], values: [0.5, 1] } }
  assert.deepEqual(await run(nodes, weights, [1, 2, 2, 2]), [-1, 7, -0.5, 17, 0, 27, 1, 37])
})

test('after a convolution values are given back the way TensorFlow has them', async () => {
  const attr = { strides: ONES, padding: SAME }
  const nodes = [
    { name: 'conv', op: 'Conv2D', input: ['x', 'swap'], attr },
    { name: 'both', op: 'AddV2', input: ['conv', 'x'] },
    { name: 'wide', op: 'Pad', input: ['both', 'paddings'] },
    { name: 'flat', op: 'Reshape', input: ['wide', 'shape'] },
  ]
  const weights = {
    swap: { shape: [1, 1, 2, 2], values: [0, 2, 1, 0] },
    paddings: { shape: [4, 2], values: [0, 0, 0, 0, 0, 0, 0, 1] },
    shape: { shape: [2], values: [1, 12] },
  }
  // The swapped channels are 10 and 2, 20 and 4, ...; the picture is added, and an empty third channel put behind them.
  assert.deepEqual(await run(nodes, weights, [1, 12]), [11, 12, 0, 22, 24, 0, 33, 36, 0, 44, 48, 0])
})

test('values are held between two limits', async () => {
  const nodes = [
    { name: 'least', op: 'Maximum', input: ['x', 'two'] },
    { name: 'most', op: 'Minimum', input: ['least', 'twenty'] },
  ]
  const weights = { two: { shape: [], values: [2] }, twenty: { shape: [], values: [20] } }
  assert.deepEqual(await run(nodes, weights, [1, 2, 2, 2]), [2, 10, 2, 20, 3, 20, 4, 20])
})

test('pooling, means and products come out as computed by hand', async () => {
  const attr = { strides: { list: { i: [1, 2, 2, 1] } }, ksize: { list: { i: [1, 2, 2, 1] } }, padding: SAME }
  assert.deepEqual(await run([{ name: 'p', op: 'MaxPool', input: ['x'], attr }], {}, [1, 1, 1, 2]), [4, 40])
  assert.deepEqual(await run([{ name: 'p', op: 'AvgPool', input: ['x'], attr }], {}, [1, 1, 1, 2]), [2.5, 25])
  const nodes = [
    { name: 'mean', op: 'Mean', input: ['x', 'axes'], attr: { keep_dims: { b: false } } },
    { name: 'product', op: 'MatMul', input: ['mean', 'matrix'], attr: { transpose_b: { b: true } } },
    { name: 'out', op: 'Identity', input: ['product:0', '^mean'] },
  ]
  const weights = { axes: { shape: [2], values: [1, 2] }, matrix: { shape: [1, 2], values: [2, 0.1] } }
  assert.deepEqual(await run(nodes, weights, [1, 1]), [7.5])
})

test('an operation or a padding that is not known is refused', async () => {
  await assert.rejects(run([{ name: 'y', op: 'Einsum', input: ['x'] }], {}, [1]), /Einsum/)
  const attr = { strides: ONES, padding: { s: base64('EXPLICIT') } }
  const conv = { name: 'y', op: 'Conv2D', input: ['x', 'f'], attr }
  await assert.rejects(run([conv], { f: { shape: [1, 1, 2, 1], values: [1, 1] } }, [1]), /EXPLICIT/)
})
