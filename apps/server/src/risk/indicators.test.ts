import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  INDICATOR_PATHS,
  type IndicatorPath,
  RISK_FLAG_CODES,
  RISK_FLAGS,
  readIndicators,
  writeIndicators,
} from '@ostiary/contract'
import { evaluateRisk, flagsOfIndicators } from './index.ts'

const suspicious = (...paths: IndicatorPath[]) => readIndicators(writeIndicators(new Set(paths)))

test('a clean browser raises nothing', () => {
  assert.deepEqual(flagsOfIndicators(suspicious()), [])
})

test('each indicator raises its one flag, which raises the browser score and stands there', () => {
  const raised = INDICATOR_PATHS.map((path) => {
    const flags = flagsOfIndicators(suspicious(path))
    const [flag] = flags
    assert.ok(flag && flags.length === 1, path)
    assert.equal(RISK_FLAGS[flag.code].indicator, path)
    const { signals } = evaluateRisk({ flags, browserEvaluated: true, behavioralEvaluated: true })
    assert.deepEqual(signals.browser?.flags, [flag.code])
    assert.ok((signals.browser?.score ?? 0) > 0)
    return flag.code
  })
  assert.deepEqual(
    raised,
    RISK_FLAG_CODES.filter((code) => code.startsWith('BR_')),
  )
})

test('all indicators raise all browser flags in the order of the table', () => {
  assert.deepEqual(
    flagsOfIndicators(suspicious(...INDICATOR_PATHS)),
    RISK_FLAG_CODES.filter((code) => code.startsWith('BR_')).map((code) => ({ code })),
  )
})

test('a webview softens the missing chrome object, and nothing else', () => {
  const indicators = suspicious('headless.chrome', 'browserAnomalies.inconsistentFingerprint')
  assert.deepEqual(flagsOfIndicators(indicators, { kind: 'webview' }), [
    { code: 'BR_CHROME', weight: 10 },
    { code: 'BR_FINGERPRINT' },
  ])
})

test('a privacy browser softens the inconsistent fingerprint, and nothing else', () => {
  const indicators = suspicious('headless.chrome', 'browserAnomalies.inconsistentFingerprint')
  assert.deepEqual(flagsOfIndicators(indicators, { kind: 'privacy' }), [
    { code: 'BR_CHROME' },
    { code: 'BR_FINGERPRINT', weight: 25 },
  ])
})

test('a phone as webcam softens the label of the camera, not the software', () => {
  const indicators = suspicious('virtualCamera.virtualCameraSoftware', 'virtualCamera.suspiciousLabels')
  assert.deepEqual(flagsOfIndicators(indicators, { kind: 'ordinary', phoneCamera: true }), [
    { code: 'BR_VCAM_SOFTWARE' },
    { code: 'BR_VCAM_LABEL', weight: 20 },
  ])
})
