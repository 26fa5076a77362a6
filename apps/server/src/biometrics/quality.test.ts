import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { THRESHOLDS, scoreOf } from './models.ts'
import { enrollLevelOf, flatnessOf, isGood, judge } from './quality.ts'
import { createFaces } from './testing/faces.ts'
import { normalise } from './vector.ts'

const faces = createFaces(22)
const unit = (values: readonly number[]) => normalise(values) ?? new Float64Array()
const SAME = THRESHOLDS.FACE3_3.duplicateMin

describe('badness', () => {
  test('a face is good, a constant vector is as bad as can be', () => {
    const [face] = judge([unit(faces.person())], SAME)
    const [constant] = judge([unit(new Array(512).fill(0.5))], SAME)
    assert.ok(face && face.badness < 0.01 && isGood(face))
    assert.ok(constant && constant.badness > 0.999 && !isGood(constant))
    assert.equal(constant?.reason, 'flat')
  })

  test('a vector with one entry is no constant: the fixed users of the test mode are good', () => {
    const [one] = judge([unit(Array.from({ length: 512 }, (_, i) => (i === 0 ? 1 : 0)))], SAME)
    assert.ok(one && isGood(one))
  })

  test('it grows with flatness and crosses 0.8 at a cosine of 0.914 with the constant vector', () => {
    const flatTo = (cosine: number) => {
      const [judged] = judge([unit(faces.sample(new Array(512).fill(1 / Math.sqrt(512)), cosine))], SAME)
      return judged
    }
    for (const cosine of [0.3, 0.7, 0.89, 0.913]) assert.ok(isGood(flatTo(cosine) as never), String(cosine))
    for (const cosine of [0.915, 0.95, 1]) assert.ok(!isGood(flatTo(cosine) as never), String(cosine))
    assert.ok(Math.abs(flatnessOf(unit(faces.person()))) < 0.2)
  })

  test('of several samples the one of another person is found, wherever it stands', () => {
    const face = faces.person()
    for (const at of [0, 1, 2]) {
      const samples = [0, 1, 2].map((index) => unit(index === at ? faces.person() : faces.sample(face, 0.85)))
      assert.deepEqual(
        judge(samples, SAME).map(isGood),
        [0, 1, 2].map((index) => index !== at),
      )
    }
  })

  test('of two that disagree neither is trusted; two of one person are both good', () => {
    const face = faces.person()
    assert.deepEqual(judge([unit(face), unit(faces.person())], SAME).map(isGood), [false, false])
    assert.deepEqual(judge([unit(face), unit(faces.sample(face, 0.7))], SAME).map(isGood), [true, true])
  })
})

test('the level says how many good vectors an enrolment rests on', () => {
  assert.deepEqual([1, 2, 3, 4, 5, 10].map(enrollLevelOf), [1, 1, 2, 2, 3, 3])
})

test('the score is one half at the threshold, rises with the cosine and stays within 0 and 1', () => {
  for (const version of ['FACE3_1', 'FACE3_3'] as const) {
    assert.equal(scoreOf(version, THRESHOLDS[version].identifyMin), 0.5)
    const scores = Array.from({ length: 201 }, (_, i) => scoreOf(version, -1 + i / 100))
    assert.ok(scores.every((score, i) => score >= 0 && score <= 1 && (i === 0 || score >= (scores[i - 1] ?? 0))))
  }
})
