import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyTo, squareTo } from './geometry.ts'
import { MESH_POINTS, meshInput, readMesh, squareOfDetection, squareOfMesh } from './mesh.ts'
import type { Tensor } from './types.ts'

const SQUARE = { centre: { x: 300, y: 200 }, side: 384, angle: 0.3 }

function netOutputs(points: Float32Array, probability = 0.9): Record<string, Tensor> {
  return {
    Identity_1: { dims: [1, 1], data: Float32Array.of(probability) },
    Identity_2: { dims: [1, MESH_POINTS * 3], data: points },
  }
}

test('a point of the mesh lies in the picture where the net saw it in the square', () => {
  const seen = applyTo(squareTo(SQUARE, 192), { x: 350, y: 170 })
  const points = new Float32Array(MESH_POINTS * 3)
  points.set([seen.x, seen.y, -10], 33 * 3)
  const { mesh, probability } = readMesh(netOutputs(points), SQUARE)
  const [x = 0, y = 0, z] = mesh.subarray(33 * 3, 34 * 3)
  assert.ok(Math.hypot(x - 350, y - 170) < 1e-3)
  // Depth grows with the picture: the square of 384 pixels was seen at half its size.
  assert.equal(z, -20)
  assert.ok(Math.abs(probability - 0.9) < 1e-6)
})

test('a net that gives no mesh is refused', () => {
  assert.throws(() => readMesh({}, SQUARE), /did not return a mesh/)
  assert.throws(() => readMesh(netOutputs(new Float32Array(10)), SQUARE), /did not return a mesh/)
})

test('the square around a detection is level with the eyes and half as large again', () => {
  const square = squareOfDetection({
    score: 1,
    box: { x: 10, y: 20, width: 40, height: 60 },
    eyes: [
      { x: 20, y: 40 },
      { x: 40, y: 60 },
    ],
  })
  assert.deepEqual(square, { centre: { x: 30, y: 50 }, side: 90, angle: Math.PI / 4 })
})

test('a face is followed from its own mesh', () => {
  const mesh = new Float32Array(MESH_POINTS * 3).fill(100)
  mesh.set([80, 90, 0], 33 * 3)
  mesh.set([120, 110, 0], 263 * 3)
  const { centre, side, angle } = squareOfMesh(mesh)
  assert.deepEqual(centre, { x: 100, y: 100 })
  assert.equal(side, 60)
  assert.ok(Math.abs(angle - Math.atan2(20, 40)) < 1e-9)
})

test('the input runs from 0 to 1', () => {
  const white = { width: 64, height: 64, data: new Uint8ClampedArray(64 * 64 * 4).fill(255) }
  const { dims, data } = meshInput(white, { centre: { x: 32, y: 32 }, side: 192, angle: 0 })
  assert.deepEqual(dims, [1, 192, 192, 3])
  assert.equal(Math.max(...data), 1)
  assert.equal(data[0], 0)
})
