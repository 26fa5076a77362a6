import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatFigure, median } from './figure.ts'

test('a figure says whether it reached its floor', () => {
  assert.equal(
    formatFigure({ name: 'a.ratio', value: 0.81234, floor: 0.75, is: 'least' }),
    'figure a.ratio 0.812 floor 0.75 ok',
  )
  assert.equal(
    formatFigure({ name: 'a.ratio', value: 0.7, floor: 0.75, is: 'least' }),
    'figure a.ratio 0.700 floor 0.75 short',
  )
  assert.equal(formatFigure({ name: 'a.lost', value: 0, floor: 0, is: 'most' }), 'figure a.lost 0 floor 0 ok')
  assert.equal(formatFigure({ name: 'a.lost', value: 1, floor: 0, is: 'most' }), 'figure a.lost 1 floor 0 short')
  assert.equal(
    formatFigure({ name: 'a.ratio', value: Number.NaN, floor: 0.75, is: 'least' }),
    'figure a.ratio NaN floor 0.75 short',
  )
})

test('the median of odd and even counts', () => {
  assert.equal(median([3, 1, 2]), 2)
  assert.equal(median([4, 1, 2, 3]), 2.5)
})
