import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { float32 } from './array.ts'
import { createNet, loadNetFromDisk } from './node-nets.ts'
import { createOnnxGraph } from './onnx-graph.ts'

const folder = mkdtempSync(join(tmpdir(), 'ostiary-node-nets-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('without models on disk the error says what to run', async () => {
  await assert.rejects(loadNetFromDisk(folder)('blazeface'), /run tools\/bootstrap/)
})

test('a net that the manifest does not list is refused by its name', async () => {
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ id: 'x', hash: 'x', nets: [] }))
  await assert.rejects(loadNetFromDisk(folder)('fr_eye'), /no fr_eye/)
})

test('a net gives its outputs by their names', async () => {
  const graph = createOnnxGraph('test')
  graph.output(graph.node('Add', ['input', graph.weights(float32([1]))]), { name: 'more', dims: [2] })
  graph.output(graph.node('Mul', ['input', graph.weights(float32([10]))]), { name: 'tenfold', dims: [2] })
  const net = await createNet(graph.finish({ name: 'input', dims: [2] }))
  const { more, tenfold } = await net.run({ dims: [2], data: Float32Array.of(1, 2) })
  assert.deepEqual(more, { dims: [2], data: Float32Array.of(2, 3) })
  assert.deepEqual(tenfold, { dims: [2], data: Float32Array.of(10, 20) })
})
