import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHead } from './head.ts'
import { AT_REST, type Stance } from './script.ts'
import { drawnFace } from './testing/drawn-face.ts'

const { mesh } = drawnFace()
const SIZE = { width: 240, height: 240 }
const head = createHead(mesh, SIZE)

/** The point of the mesh that is nearest to the camera stands for the nose. */
const nose = [...mesh.keys()]
  .filter((at) => at % 3 === 2)
  .reduce((near, at) => ((mesh[at] ?? 0) < (mesh[near] ?? 0) ? at : near))

function noseAt(stance: Partial<Stance>): { x: number; y: number } {
  const at = nose - 2
  const index = [...head.from.keys()].find(
    (place) => place % 2 === 0 && head.from[place] === mesh[at] && head.from[place + 1] === mesh[at + 1],
  )
  const to = head.turned({ ...AT_REST, ...stance })
  return { x: to[((index ?? 0) / 2) * 3] ?? 0, y: to[((index ?? 0) / 2) * 3 + 1] ?? 0 }
}

test('at rest every point is where the portrait has it', () => {
  const to = head.turned(AT_REST)
  for (let vertex = 0; vertex < head.from.length / 2; vertex++) {
    assert.ok(Math.abs((to[vertex * 3] ?? 0) - (head.from[vertex * 2] ?? 0)) < 1e-3)
    assert.ok(Math.abs((to[vertex * 3 + 1] ?? 0) - (head.from[vertex * 2 + 1] ?? 0)) < 1e-3)
  }
})

test('a turn to the person’s own left takes the nose to the right of the picture', () => {
  const rest = noseAt({})
  assert.ok(noseAt({ yaw: 25 }).x > rest.x + 5)
  assert.ok(noseAt({ yaw: -25 }).x < rest.x - 5)
})

test('looking up takes the nose up', () => {
  assert.ok(noseAt({ pitch: 20 }).y < noseAt({}).y - 5)
})

test('leaning to the person’s own left takes the forehead to the right of the picture', () => {
  const forehead = (stance: Stance) => head.turned(stance)[10 * 3] ?? 0
  assert.ok(forehead({ ...AT_REST, roll: 15 }) > forehead(AT_REST) + 5)
})

test('the border of the picture stays where it is when the head turns', () => {
  const to = head.turned({ ...AT_REST, yaw: 30, pitch: 20, roll: 5, shiftX: 0.05 })
  let border = 0
  for (let vertex = 0; vertex < head.from.length / 2; vertex++) {
    const [x = 0, y = 0] = head.from.subarray(vertex * 2, vertex * 2 + 2)
    if (x > 0 && y > 0 && x < SIZE.width && y < SIZE.height) continue
    border++
    assert.deepEqual([to[vertex * 3], to[vertex * 3 + 1]], [x, y])
  }
  assert.ok(border >= 20)
})

test('coming closer makes everything larger about the middle of the face', () => {
  const [rest, closer] = [head.turned(AT_REST), head.turned({ ...AT_REST, zoom: 1.3 })]
  const width = (to: Float32Array) => (to[454 * 3] ?? 0) - (to[234 * 3] ?? 0)
  assert.ok(Math.abs(width(closer) / width(rest) - 1.3) < 1e-3)
})
