import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLit } from './lamp.ts'

test('the lamp goes on when it is too dark, stays on while its own light suffices, and goes out after the movements', () => {
  const views = [
    { phase: 'find', guidance: 'too_far' },
    { phase: 'find', guidance: 'too_dark' },
    { phase: 'find', guidance: 'in_oval' },
    { phase: 'challenge', guidance: null },
    { phase: 'measure', guidance: null },
  ] as const
  let lit = false
  const shown = views.map((view) => {
    lit = isLit(lit, view)
    return lit
  })
  assert.deepEqual(shown, [false, true, true, true, false])
  assert.equal(isLit(true, null), false, 'the next try begins without it')
})
