import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { restOf, shows } from './movements.ts'

const face = ({ yaw = 0, pitch = 0, eyes = 0.8, size = 0.4 } = {}) => ({ pose: { yaw, pitch, roll: 0 }, eyes, size })
const REST = { yaw: 3, pitch: -2, eyes: 0.8, size: 0.4 }

describe('a movement is a change relative to the face at rest:', () => {
  const cases = [
    ['turn_left', { yaw: 17.5 }, { yaw: 16.5 }],
    ['turn_right', { yaw: -11.5 }, { yaw: -10.5 }],
    ['look_up', { pitch: 8.5 }, { pitch: 7.5 }],
    ['blink', { eyes: 0.23 }, { eyes: 0.25 }],
    ['closer', { size: 0.475 }, { size: 0.47 }],
  ] as const
  for (const [movement, enough, tooLittle] of cases) {
    test(movement, () => {
      assert.equal(shows(movement, face(enough), REST), true)
      assert.equal(shows(movement, face(tooLittle), REST), false)
    })
  }
})

test('a turn to the other side is not the turn that was asked for', () => {
  assert.equal(shows('turn_left', face({ yaw: -30 }), REST), false)
  assert.equal(shows('turn_right', face({ yaw: 30 }), REST), false)
})

test('the face at rest is the median of the faces seen, with the eyes at their widest', () => {
  const seen = [face({ yaw: 1, eyes: 0.1 }), face({ yaw: 2, eyes: 0.9, size: 0.5 }), face({ yaw: 30, pitch: 4 })]
  assert.deepEqual(restOf(seen), { yaw: 2, pitch: 0, eyes: 0.9, size: 0.4 })
  assert.deepEqual(restOf([face({ yaw: 1 }), face({ yaw: 2 })])?.yaw, 1.5)
  assert.equal(restOf([]), undefined)
})
