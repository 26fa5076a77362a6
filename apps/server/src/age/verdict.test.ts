import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AGE_STATUSES, RETURN_FORMATS, SESSION_CODE_NAMES, type ThresholdResult } from '@ostiary/contract'
import {
  askedAges,
  compareAge,
  decide,
  documentOfAge,
  hasDocumentInDoubt,
  isLeftInDoubt,
  needsDocument,
  sandboxDecision,
  type VerdictCase,
  type VerdictRequest,
} from './verdict.ts'

const SETTINGS = { faceAgeMarginYears: 0, alwaysReturnAge: false }
const FACE_ONLY: VerdictRequest = {
  ageThreshold: 30,
  documentAgeThreshold: 18,
  faceMatchThreshold: 0.5,
  requirements: ['face'],
  stepUpEnabled: false,
  documentAgeReturnFormat: 'threshold',
  facialAgeEstimationReturnFormat: 'threshold',
}
const BOTH: VerdictRequest = { ...FACE_ONLY, requirements: ['face', 'identity_document'] }
const DOCUMENT_ONLY: VerdictRequest = { ...FACE_ONLY, requirements: ['identity_document'] }
const STEP_UP: VerdictRequest = { ...FACE_ONLY, stepUpEnabled: true, documentInDoubt: false }
const IN_DOUBT: VerdictRequest = { ...STEP_UP, documentInDoubt: true }

const face = (estimateYears: number, doubtful = false) => ({ estimateYears, doubtful })
const document = (ageYears: number, faceMatchScore: number | null = 0.8) =>
  documentOfAge(FACE_ONLY, ageYears, faceMatchScore)
const decided = (request: VerdictRequest, steps: Partial<VerdictCase> = {}) =>
  decide({ request, settings: SETTINGS, ...steps })

const ABOVE = 'AGE_ABOVE_THRESHOLD'
const AT = 'AGE_AT_THRESHOLD'
const BELOW = 'AGE_BELOW_THRESHOLD'

test('the page names the age of the host, and what an estimate has to reach where that is more', () => {
  const asked = (request: Partial<VerdictRequest>, faceAgeMarginYears = 0) =>
    askedAges({ ...STEP_UP, ...request }, { faceAgeMarginYears })
  assert.deepEqual(asked({}), { age: 18, estimate: 30 })
  assert.deepEqual(asked({ stepUpEnabled: false }), { age: 18, estimate: 30 })
  assert.deepEqual(asked({ documentAgeThreshold: 30 }), { age: 30, estimate: null })
  assert.deepEqual(asked({ documentAgeThreshold: 30 }, 2.5), { age: 30, estimate: 32.5 })
  assert.deepEqual(asked({ ageThreshold: 18.1, documentAgeThreshold: 18.1 }, 0.2), { age: 18.1, estimate: 18.3 })
  assert.deepEqual(asked({ ageThreshold: 18, documentAgeThreshold: 21 }), { age: 18, estimate: null })
  for (const { requirements } of [BOTH, DOCUMENT_ONLY])
    assert.deepEqual(asked({ requirements }), { age: 18, estimate: null })
})

describe('an age against a threshold', () => {
  for (const [age, threshold, expected] of [
    [17.9, 18, BELOW],
    [18, 18, AT],
    [18.9, 18, AT],
    [19, 18, ABOVE],
    [0, 1, BELOW],
    [120, 120, AT],
    [18.4, 18.5, BELOW],
    [18.5, 18.5, ABOVE],
    [18, 18.5, BELOW],
    [19, 18.5, ABOVE],
    [Number.NaN, 18, BELOW],
  ] as const) {
    test(`${age} against ${threshold} is ${expected}`, () => assert.equal(compareAge(age, threshold), expected))
  }

  test('[C-042] [C-044] is above, below or at the threshold and never unknown', () => {
    const seen = new Set<ThresholdResult>()
    for (let age = 0; age <= 120; age += 0.1)
      for (const threshold of [1, 18, 18.5, 30, 120]) seen.add(compareAge(age, threshold))
    assert.deepEqual([...seen].sort(), [ABOVE, AT, BELOW].sort())
  })
})

describe('a document is required', () => {
  const ages = [5, 29.9, 30, 30.9, 31, 80]

  test('[C-024] with step-up, when the face estimate is below the threshold', () => {
    for (const age of [5, 29, 29.9]) assert.equal(needsDocument(STEP_UP, face(age), SETTINGS), true)
  })

  test('[C-025] with step-up, not when it is at or above the threshold, however doubtful', () => {
    for (const age of [30, 30.9, 31, 80]) {
      assert.equal(needsDocument(STEP_UP, face(age), SETTINGS), false)
      assert.equal(needsDocument(STEP_UP, face(age, true), SETTINGS), false)
    }
  })

  test('[C-026] without step-up never, whatever the estimate', () => {
    for (const age of ages) {
      assert.equal(needsDocument(FACE_ONLY, face(age), SETTINGS), false)
      assert.equal(needsDocument(FACE_ONLY, face(age, true), { ...SETTINGS, faceAgeMarginYears: 5 }), false)
    }
  })

  test('[C-027] always when it is listed, with step-up and without, whatever the estimate', () => {
    for (const request of [BOTH, { ...BOTH, stepUpEnabled: true }, DOCUMENT_ONLY]) {
      for (const age of ages) assert.equal(needsDocument(request, face(age), SETTINGS), true)
      assert.equal(needsDocument(request, undefined, SETTINGS), true)
    }
  })

  test('with step-up and `documentInDoubt`, also when the estimate is doubtful; without step-up the setting asks for nothing', () => {
    assert.equal(needsDocument(IN_DOUBT, face(60, true), SETTINGS), true)
    assert.equal(needsDocument(IN_DOUBT, face(60), SETTINGS), false)
    assert.equal(needsDocument({ ...IN_DOUBT, stepUpEnabled: false }, face(60, true), SETTINGS), false)
  })

  test('in sessions of the last release, which do not name the setting, when the estimate is doubtful', () => {
    const { documentInDoubt: _unnamed, ...older } = STEP_UP
    assert.equal(needsDocument(older, face(60, true), SETTINGS), true)
    assert.equal(hasDocumentInDoubt(older), true)
  })

  test('with step-up, within the margin that the tenant has set', () => {
    const margin = { ...SETTINGS, faceAgeMarginYears: 3 }
    for (const request of [STEP_UP, IN_DOUBT]) {
      assert.equal(needsDocument(request, face(32.9), margin), true)
      assert.equal(needsDocument(request, face(33), margin), false)
    }
  })

  test('not while the face step has no estimate', () => {
    assert.equal(needsDocument(STEP_UP, undefined, SETTINGS), false)
  })
})

test('[C-025] a doubt is left where a doubtful face decides although a document could have been asked for', () => {
  const left = (request: VerdictRequest, steps: Pick<VerdictCase, 'face' | 'document'>, settings = SETTINGS) =>
    isLeftInDoubt({ request, settings, ...steps })
  assert.equal(left(STEP_UP, { face: face(60, true) }), true)
  assert.equal(decided(STEP_UP, { face: face(60, true) }).status, ABOVE)
  for (const [request, steps] of [
    [STEP_UP, { face: face(60) }],
    [STEP_UP, { face: face(20, true) }],
    [STEP_UP, { face: face(60, true), document: document(40) }],
    [STEP_UP, {}],
    [IN_DOUBT, { face: face(60, true) }],
    [FACE_ONLY, { face: face(60, true) }],
    [BOTH, { face: face(60, true) }],
  ] as const) {
    assert.equal(left(request, steps), false, JSON.stringify({ request, steps }))
  }
})

describe('the face decides alone', () => {
  test('above, at and below its threshold', () => {
    for (const [age, status] of [
      [31, ABOVE],
      [30.5, AT],
      [29.9, BELOW],
    ] as const) {
      assert.deepEqual(decided(FACE_ONLY, { face: face(age) }), {
        status,
        basis: 'face',
        errors: [],
        result: { facialAgeEstimation: { thresholdResult: status } },
      })
    }
  })

  test('with step-up, when it is not below the threshold', () => {
    assert.equal(decided(STEP_UP, { face: face(31) }).status, ABOVE)
    assert.equal(decided(STEP_UP, { face: face(30) }).status, AT)
  })

  test('and not within the margin that the tenant has set', () => {
    const settings = { ...SETTINGS, faceAgeMarginYears: 3 }
    for (const [age, status] of [
      [27, BELOW],
      [27.1, 'AGE_UNKNOWN'],
      [30, 'AGE_UNKNOWN'],
      [32.9, 'AGE_UNKNOWN'],
      [33, ABOVE],
    ] as const) {
      assert.equal(decided(FACE_ONLY, { settings, face: face(age) }).status, status, String(age))
    }
    assert.deepEqual(decided(FACE_ONLY, { settings, face: face(32) }), {
      status: 'AGE_UNKNOWN',
      basis: null,
      errors: [],
      result: { facialAgeEstimation: { thresholdResult: ABOVE } },
    })
  })
})

describe('the document decides', () => {
  test('[C-022] by its own threshold, before the face', () => {
    for (const [age, status] of [
      [17, BELOW],
      [18, AT],
      [19, ABOVE],
    ] as const) {
      assert.deepEqual(decided(BOTH, { face: face(45), document: document(age) }), {
        status,
        basis: 'document',
        errors: [],
        result: {
          confidenceScore: 0.8,
          faceMatch: true,
          documentAge: { thresholdResult: status },
          facialAgeEstimation: { thresholdResult: ABOVE },
        },
      })
    }
  })

  test('after a step-up, over a face that looked too young', () => {
    const { status, basis, result } = decided(STEP_UP, { face: face(25), document: document(22) })
    assert.deepEqual([status, basis, result.facialAgeEstimation], [ABOVE, 'document', { thresholdResult: BELOW }])
  })

  test('alone, when only a document was asked for: nothing is compared', () => {
    for (const score of [null, 0.9]) {
      assert.deepEqual(decided(DOCUMENT_ONLY, { document: document(19, score) }), {
        status: ABOVE,
        basis: 'document',
        errors: [],
        result: { documentAge: { thresholdResult: ABOVE } },
      })
    }
  })

  test('[C-021] only with a score that reaches the host’s threshold', () => {
    const matched = (score: number, faceMatchThreshold = 0.5) =>
      decided({ ...BOTH, faceMatchThreshold }, { face: face(45), document: document(40, score) })
    for (const [score, threshold, faceMatch] of [
      [0.5, 0.5, true],
      [0.4999, 0.5, false],
      [0, 0, true],
      [0.99, 1, false],
      [1, 1, true],
    ] as const) {
      const { status, basis, errors, result } = matched(score, threshold)
      assert.deepEqual([result.confidenceScore, result.faceMatch], [score, faceMatch])
      assert.deepEqual(
        [status, basis, errors],
        faceMatch ? [ABOVE, 'document', []] : ['AGE_UNKNOWN', null, ['FACE_NOT_MATCH']],
      )
    }
  })
})

describe('the age stays unknown', () => {
  test('when face and document do not match, or were not compared although both are there', () => {
    for (const score of [0.1, null]) {
      assert.deepEqual(decided(BOTH, { face: face(45), document: document(40, score) }), {
        status: 'AGE_UNKNOWN',
        basis: null,
        errors: ['FACE_NOT_MATCH'],
        result: {
          ...(score !== null && { confidenceScore: score, faceMatch: false }),
          documentAge: { thresholdResult: ABOVE },
          facialAgeEstimation: { thresholdResult: ABOVE },
        },
      })
    }
  })

  test('when a required step is missing: the other step does not decide alone', () => {
    assert.equal(decided(BOTH, { face: face(80) }).status, 'AGE_UNKNOWN')
    assert.equal(decided(BOTH, { document: document(80) }).status, 'AGE_UNKNOWN')
    assert.equal(decided(STEP_UP, { face: face(25) }).status, 'AGE_UNKNOWN')
    assert.equal(decided(IN_DOUBT, { face: face(80, true) }).status, 'AGE_UNKNOWN')
    assert.equal(decided(STEP_UP, { document: document(80) }).status, 'AGE_UNKNOWN')
    assert.equal(decided(DOCUMENT_ONLY).status, 'AGE_UNKNOWN')
    assert.equal(decided(DOCUMENT_ONLY, { face: face(80) }).status, 'AGE_UNKNOWN')
    assert.equal(decided(FACE_ONLY).status, 'AGE_UNKNOWN')
  })

  test('after any failure, whatever the steps found, and the result has no age', () => {
    for (const failure of SESSION_CODE_NAMES) {
      const request = { ...BOTH, documentAgeReturnFormat: 'both', facialAgeEstimationReturnFormat: 'both' } as const
      const settings = { ...SETTINGS, alwaysReturnAge: true }
      const decision = decided(request, { settings, face: face(80), document: document(80, 1), failure })
      assert.deepEqual([decision.status, decision.basis, decision.errors], ['AGE_UNKNOWN', null, [failure]])
      assert.equal('age' in decision.result, false)
    }
  })

  test('after an attack, a block or any other failure, and the result has nothing of the face', () => {
    for (const failure of ['SPOOF', 'VIDEO_SPOOF', 'POLICY_BLOCKED', 'ATTEMPTS_EXCEEDED'] as const) {
      assert.deepEqual(decided(FACE_ONLY, { face: face(80), failure }).result, {})
    }
    assert.deepEqual(decided(BOTH, { face: face(80), failure: 'DOCUMENT_UNREADABLE' }).result, {})
  })
})

describe('the formats', () => {
  const resultFor = (
    documentAgeReturnFormat: VerdictRequest['documentAgeReturnFormat'],
    facialAgeEstimationReturnFormat: VerdictRequest['facialAgeEstimationReturnFormat'],
    alwaysReturnAge = false,
  ) =>
    decide({
      request: { ...BOTH, documentAgeReturnFormat, facialAgeEstimationReturnFormat },
      settings: { ...SETTINGS, alwaysReturnAge },
      face: face(44.7),
      document: document(41.3),
    }).result

  test('give no age of a document whose years the device did not send, whatever the tenant has set', () => {
    const { ageYears: _years, ...facts } = document(41)
    const { status, result } = decide({
      request: DOCUMENT_ONLY,
      settings: { ...SETTINGS, alwaysReturnAge: true },
      document: { ...facts, faceMatchScore: null },
    })
    assert.deepEqual([status, result], [ABOVE, { documentAge: { thresholdResult: ABOVE } }])
  })

  test('[C-043] [C-045] [C-046] give the threshold’s result, the exact age or both, each step its own', () => {
    const documentAges = {
      threshold: { thresholdResult: ABOVE },
      exact: { exact: 41 },
      both: { thresholdResult: ABOVE, exact: 41 },
    }
    const faceAges = {
      threshold: { thresholdResult: ABOVE },
      exact: { exact: 44.7 },
      both: { thresholdResult: ABOVE, exact: 44.7 },
    }
    for (const ofDocument of RETURN_FORMATS) {
      for (const ofFace of RETURN_FORMATS) {
        const { documentAge, facialAgeEstimation } = resultFor(ofDocument, ofFace)
        assert.deepEqual(
          { documentAge, facialAgeEstimation },
          { documentAge: documentAges[ofDocument], facialAgeEstimation: faceAges[ofFace] },
        )
      }
    }
  })

  test('decide which age the result has in whole years: that of the deciding step, else of the other one, else none', () => {
    assert.equal(resultFor('exact', 'exact').age, 41)
    assert.equal(resultFor('both', 'threshold').age, 41)
    assert.equal(resultFor('threshold', 'both').age, 44)
    assert.equal('age' in resultFor('threshold', 'threshold'), false)
    assert.equal(resultFor('threshold', 'threshold', true).age, 41)
    const alone = { request: FACE_ONLY, face: face(44.7) }
    assert.equal(decide({ ...alone, settings: { ...SETTINGS, alwaysReturnAge: true } }).result.age, 44)
    assert.equal(
      decide({ ...alone, settings: SETTINGS, request: { ...FACE_ONLY, documentAgeReturnFormat: 'exact' } }).result.age,
      undefined,
    )
  })

  test('keep the fields in the order of the specification', () => {
    assert.deepEqual(Object.keys(resultFor('both', 'both')), [
      'age',
      'confidenceScore',
      'faceMatch',
      'documentAge',
      'facialAgeEstimation',
    ])
  })
})

describe('a verdict of the test mode', () => {
  test('is the simulated outcome, with fields that fit it', () => {
    const request = { ...FACE_ONLY, facialAgeEstimationReturnFormat: 'both' } as const
    assert.deepEqual(sandboxDecision(request, SETTINGS, ABOVE), {
      status: ABOVE,
      basis: 'sandbox',
      errors: [],
      result: {
        age: 35,
        facialAgeEstimation: { thresholdResult: ABOVE, exact: 35 },
      },
    })
    for (const status of AGE_STATUSES.filter((one) => one !== 'AGE_UNKNOWN')) {
      for (const ageThreshold of [1, 18, 120]) {
        const decision = sandboxDecision({ ...FACE_ONLY, ageThreshold }, SETTINGS, status)
        assert.deepEqual(decision, {
          status,
          basis: 'sandbox',
          errors: [],
          result: { facialAgeEstimation: { thresholdResult: status } },
        })
      }
    }
  })

  test('may be unknown, and has then no basis', () => {
    assert.deepEqual(sandboxDecision(FACE_ONLY, SETTINGS, 'AGE_UNKNOWN'), {
      status: 'AGE_UNKNOWN',
      basis: null,
      errors: [],
      result: {},
    })
  })
})

test('no combination of faults and missing steps gives a verdict that the steps themselves do not give', () => {
  for (const requirements of [
    ['face'],
    ['identity_document'],
    ['face', 'identity_document'],
    ['identity_document', 'face'],
  ] as const) {
    for (const stepUpEnabled of [false, true]) {
      for (const faceAge of [undefined, 25, 35]) {
        for (const score of [undefined, null, 0.2, 0.9]) {
          const request = { ...FACE_ONLY, requirements, stepUpEnabled }
          const { status, basis } = decided(request, {
            ...(faceAge === undefined ? {} : { face: face(faceAge) }),
            ...(score === undefined ? {} : { document: document(19, score) }),
          })
          assert.equal(basis === null, status === 'AGE_UNKNOWN')
          if (basis === 'face') {
            assert.ok(faceAge && score === undefined && requirements.join() === 'face')
            assert.ok(!stepUpEnabled || faceAge > 30)
          }
          if (basis === 'document') {
            assert.ok(
              score !== undefined &&
                (faceAge === undefined ? requirements.join() === 'identity_document' : score === 0.9),
            )
          }
        }
      }
    }
  }
})
