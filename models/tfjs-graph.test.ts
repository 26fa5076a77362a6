import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inOrder, nodeOf, parseGraphModel } from './tfjs-graph.ts'
import type { GraphNode } from './tfjs-types.ts'

test('only what leads to a wanted output is converted, each node after those it needs', () => {
  const nodes: GraphNode[] = [
    { name: 'c', op: 'Add', input: ['b:0', 'a'] },
    { name: 'b', op: 'Relu', input: ['a', '^a'] },
    { name: 'a', op: 'Placeholder' },
    { name: 'other', op: 'Unknown', input: ['a'] },
  ]
  const byName = new Map(nodes.map((node) => [node.name, node]))
  assert.deepEqual(
    inOrder(byName, ['c']).map(({ name }) => name),
    ['a', 'b', 'c'],
  )
  assert.equal(nodeOf('^some/node:1'), 'some/node')
  assert.throws(() => inOrder(byName, ['d']), /no node d/)
})

test('a file that holds no graph is refused', () => {
  assert.throws(() => parseGraphModel('{}'), /not a TensorFlow.js graph model/)
  assert.throws(() => parseGraphModel('{"modelTopology":{"node":[]}}'), /not a TensorFlow.js graph model/)
})
