import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  INDICATOR_PATHS,
  type IndicatorPath,
  RISK_FLAG_CODES,
  RISK_FLAGS,
  type RiskFlagCode,
  readIndicators,
  writeIndicators,
} from '@ostiary/contract'
import { evaluateRisk, flagsOfIndicators } from './index.ts'

/** The indicators of a browser where these are suspicious and all others are not. */
const indicatorsWith = (paths: readonly IndicatorPath[]) => readIndicators(writeIndicators(new Set(paths)))

/** A flag with the lower weight that it has under a circumstance, such as a WebView. */
function softenedTo(weight: number, code: RiskFlagCode) {
  assert.ok(weight < RISK_FLAGS[code].weight, `${code} normally has the weight ${RISK_FLAGS[code].weight}`)
  return { code, weight }
}

test('a browser without suspicious indicators raises no flag', () => {
  assert.deepEqual(flagsOfIndicators(indicatorsWith([])), [])
})

test('each indicator raises exactly one flag, which is listed under browser and raises the score there', () => {
  const raised = INDICATOR_PATHS.map((path) => {
    const flags = flagsOfIndicators(indicatorsWith([path]))
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
    flagsOfIndicators(indicatorsWith(INDICATOR_PATHS)),
    RISK_FLAG_CODES.filter((code) => code.startsWith('BR_')).map((code) => ({ code })),
  )
})

test('in a WebView only the missing window.chrome object has a lower weight', () => {
  const indicators = indicatorsWith(['headless.chrome', 'browserAnomalies.inconsistentFingerprint'])
  assert.deepEqual(flagsOfIndicators(indicators, { kind: 'webview' }), [
    softenedTo(10, 'BR_CHROME'),
    { code: 'BR_FINGERPRINT' },
  ])
})

test('in a privacy browser only the inconsistent fingerprint has a lower weight', () => {
  const indicators = indicatorsWith(['headless.chrome', 'browserAnomalies.inconsistentFingerprint'])
  assert.deepEqual(flagsOfIndicators(indicators, { kind: 'privacy' }), [
    { code: 'BR_CHROME' },
    softenedTo(25, 'BR_FINGERPRINT'),
  ])
})

test('if a phone serves as webcam, only the suspicious camera name has a lower weight', () => {
  const indicators = indicatorsWith(['virtualCamera.virtualCameraSoftware', 'virtualCamera.suspiciousLabels'])
  assert.deepEqual(flagsOfIndicators(indicators, { kind: 'ordinary', phoneCamera: true }), [
    { code: 'BR_VCAM_SOFTWARE' },
    softenedTo(20, 'BR_VCAM_LABEL'),
  ])
})
