import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Figure } from './figure.ts'
import { appendFigures, figureTable, judge, needsSecondTry, passesGate, readFigures } from './gate-figures.ts'

const ratio = (value: number): Figure => ({ name: 'a.ratio', value, floor: 0.75, is: 'least', load: true })
const seconds = (value: number): Figure => ({ name: 'a.seconds', value, floor: 10, is: 'most', load: true })
const lost = (value: number): Figure => ({ name: 'a.lost', value, floor: 0, is: 'most' })

describe('a figure that depends on the load', () => {
  test('is ok where one of its tries reaches the floor', () => {
    assert.equal(judge([ratio(0.75)]), 'ok')
    assert.equal(judge([ratio(0.1), ratio(0.8)]), 'ok')
    assert.equal(judge([seconds(10)]), 'ok')
    assert.equal(judge([seconds(30), seconds(9)]), 'ok')
  })

  test('is short where it misses its floor, but not by half, or not twice', () => {
    assert.equal(judge([ratio(0.74)]), 'short')
    assert.equal(judge([ratio(0.3)]), 'short')
    assert.equal(judge([ratio(0.3), ratio(0.375)]), 'short')
    assert.equal(judge([seconds(20), seconds(21)]), 'short')
  })

  test('is broken where it is less than half as good as its floor in two tries', () => {
    assert.equal(judge([ratio(0.37), ratio(0.374)]), 'broken')
    assert.equal(judge([seconds(20.1), seconds(25)]), 'broken')
    assert.equal(judge([ratio(Number.NaN), ratio(Number.NaN)]), 'broken')
  })

  test('gets a second try only where it is less than half as good', () => {
    assert.equal(needsSecondTry([ratio(0.4), seconds(19), lost(1)]), false)
    assert.equal(needsSecondTry([ratio(0.9), seconds(21)]), true)
    assert.equal(needsSecondTry([ratio(Number.NaN)]), true)
  })

  test('never fails the gate', () => {
    assert.equal(passesGate([ratio(0), seconds(1_000), lost(0)]), true)
    assert.equal(passesGate([ratio(Number.NaN)]), true)
  })
})

test('a strict figure fails the gate, and so does a measure without figures', () => {
  assert.equal(passesGate([ratio(1), lost(1)]), false)
  assert.equal(passesGate([lost(Number.NaN)]), false)
  assert.equal(passesGate([]), false)
  assert.equal(judge([lost(1), lost(0)]), 'failed')
  assert.equal(judge([lost(0)]), 'ok')
})

test('the table shows figures of load with their best value, strict ones that failed, and names the broken ones below', () => {
  const figures = [ratio(0.2), seconds(4), lost(0), ratio(0.25), { ...lost(2), name: 'b.lost' }, lost(0)]
  assert.deepEqual(figureTable(figures), [
    'figure     value  floor',
    'a.ratio    0.250  at least 0.75  broken',
    'a.seconds  4      at most 10     ok',
    'b.lost     2      at most 0      failed',
    '',
    'broken: a.ratio 0.250 (at least 0.75)',
  ])
  assert.deepEqual(figureTable([ratio(0.5)]), ['figure   value  floor', 'a.ratio  0.500  at least 0.75  short'])
})

test('figures come back from the file as they were written, without a value too', () => {
  const folder = temporaryFolder('figures')
  const file = join(folder, 'figures.ndjson')
  assert.deepEqual(readFigures(file), [])
  appendFigures(file, [ratio(0.5), lost(0)])
  appendFigures(file, [ratio(Number.NaN)])
  assert.deepEqual(readFigures(file), [ratio(0.5), lost(0), ratio(Number.NaN)])
})
