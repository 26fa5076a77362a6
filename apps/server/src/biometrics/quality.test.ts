import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { scoreOf, THRESHOLDS } from './models.ts'
import { enrollLevelOf, flatnessOf, isGood, judge } from './quality.ts'
import { createFaces } from './testing/faces.ts'
import { dot, middleOf, normalise } from './vector.ts'

const faces = createFaces(22)
const unit = (values: readonly number[]) => normalise(values) ?? new Float64Array()
const SAME = THRESHOLDS.FACE3_3

describe('badness', () => {
  test('a face is good, a constant vector is as bad as can be', () => {
    const [face] = judge([unit(faces.person())], SAME)
    const [constant] = judge([unit(new Array(512).fill(0.5))], SAME)
    assert.ok(face && face.badness < 0.01 && isGood(face))
    assert.ok(constant && constant.badness > 0.999 && !isGood(constant))
    assert.equal(constant?.reason, 'flat')
  })

  test('a vector with one entry is not flat: the fixed users of the test mode are good', () => {
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

  test('among several samples the one of another person is found at any position', () => {
    const face = faces.person()
    for (const at of [0, 1, 2]) {
      const samples = [0, 1, 2].map((index) => unit(index === at ? faces.person() : faces.sample(face, 0.85)))
      assert.deepEqual(
        judge(samples, SAME).map(isGood),
        [0, 1, 2].map((index) => index !== at),
      )
    }
  })

  test('if two vectors disagree, neither is trusted; two of one person are both good', () => {
    const face = faces.person()
    assert.deepEqual(judge([unit(face), unit(faces.person())], SAME).map(isGood), [false, false])
    assert.deepEqual(judge([unit(face), unit(faces.sample(face, 0.7))], SAME).map(isGood), [true, true])
  })
})

describe('an accepted enrolment', () => {
  test('recognises itself: the middle of the good vectors matches each of them, for both models', () => {
    for (const version of ['FACE3_1', 'FACE3_3'] as const) {
      const thresholds = THRESHOLDS[version]
      for (let round = 0; round < 200; round++) {
        const face = faces.person(version)
        // From clearly one person to just at the limit of what is accepted.
        const cosine = thresholds.consistentMin + (1 - thresholds.consistentMin) * ((round % 20) / 20) + 1e-6
        const others = Array.from({ length: 1 + (round % 9) }, () => unit(faces.sample(face, cosine)))
        const good = judge([unit(face), ...others], thresholds).filter(isGood)
        const middle = middleOf(good.map(({ vector }) => vector))
        const best = Math.max(...good.map(({ vector }) => dot(middle, vector)))
        assert.ok(good.length >= 2 && best >= thresholds.duplicateMin, `${version} ${cosine} ${good.length} ${best}`)
      }
    }
  })

  test('flat vectors are not compared with others: a good one among them is kept', () => {
    const flat = () => unit(faces.sample(new Array(512).fill(1 / Math.sqrt(512)), 0.99))
    assert.deepEqual(judge([unit(faces.person()), flat()], SAME).map(isGood), [true, false])
    const face = faces.person()
    const several = [flat(), unit(face), flat(), unit(faces.sample(face, 0.8)), flat()]
    assert.deepEqual(judge(several, SAME).map(isGood), [false, true, false, true, false])
  })

  test('for FACE3_1 two strangers as near as the nearest measured pair are not one person', () => {
    const face = faces.person('FACE3_1')
    const judged = judge([unit(face), unit(faces.sample(face, 0.932))], THRESHOLDS.FACE3_1)
    assert.deepEqual(judged.map(isGood), [false, false])
  })
})

test('the level says how many good vectors an enrolment rests on', () => {
  assert.deepEqual([1, 2, 3, 4, 5, 10].map(enrollLevelOf), [1, 1, 2, 2, 3, 3])
})

test('the score is one half at the threshold, rises with the cosine and stays within 0 and 1', () => {
  for (const version of ['FACE3_1', 'FACE3_3'] as const) {
    assert.equal(scoreOf(THRESHOLDS[version], THRESHOLDS[version].identifyMin), 0.5)
    const scores = Array.from({ length: 201 }, (_, i) => scoreOf(THRESHOLDS[version], -1 + i / 100))
    assert.ok(scores.every((score, i) => score >= 0 && score <= 1 && (i === 0 || score >= (scores[i - 1] ?? 0))))
  }
})
