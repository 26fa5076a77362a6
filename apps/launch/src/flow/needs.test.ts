import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsOf, withKinds } from './needs.ts'

test('kinds add up, each once, and two kinds always stay', () => {
  assert.deepEqual(withKinds([], ['turn']), ['turn'])
  assert.deepEqual(withKinds(['turn'], ['turn', 'up']), ['turn', 'up'])
  assert.deepEqual(withKinds(['turn', 'up'], ['blink']), ['turn', 'up'])
  assert.deepEqual(withKinds([], ['turn', 'up', 'blink']), ['turn', 'up'])
  const known = ['blink'] as const
  assert.equal(withKinds(known, ['blink']), known)
})

test('a challenge is asked for without needs unless the user has some', () => {
  assert.deepEqual(needsOf({ cannot: [], moreTime: false }), {})
  assert.deepEqual(needsOf({ cannot: ['up'], moreTime: true }), { cannot: ['up'], pace: 'slow' })
})
