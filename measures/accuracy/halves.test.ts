import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HALVES, halfOf } from './halves.ts'

test('people stay in their half: limits were chosen on it', () => {
  assert.deepEqual(['A000001', 'A000002', 'B000001', 'C000001'].map(halfOf), [
    'tuning',
    'held out',
    'held out',
    'tuning',
  ])
})

test('the halves are of about the same size, also where ids follow one another', () => {
  const ids = Array.from({ length: 1000 }, (_, index) => `A${String(index).padStart(6, '0')}`)
  for (const half of HALVES) {
    const share = ids.filter((id) => halfOf(id) === half).length / ids.length
    assert.ok(share > 0.45 && share < 0.55, `${half}: ${share}`)
  }
})
