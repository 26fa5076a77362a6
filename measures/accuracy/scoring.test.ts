import assert from 'node:assert/strict'
import { test } from 'node:test'
import { halfOf, parseCsv, plainName } from '@ostiary/testkit/samples/labelled'
import { baselinePairs, jaroWinkler } from './matchers.ts'
import { areaUnderCurve, atThreshold, bestF1, failuresByTier, isFailure, recallAtPrecision } from './scoring.ts'

const near = (value: number, wanted: number) => assert.ok(Math.abs(value - wanted) < 1e-4, `${value}, not ${wanted}`)

/** Best first: right, right, wrong, right, wrong, right, and one wrong at 0. */
const SCORED = [
  { score: 1, isMatch: true, tier: 'STRONG' },
  { score: 0.9, isMatch: true, tier: 'MEDIUM' },
  { score: 0.8, isMatch: false, tier: 'STRONG' },
  { score: 0.7, isMatch: true, tier: 'MEDIUM' },
  { score: 0.6, isMatch: false, tier: 'MEDIUM' },
  { score: 0.5, isMatch: true, tier: 'WEAK' },
  { score: 0, isMatch: false, tier: 'WEAK' },
] as const

test('precision, recall and F1 count what reaches the threshold, the threshold itself included', () => {
  const { precision, recall, f1 } = atThreshold(SCORED, 0.7)
  assert.equal(precision, 3 / 4)
  assert.equal(recall, 3 / 4)
  assert.equal(f1, 3 / 4)
  assert.deepEqual(atThreshold(SCORED, 0.85), { precision: 1, recall: 2 / 4, f1: 4 / 6 })
  assert.deepEqual(atThreshold(SCORED, 0), { precision: 4 / 7, recall: 1, f1: 8 / 11 })
})

test('a matcher that flags nothing has no precision, no recall and no F1', () => {
  assert.deepEqual(atThreshold(SCORED, 1.1), { precision: Number.NaN, recall: 0, f1: 0 })
})

test('the area counts pairs in order, ties half', () => {
  // Of 4 x 3 pairs: 1 and 0.9 win 3 each, 0.7 wins 2, 0.5 wins 1.
  near(areaUnderCurve(SCORED), 9 / 12)
  const tied = [
    { score: 0.5, isMatch: true },
    { score: 0.5, isMatch: false },
    { score: 0.4, isMatch: false },
  ]
  assert.equal(areaUnderCurve(tied), 0.75)
  assert.equal(areaUnderCurve(tied.map(({ isMatch }) => ({ score: 1, isMatch }))), 0.5)
  assert.equal(areaUnderCurve(SCORED.map(({ score, isMatch }) => ({ score, isMatch: !isMatch }))), 3 / 12)
})

test('the best F1 is looked for at every score', () => {
  // F1 from the top: 2/5, 4/6, 4/7, 6/8, 6/9, 8/10, 8/11.
  assert.deepEqual(bestF1(SCORED), { f1: 8 / 10, threshold: 0.5 })
  assert.equal(bestF1([{ score: 1, isMatch: false }]).f1, 0)
})

test('recall at a precision is the most that any threshold gives', () => {
  // Precision and recall from the top: 1 1/4, 1 2/4, 2/3 2/4, 3/4 3/4, 3/5 3/4, 4/6 4/4, 4/7 4/4.
  assert.equal(recallAtPrecision(SCORED, 0.9), 2 / 4)
  assert.equal(recallAtPrecision(SCORED, 0.75), 3 / 4)
  assert.equal(recallAtPrecision(SCORED, 0.65), 1)
  assert.equal(recallAtPrecision([{ score: 1, isMatch: false }], 0.9), 0)
})

test('failures are misses and false alarms, counted by tier', () => {
  assert.equal(isFailure({ score: 0.7, isMatch: true }, 0.7), false)
  assert.equal(isFailure({ score: 0.7, isMatch: false }, 0.7), true)
  assert.equal(isFailure({ score: 0.69, isMatch: true }, 0.7), true)
  assert.deepEqual(
    [...failuresByTier(SCORED, 0.7)],
    [
      ['STRONG', { failures: 1, cases: 2 }],
      ['MEDIUM', { failures: 0, cases: 3 }],
      ['WEAK', { failures: 1, cases: 2 }],
    ],
  )
})

test('Jaro-Winkler gives its published values', () => {
  near(jaroWinkler('martha', 'marhta'), 0.9611)
  near(jaroWinkler('dixon', 'dicksonx'), 0.8133)
  near(jaroWinkler('dwayne', 'duane'), 0.84)
  assert.equal(jaroWinkler('abc', 'xyz'), 0)
  assert.equal(jaroWinkler('a', 'a'), 1)
})

test('the baseline ignores order and case, and an extra word lowers the score', () => {
  assert.equal(baselinePairs.pair('LAVROV, Sergei', 'Sergei Lavrov', 'Person'), 1)
  // All 12 letters of the query are found; of the 18 listed ones 12, and "xxxxxx" is like neither.
  near(baselinePairs.pair('Sergei Lavrov', 'Sergei Xxxxxx Lavrov', 'Person'), (1 + 12 / 18) / 2)
  assert.equal(baselinePairs.pair('', 'Sergei Lavrov', 'Person'), 0)
})

test('quotes, empty fields and line ends of CSV', () => {
  assert.deepEqual(parseCsv('a,b\r\n"x, ""y""",\n,"two\nlines"\n1,2'), [
    { a: 'x, "y"', b: '' },
    { a: '', b: 'two\nlines' },
    { a: '1', b: '2' },
  ])
  assert.deepEqual(parseCsv('a,b\n1,'), [{ a: '1', b: '' }])
  assert.throws(() => parseCsv('a,b\n"x"y,2\n'))
})

test('the half depends only on the listed name, ignoring case', () => {
  // SHA-256 of "abc" begins with ba, of the empty text with e3.
  assert.equal(halfOf('abc'), 'tuning')
  assert.equal(halfOf('ABC'), 'tuning')
  assert.equal(halfOf(''), 'held-out')
})

test('the plain form ignores marks, case, order and apostrophes', () => {
  assert.equal(plainName('AL-SA’ADI, Mansûr'), 'al mansur saadi')
})
