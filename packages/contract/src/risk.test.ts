import assert from 'node:assert/strict'
import { test } from 'node:test'
import Value from 'typebox/value'
import { Indicators } from './indicators.ts'
import { INDICATOR_PATHS, RiskEvaluation, RiskOverrides, readIndicators, writeIndicators } from './risk.ts'

/** The groups and flags of the interface specification, typed from it. */
const GROUPS = {
  headless: [
    'webdriver',
    'userAgent',
    'webGL',
    'phantom',
    'selenium',
    'chrome',
    'permissions',
    'plugins',
    'languages',
    'webRTC',
    'notification',
    'deviceMemory',
    'connectionType',
    'timing',
  ],
  virtualCamera: ['virtualCameraSoftware', 'suspiciousLabels', 'noMediaDevices', 'mediaDevicesError'],
  browserAnomalies: ['missingWebAPIs', 'inconsistentFingerprint', 'automationProperties'],
}

const all = (value: unknown) =>
  Object.fromEntries(
    Object.entries(GROUPS).map(([group, names]) => [group, Object.fromEntries(names.map((name) => [name, value]))]),
  )

test('indicators are three groups of 14, 4 and 3 booleans, and nothing else', () => {
  assert.ok(Value.Check(Indicators, all(false)) && Value.Check(Indicators, all(true)))
  for (const wrong of [1, 'true', null]) assert.ok(!Value.Check(Indicators, all(wrong)))
  for (const [group, names] of Object.entries(GROUPS)) {
    for (const name of names) {
      const { [name]: _, ...others } = all(false)[group] ?? {}
      assert.ok(!Value.Check(Indicators, { ...all(false), [group]: others }), `without ${group}.${name}`)
    }
    assert.ok(!Value.Check(Indicators, { ...all(false), [group]: { ...all(false)[group], further: false } }))
    const { [group]: _, ...otherGroups } = all(false)
    assert.ok(!Value.Check(Indicators, otherGroups), `without ${group}`)
  }
})

test('the marks of a device are read in the order of the specification', () => {
  const order = Object.entries(GROUPS).flatMap(([group, names]) => names.map((name) => `${group}.${name}`))
  assert.deepEqual(INDICATOR_PATHS, order)
  order.forEach((path, index) => {
    const marks = Array.from({ length: 21 }, (_, at) => (at === index ? '1' : '0')).join('')
    const on = Object.entries(readIndicators(marks)).flatMap(([group, signals]) =>
      Object.entries(signals).flatMap(([name, value]) => (value ? [`${group}.${name}`] : [])),
    )
    assert.deepEqual(on, [path])
  })
})

test('what was not evaluated is false, even for a browser that is suspicious otherwise', () => {
  assert.deepEqual(readIndicators('-'.repeat(21)), all(false))
  assert.deepEqual(readIndicators('1'.repeat(21)), all(true))
  assert.deepEqual(readIndicators('1').headless.webdriver, true)
})

test('marks are written as they are read', () => {
  const marks = writeIndicators(
    new Set(['headless.webdriver', 'headless.deviceMemory', 'browserAnomalies.automationProperties']),
    new Set(['headless.deviceMemory', 'headless.connectionType']),
  )
  assert.equal(marks, '10000000000--00000001')
  const { headless, browserAnomalies } = readIndicators(marks)
  assert.deepEqual(
    [headless.webdriver, headless.deviceMemory, browserAnomalies.automationProperties],
    [true, false, true],
  )
})

const EVALUATION = {
  score: 48,
  level: 'MEDIUM',
  recommendation: 'REVIEW',
  flags: ['BR_WEBGL', 'BR_TIMING'],
  signals: { behavioral: null, browser: { score: 48, flags: ['BR_WEBGL', 'BR_TIMING'] } },
  policyVersion: '4',
}

test('a risk evaluation has exactly the fields of the specification and the policy version', () => {
  assert.ok(Value.Check(RiskEvaluation, EVALUATION))
  for (const name of Object.keys(EVALUATION)) {
    const { [name]: _, ...others }: Record<string, unknown> = EVALUATION
    assert.ok(!Value.Check(RiskEvaluation, others), `without ${name}`)
  }
  const wrong: Record<string, unknown[]> = {
    score: [-1, 101, '48', 48.5],
    level: ['NONE', 'medium', null],
    recommendation: ['DENY', 'allow'],
    flags: [['BR_OTHER'], [1], 'BR_WEBGL', ['BR_WEBGL', 'BR_WEBGL']],
    signals: [{}, { behavioral: null }, { browser: null }, { behavioral: null, browser: null, weather: null }],
    further: [1],
  }
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      assert.ok(!Value.Check(RiskEvaluation, { ...EVALUATION, [name]: value }), `${name} ${JSON.stringify(value)}`)
    }
  }
})

test('the examples of the schemas fit them', () => {
  for (const schema of [RiskEvaluation, RiskOverrides]) {
    const { examples } = schema as { examples?: unknown[] }
    assert.equal(examples?.length, 1)
    for (const example of examples ?? []) assert.ok(Value.Check(schema, example))
  }
})
