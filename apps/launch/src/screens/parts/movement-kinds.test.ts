import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayLeaveOut } from './movement-kinds.ts'

test('two kinds of movement have to stay', () => {
  assert.equal(mayLeaveOut([], 'turn'), true)
  assert.equal(mayLeaveOut(['turn'], 'up'), true)
  assert.equal(mayLeaveOut(['turn', 'up'], 'blink'), false)
  assert.equal(mayLeaveOut(['turn', 'up'], 'up'), true, 'it was left out before')
})
