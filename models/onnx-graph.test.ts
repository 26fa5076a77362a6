import assert from 'node:assert/strict'
import { test } from 'node:test'
import { float32, type Stored, toHalf } from './array.ts'
import { createNet } from './node-nets.ts'
import { createOnnxGraph } from './onnx-graph.ts'

const ramp = Array.from({ length: 80 }, (_, index) => index / 4)

function addingNet(weights: Stored): Uint8Array {
  const graph = createOnnxGraph('test')
  graph.output(graph.node('Add', ['input', graph.weights(weights)]), { name: 'sum', dims: ['n', 80] })
  return graph.finish({ name: 'input', dims: ['n', 80] })
}

const STORED: readonly Stored[] = [
  float32(ramp),
  toHalf(float32(ramp)),
  { type: 'uint8', shape: [80], values: Uint8Array.from(ramp.keys()), scale: 0.25, min: 0 },
]

for (const weights of STORED)
  test(`a net with weights stored as ${weights.type} computes with the numbers they stand for`, async () => {
    const net = await createNet(addingNet(weights))
    const data = new Float32Array(160).fill(1)
    const { sum } = await net.run({ dims: [2, 80], data })
    assert.deepEqual(sum?.dims, [2, 80])
    assert.deepEqual(
      [...(sum?.data ?? [])],
      [...ramp, ...ramp].map((value) => value + 1),
    )
  })

test('weights stored in fewer bits make a smaller file, and the same calls the same bytes', () => {
  const [full = 0, half = 0, byte = 0] = STORED.map((weights) => addingNet(weights).length)
  assert.ok(full > half && half > byte, `${full} ${half} ${byte}`)
  assert.deepEqual(addingNet(float32(ramp)), addingNet(float32(ramp)))
})

test('attributes that are numbers, lists and texts arrive', async () => {
  const graph = createOnnxGraph('test')
  const pooled = graph.node('MaxPool', ['input'], { kernel_shape: [2, 2], strides: [2, 2], auto_pad: 'SAME_UPPER' })
  graph.output(graph.node('Softmax', [pooled], { axis: -1 }), { name: 'out', dims: [1, 1, 2, 2] })
  const net = await createNet(graph.finish({ name: 'input', dims: [1, 1, 3, 3] }))
  const { out } = await net.run({ dims: [1, 1, 3, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 8) })
  // The largest of each 2 x 2 is 5 and 6, then 8 and 8: of these the rows are weighed.
  const expected = [1 / (1 + Math.E), Math.E / (1 + Math.E), 0.5, 0.5]
  for (const [index, value] of expected.entries()) assert.ok(Math.abs((out?.data[index] ?? 0) - value) < 1e-6)
})
