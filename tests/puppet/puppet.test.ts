import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boxOf, type Picture } from '@ostiary/faces'
import { createPuppet } from './puppet.ts'
import { AT_REST } from './script.ts'
import { buildStage, placeFace } from './stage.ts'
import { drawnFace } from './testing/drawn-face.ts'

const SIZE = { width: 320, height: 240 }
const { picture, mesh } = drawnFace()
const puppet = createPuppet(picture, { mesh, size: SIZE })

/** Mean difference of the colours in the middle of two pictures, where the face is. */
function difference(one: Picture, other: Picture): number {
  let [sum, count] = [0, 0]
  for (let row = 60; row < 180; row++) {
    for (let column = 110; column < 210; column++) {
      for (let channel = 0; channel < 3; channel++) {
        const at = (row * one.width + column) * 4 + channel
        sum += Math.abs((one.data[at] ?? 0) - (other.data[at] ?? 0))
        count++
      }
    }
  }
  return sum / count
}

test('at rest the puppet is the portrait', () => {
  const stage = buildStage(picture, { placement: placeFace(boxOf(mesh), SIZE), size: SIZE })
  const drawn = puppet.draw(AT_REST)
  const worst = drawn.data.reduce(
    (most, value, at) => Math.max(most, Math.abs(value - (stage.picture.data[at] ?? 0))),
    0,
  )
  assert.ok(worst <= 1, `the worst pixel is off by ${worst} of 255`)
})

test('every pixel is drawn, in the most twisted stance too', () => {
  const twisted = puppet.draw({ ...AT_REST, yaw: 38, pitch: 25, roll: -12, eyes: 0, shiftX: 0.05, shiftY: -0.05 })
  for (let at = 3; at < twisted.data.length; at += 4) assert.equal(twisted.data[at], 255)
})

test('each movement changes the picture', () => {
  const rest = puppet.draw(AT_REST)
  for (const stance of [{ yaw: 20 }, { yaw: -20 }, { pitch: 15 }, { roll: 10 }, { eyes: 0 }, { zoom: 1.3 }]) {
    assert.ok(difference(puppet.draw({ ...AT_REST, ...stance }), rest) > 0.5, JSON.stringify(stance))
  }
})

test('a picture that was drawn may be changed without changing the next', () => {
  const before = puppet.draw(AT_REST)
  before.data.fill(0)
  assert.ok(difference(puppet.draw(AT_REST), before) > 50)
})
