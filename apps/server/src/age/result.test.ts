import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  AgeResult,
  FLOW_STATUSES,
  RISK_POLICY_VERSION,
  type RiskEvaluation,
  SESSION_CODE_NAMES,
} from '@ostiary/contract'
import Value from 'typebox/value'
import { type ResultFacts, redirectTarget, toResult } from './result.ts'
import type { Decision } from './verdict.ts'

const SESSION_ID = '7b0a4f5e-3c1d-4e2f-8a9b-0c1d2e3f4a5b'
const RISK: RiskEvaluation = {
  score: 0,
  level: 'LOW',
  recommendation: 'ALLOW',
  flags: [],
  signals: { behavioral: { score: 0, flags: [] }, browser: null },
  policyVersion: RISK_POLICY_VERSION,
}
const OPEN: ResultFacts = {
  token: 'at_token',
  sessionId: SESSION_ID,
  request: { ageThreshold: 30.5, documentAgeThreshold: 18, faceMatchThreshold: 0.62 },
  flowStatus: null,
  decision: null,
  metadata: { order: { id: 'A-7', lines: [1, 2] } },
  risk: RISK,
  errors: [],
  createdAt: new Date('2026-03-01T10:00:00Z'),
  expiresAt: new Date('2026-03-01T10:15:00Z'),
  endedAt: null,
  consent: null,
  livemode: true,
}
const ABOVE: Decision = {
  status: 'AGE_ABOVE_THRESHOLD',
  basis: 'face',
  errors: [],
  result: { age: 34, facialAgeEstimation: { exact: 34.2 } },
}
const ENDED: ResultFacts = {
  ...OPEN,
  flowStatus: 'COMPLETED',
  decision: ABOVE,
  endedAt: new Date('2026-03-01T10:05:00Z'),
}

function resultOf(facts: ResultFacts): AgeResult {
  const result = toResult(facts)
  assert.ok(Value.Check(AgeResult, result), JSON.stringify([...Value.Errors(AgeResult, result)]))
  return result
}

describe('a result', () => {
  test('of an open session is complete: unknown age, no flow status, with its progress', () => {
    assert.deepEqual(resultOf({ ...OPEN, progress: { state: 'READY', attempt: 0 } }), {
      token: 'at_token',
      sessionId: SESSION_ID,
      sessionStatus: 'AGE_UNKNOWN',
      status: 'AGE_UNKNOWN',
      flowStatus: null,
      result: {},
      thresholds: { ageThreshold: 30.5, compareThreshold: 0.62, faceMatchThreshold: 0.62, documentAgeThreshold: 18 },
      metadata: { order: { id: 'A-7', lines: [1, 2] } },
      riskEvaluation: { ...RISK, recommendation: 'REVIEW' },
      errors: [],
      errorDetails: [],
      outcome: null,
      assurance: { level: 'none', method: 'none' },
      createdAt: '2026-03-01T10:00:00.000Z',
      expiresAt: '2026-03-01T10:15:00.000Z',
      endedAt: null,
      consent: null,
      livemode: true,
      progress: { state: 'READY', attempt: 0 },
    })
  })

  test('[C-047] [C-048] of a completed session has the verdict and the thresholds that it was decided by', () => {
    assert.deepEqual(resultOf(ENDED), {
      token: 'at_token',
      sessionId: SESSION_ID,
      sessionStatus: 'AGE_ABOVE_THRESHOLD',
      status: 'AGE_ABOVE_THRESHOLD',
      flowStatus: 'COMPLETED',
      result: { age: 34, facialAgeEstimation: { exact: 34.2 } },
      thresholds: { ageThreshold: 30.5, compareThreshold: 0.62, faceMatchThreshold: 0.62, documentAgeThreshold: 18 },
      metadata: { order: { id: 'A-7', lines: [1, 2] } },
      riskEvaluation: RISK,
      errors: [],
      errorDetails: [],
      outcome: 'SUCCEEDED',
      assurance: { level: 'estimate', method: 'on-device face age estimation' },
      createdAt: '2026-03-01T10:00:00.000Z',
      expiresAt: '2026-03-01T10:15:00.000Z',
      endedAt: '2026-03-01T10:05:00.000Z',
      consent: null,
      livemode: true,
    })
  })

  test('has its fields in the order of the specification, then the extensions', () => {
    const indicators = {
      headless: {
        webdriver: false,
        userAgent: false,
        webGL: false,
        phantom: false,
        selenium: false,
        chrome: false,
        permissions: false,
        plugins: false,
        languages: false,
        webRTC: false,
        notification: false,
        deviceMemory: false,
        connectionType: false,
        timing: false,
      },
      virtualCamera: {
        virtualCameraSoftware: false,
        suspiciousLabels: false,
        noMediaDevices: false,
        mediaDevicesError: false,
      },
      browserAnomalies: { missingWebAPIs: false, inconsistentFingerprint: false, automationProperties: false },
    }
    const result = resultOf({ ...ENDED, indicators })
    assert.deepEqual(Object.keys(result).slice(0, 11), [
      'token',
      'sessionId',
      'sessionStatus',
      'status',
      'flowStatus',
      'result',
      'thresholds',
      'metadata',
      'indicators',
      'riskEvaluation',
      'errors',
    ])
    assert.deepEqual(result.indicators, indicators)
  })

  test('of a flow that is open, was cancelled or has expired has no verdict, even if the steps were done', () => {
    for (const flowStatus of [null, 'CANCELLED', 'EXPIRED'] as const) {
      const result = resultOf({ ...ENDED, flowStatus })
      assert.deepEqual(
        [result.status, result.sessionStatus, result.outcome],
        ['AGE_UNKNOWN', 'AGE_UNKNOWN', flowStatus],
      )
      assert.deepEqual(result.result, {})
      assert.deepEqual(result.assurance, { level: 'none', method: 'none' })
    }
  })

  test('without a verdict has failed, and a verdict without a basis has no assurance', () => {
    const unknown: Decision = {
      status: 'AGE_UNKNOWN',
      basis: null,
      errors: ['SPOOF'],
      result: {},
    }
    const result = resultOf({ ...ENDED, decision: unknown })
    assert.deepEqual([result.outcome, result.assurance.level, result.errors], ['FAILED', 'none', [1]])
    assert.equal(resultOf({ ...ENDED, decision: null }).outcome, 'FAILED')
  })

  test('[U4] whose document does not count, or that ended in any other way without a verdict, is never ALLOW', () => {
    const allowed = (facts: Partial<ResultFacts>) => resultOf({ ...ENDED, ...facts }).riskEvaluation.recommendation
    assert.equal(allowed({}), 'ALLOW')
    for (const flowStatus of [null, 'CANCELLED', 'EXPIRED'] as const) assert.equal(allowed({ flowStatus }), 'REVIEW')
    assert.equal(allowed({ decision: null }), 'REVIEW')
    for (const name of SESSION_CODE_NAMES) {
      const failed: Decision = { ...ABOVE, status: 'AGE_UNKNOWN', basis: null, errors: [name] }
      assert.equal(allowed({ decision: failed }), 'REVIEW', name)
      assert.equal(allowed({ decision: failed, risk: { ...RISK, recommendation: 'BLOCK' } }), 'BLOCK', name)
    }
  })

  test('names the basis of the verdict', () => {
    const assured = (basis: Decision['basis']) => resultOf({ ...ENDED, decision: { ...ABOVE, basis } }).assurance
    assert.deepEqual(assured('document'), { level: 'document', method: 'on-device reading of an identity document' })
    assert.deepEqual(assured('sandbox'), { level: 'sandbox', method: 'test mode' })
    assert.deepEqual(assured(null), { level: 'none', method: 'none' })
  })
})

test('errors are numbers, each once; their details have names and reasons, those of the flow before those of the verdict', () => {
  const decision: Decision = { ...ABOVE, status: 'AGE_UNKNOWN', basis: null, errors: ['FACE_NOT_MATCH', 'CAMERA_FAIL'] }
  const errors = [
    { name: 'CAMERA_FAIL', reason: 'in_use' },
    { name: 'LOW_LIGHT' },
    { name: 'CAMERA_FAIL', reason: 'not_found' },
  ] as const
  const result = resultOf({ ...ENDED, decision, errors })
  assert.deepEqual(result.errors, [-7, -10, -9])
  assert.deepEqual(result.errorDetails, [
    { code: -7, name: 'CAMERA_FAIL', reason: 'in_use' },
    { code: -10, name: 'LOW_LIGHT' },
    { code: -9, name: 'FACE_NOT_MATCH' },
  ])
})

describe('the user is sent back', () => {
  const target = (url: string) => redirectTarget(url, { sessionId: SESSION_ID, flowStatus: 'COMPLETED' })
  const added = `sessionId=${SESSION_ID}&flowStatus=COMPLETED`

  test('to the host’s address with the session and how its flow ended, and nothing else', () => {
    assert.equal(target('https://shop.example/done'), `https://shop.example/done?${added}`)
    assert.equal(target('https://shop.example'), `https://shop.example/?${added}`)
    for (const flowStatus of FLOW_STATUSES) {
      const url = new URL(redirectTarget('https://shop.example/done', { sessionId: SESSION_ID, flowStatus }))
      assert.deepEqual(
        [...url.searchParams],
        [
          ['sessionId', SESSION_ID],
          ['flowStatus', flowStatus],
        ],
      )
    }
  })

  test('with the host’s own parameters unchanged, including state', () => {
    assert.equal(
      target('https://shop.example/?a=%20b+c&state=x%2Fy'),
      `https://shop.example/?a=%20b+c&state=x%2Fy&${added}`,
    )
    assert.equal(target('https://shop.example/?flag#part'), `https://shop.example/?flag&${added}#part`)
    assert.equal(target('https://shop.example/?#part'), `https://shop.example/?${added}#part`)
  })

  test('with one session and one flow status, even if the address names others', () => {
    const url = target('https://shop.example/?sessionId=1&state=s&flowStatus=CANCELLED&sessionId=2')
    assert.equal(url, `https://shop.example/?state=s&${added}`)
  })
})
