import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type AgeResult,
  type CaptureFrame,
  type Challenge,
  type Handoff,
  INDICATOR_PATHS,
  type LaunchState,
  RISK_FLAG_CODES,
  RISK_FLAGS,
  type RiskFlagCode,
  readIndicators,
  writeIndicators,
} from '@ostiary/contract'
import { estimateOf } from '@ostiary/device/simulated'
import { type Changes, type Moment, makeSubmission, type Person, send } from './testing/capture.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage, okOf } from './testing/page.ts'

const fixture = await createLaunchFixture()

interface Run extends Person {
  body?: object
  changes?: Changes
  open?: object
}

/** One capture, from a new session to the reply to its submit. */
async function capture({ body, changes, open, ...person }: Run = {}) {
  const created = await fixture.create(body)
  const page = await createPage(fixture, created.sessionId)
  await page.open(open)
  await page.consent()
  const submission = await makeSubmission(page, await page.challenge(), changes, person)
  return { created, page, state: okOf<LaunchState>(await send(page, submission)) }
}

async function resultOf(run: Run): Promise<AgeResult> {
  const { created, state } = await capture(run)
  assert.equal(state.flowStatus, 'COMPLETED', JSON.stringify(state))
  return fixture.result(created.token)
}

const indicators = (marks: string, more: object = {}): Changes => ({
  payload: (claimed) => ({ ...claimed, indicators: marks, ...more }),
})
const WEBDRIVER = indicators(writeIndicators(new Set(['headless.webdriver'])))

describe('signals.behavioral', () => {
  const at = (type: Moment['type'], change: Partial<Moment>): Changes => ({
    moments: (all) => all.map((one) => (one.type === type ? { ...one, ...change } : one)),
  })
  const frames = (
    change: (frames: readonly CaptureFrame[], sampleAtMs: readonly number[]) => CaptureFrame[],
  ): Changes => ({
    made: ({ capture: { frames: honest, ...rest }, moments }, { sampleAtMs }) => {
      const changed = change(honest, sampleAtMs)
      return { capture: { ...rest, frames: changed, estimate: estimateOf(changed) }, moments }
    },
  })
  /** Two more entries that are allowed anywhere. */
  const withGlances = ([opened, ...rest]: Moment[]): Moment[] =>
    opened ? [opened, { ...opened, type: 'tab_visible' }, { ...opened, type: 'tab_visible' }, ...rest] : rest
  const LOGS: { what: string; flag: RiskFlagCode; score: number; changes?: Changes; open?: object }[] = [
    {
      what: 'consent that was given before it was asked for',
      flag: 'BH_STEP_ORDER',
      score: 70,
      changes: {
        moments: ([opened, shown, given, ...rest]) =>
          opened && shown && given ? [opened, { ...given, t: shown.t }, { ...shown, t: given.t }, ...rest] : rest,
      },
    },
    {
      what: 'consent in a tenth of a second',
      flag: 'BH_TOO_FAST',
      score: 60,
      changes: at('consent_given', { t: 1_000 }),
    },
    {
      what: 'a submit after minutes of nothing',
      flag: 'BH_TOO_SLOW',
      score: 10,
      changes: at('submit', { t: 900_000 }),
    },
    {
      what: 'an entry that never came',
      flag: 'BH_LOG_GAP',
      score: 40,
      changes: { moments: withGlances, events: (all) => all.filter(({ seq }) => seq !== 2) },
    },
    {
      what: 'two entries that came in another order',
      flag: 'BH_LOG_GAP',
      score: 40,
      changes: {
        moments: withGlances,
        events: ([first, second, third, ...rest]) =>
          first && second && third ? [first, third, second, ...rest] : rest,
      },
    },
    {
      what: 'a clock that went back twice',
      flag: 'BH_TIME_REGRESSION',
      score: 60,
      changes: {
        moments: (all) =>
          all.map((one) => {
            const times: Partial<Record<Moment['type'], number>> = { camera_requested: 4_200, camera_ready: 4_100 }
            return { ...one, t: times[one.type] ?? one.t }
          }),
      },
    },
    {
      what: 'a tab that was hidden during the capture',
      flag: 'BH_TAB_HIDDEN',
      score: 40,
      changes: {
        moments: (all) =>
          all.flatMap((one): Moment[] =>
            one.type === 'challenge_received' ? [one, { type: 'tab_hidden', t: one.t + 1 }] : [one],
          ),
      },
    },
    {
      what: 'three retakes in one try',
      flag: 'BH_RETRY_EXCESS',
      score: 20,
      changes: {
        moments: (all) =>
          all.flatMap((one): Moment[] =>
            one.type === 'challenge_received'
              ? [one, ...[1, 2, 3].map((): Moment => ({ type: 'retake', t: one.t })), one]
              : [one],
          ),
      },
    },
    {
      what: 'frames at the very millisecond',
      flag: 'BH_FPS_SYNTHETIC',
      score: 30,
      changes: frames((all, sampleAtMs) => all.map((one, index) => ({ ...one, t: sampleAtMs[index] ?? one.t }))),
    },
    {
      what: 'ages that differ by twenty years',
      flag: 'BH_AGE_UNSTABLE',
      score: 25,
      changes: frames((all) => {
        let up = false
        return all.map((one) => {
          if (one.age === undefined) return one
          up = !up
          return { ...one, age: one.age + (up ? 100 : -100) }
        })
      }),
    },
    { what: 'a clock that is ten minutes off', flag: 'BH_CLOCK_SKEW', score: 5, open: { clientTime: 1_000 } },
  ]

  /** A log that was cut or reordered, or whose timing is not a human's: no verdict, whatever the pictures show. */
  const REFUSED: readonly RiskFlagCode[] = ['BH_STEP_ORDER', 'BH_LOG_GAP', 'BH_TIME_REGRESSION', 'BH_TOO_FAST']

  for (const { what, flag, score, changes = {}, open = {} } of LOGS) {
    const isRefused = REFUSED.includes(flag)
    const verdict = isRefused ? 'gives no verdict' : 'makes the result doubtful'
    test(`[X-011] ${what} ${verdict}, raises its score to ${score} and adds ${flag}`, async () => {
      const { created, page, state } = await capture({ changes, open, ageYears: 55 })
      assert.deepEqual([state.state, state.errors], isRefused ? ['READY', [-32]] : ['COMPLETED', []])
      if (isRefused) await page.cancel()
      const { riskEvaluation, sessionStatus } = await fixture.result(created.token)
      assert.deepEqual(riskEvaluation.signals, { behavioral: { score, flags: [flag] }, browser: null })
      assert.deepEqual([riskEvaluation.score, riskEvaluation.flags], [score, [flag]])
      assert.equal(sessionStatus, isRefused ? 'AGE_UNKNOWN' : 'AGE_ABOVE_THRESHOLD')
    })

    const isDoubtful = RISK_FLAGS[flag].floor >= 60 || isRefused || flag === 'BH_AGE_UNSTABLE'
    test(`${what} ${isDoubtful ? 'asks for' : 'does not ask for'} a document with step-up and documentInDoubt`, async () => {
      const body = { stepUpEnabled: true, documentInDoubt: true }
      const { state } = await capture({ body, changes, open, ageYears: 55 })
      assert.equal(state.state, isDoubtful ? 'DOC_ACTIVE' : 'COMPLETED')
    })

    test(`[C-025] ${what}: with step-up alone no document is asked for${isDoubtful && !isRefused ? ', and the result is never ALLOW' : ''}`, async () => {
      const { created, state } = await capture({ body: { stepUpEnabled: true }, changes, open, ageYears: 55 })
      assert.equal(state.state, isRefused ? 'READY' : 'COMPLETED')
      if (isRefused) return
      const { riskEvaluation } = await fixture.result(created.token)
      const flags = RISK_FLAG_CODES.filter((code) => code === flag || (isDoubtful && code === 'BH_AGE_IN_DOUBT'))
      assert.deepEqual(riskEvaluation.flags, flags)
      if (isDoubtful) assert.notEqual(riskEvaluation.recommendation, 'ALLOW')
    })
  }

  test('is 0 without flags for a good capture, and null without a capture', async () => {
    const { riskEvaluation } = await resultOf({})
    assert.deepEqual(riskEvaluation, {
      score: 0,
      level: 'LOW',
      recommendation: 'ALLOW',
      flags: [],
      signals: { behavioral: { score: 0, flags: [] }, browser: null },
      policyVersion: '4',
    })
    const created = await fixture.create()
    const page = await createPage(fixture, created.sessionId)
    await page.open()
    await page.cancel()
    assert.deepEqual((await fixture.result(created.token)).riskEvaluation.signals, { behavioral: null, browser: null })
  })
})

describe('signals.browser', () => {
  for (const path of INDICATOR_PATHS) {
    const flag = RISK_FLAG_CODES.find((code) => RISK_FLAGS[code].indicator === path)
    test(`[X-012] [X-018] ${path} alone is true in the result and raises ${flag}`, async () => {
      assert.ok(flag)
      const result = await resultOf({ changes: indicators(writeIndicators(new Set([path]))) })
      const { weight, floor } = RISK_FLAGS[flag]
      const expected = { score: Math.max(weight, floor), flags: [flag] }
      assert.deepEqual(result.riskEvaluation.signals, { behavioral: { score: 0, flags: [] }, browser: expected })
      const [group = '', name = ''] = path.split('.')
      const groups: Record<string, Record<string, unknown>> = { ...result.indicators }
      for (const [where, marks] of Object.entries(groups)) {
        for (const [which, value] of Object.entries(marks)) {
          assert.equal(value, where === group && which === name, `${where}.${which}`)
        }
      }
    })
  }

  test('[X-013] [X-015] [X-016] [X-017] the three groups have their 14, 4 and 3 flags', async () => {
    const result = await resultOf({ changes: indicators('0'.repeat(21)) })
    assert.deepEqual(result.indicators, readIndicators('0'.repeat(21)))
    const names = Object.entries({ ...result.indicators }).map(([group, marks]) => [group, Object.keys(marks)])
    assert.deepEqual(names, [
      [
        'headless',
        ['webdriver', 'userAgent', 'webGL', 'phantom', 'selenium', 'chrome', 'permissions'].concat([
          'plugins',
          'languages',
          'webRTC',
          'notification',
          'deviceMemory',
          'connectionType',
          'timing',
        ]),
      ],
      ['virtualCamera', ['virtualCameraSoftware', 'suspiciousLabels', 'noMediaDevices', 'mediaDevicesError']],
      ['browserAnomalies', ['missingWebAPIs', 'inconsistentFingerprint', 'automationProperties']],
    ])
    assert.deepEqual(result.riskEvaluation.signals.browser, { score: 0, flags: [] }, 'evaluated, and nothing found')
  })

  test('[X-014] without browser data there are no indicators and the signal is null', async () => {
    const result = await resultOf({})
    assert.equal('indicators' in result, false)
    assert.equal(result.riskEvaluation.signals.browser, null)
  })

  test('an unknown indicator is false, and a circumstance lowers the weight of a flag', async () => {
    const result = await resultOf({ changes: indicators('-'.repeat(21)) })
    assert.deepEqual(result.indicators, readIndicators('0'.repeat(21)))
    const chrome = writeIndicators(new Set(['headless.chrome']))
    const inApp = await resultOf({ changes: indicators(chrome, { browser: { kind: 'webview' } }) })
    assert.deepEqual(inApp.riskEvaluation.signals.browser, { score: 10, flags: ['BR_CHROME'] })
  })

  test('the flags of a failed try stay in the next one', async () => {
    const { created, page, state } = await capture({
      changes: { payload: (claimed) => ({ ...claimed, live: 400, indicators: '1'.repeat(21) }) },
    })
    assert.deepEqual(state.errors, [-32])
    await page.cancel()
    const { riskEvaluation, indicators: marks } = await fixture.result(created.token)
    assert.equal(riskEvaluation.signals.browser?.flags.length, 21)
    assert.deepEqual(marks, readIndicators('1'.repeat(21)))
  })
})

describe('what the tenant has set', () => {
  test('a recommendation to block is advice, unless it is enforced: then -34 and no verdict', async () => {
    const advised = await resultOf({ changes: WEBDRIVER })
    assert.deepEqual([advised.riskEvaluation.recommendation, advised.sessionStatus], ['BLOCK', 'AGE_ABOVE_THRESHOLD'])
    const enforced = await fixture.withSettings({ enforceBlock: true }, () => resultOf({ changes: WEBDRIVER }))
    assert.deepEqual(enforced.riskEvaluation, advised.riskEvaluation)
    const { sessionStatus, status, flowStatus, errors, outcome, assurance } = enforced
    assert.deepEqual([sessionStatus, status, flowStatus], ['AGE_UNKNOWN', 'AGE_UNKNOWN', 'COMPLETED'])
    assert.deepEqual([errors, outcome, assurance.level], [[-34], 'FAILED', 'none'])
    assert.equal('age' in enforced.result, false)
    const harmless = await fixture.withSettings({ enforceBlock: true }, () => resultOf({}))
    assert.equal(harmless.sessionStatus, 'AGE_ABOVE_THRESHOLD')
  })

  test('its own weights apply and are marked in the version', async () => {
    const risk = { flags: { BR_WEBDRIVER: { weight: 12, floor: 0 } } }
    const { riskEvaluation } = await fixture.withSettings({ risk }, () => resultOf({ changes: WEBDRIVER }))
    const { policyVersion, ...rest } = riskEvaluation
    assert.match(policyVersion, /^4\+[0-9a-f]{8}$/)
    assert.deepEqual(rest, {
      score: 12,
      level: 'LOW',
      recommendation: 'ALLOW',
      flags: ['BR_WEBDRIVER'],
      signals: { behavioral: { score: 0, flags: [] }, browser: { score: 12, flags: ['BR_WEBDRIVER'] } },
    })
  })

  test('HIGH blocks when its policy says so and is enforced', async () => {
    const software = indicators(writeIndicators(new Set(['virtualCamera.virtualCameraSoftware'])))
    const settings = { risk: { highBlocks: true }, enforceBlock: true }
    const { riskEvaluation, errors } = await fixture.withSettings(settings, () => resultOf({ changes: software }))
    assert.deepEqual([riskEvaluation.level, riskEvaluation.recommendation, errors], ['HIGH', 'BLOCK', [-34]])
  })

  test('a face within the margin decides nothing; outside it decides', async () => {
    await fixture.withSettings({ faceAgeMarginYears: 5 }, async () => {
      const near = await resultOf({ ageYears: 32.5 })
      assert.deepEqual([near.sessionStatus, near.errors, near.outcome], ['AGE_UNKNOWN', [], 'FAILED'])
      assert.equal((await resultOf({ ageYears: 45 })).sessionStatus, 'AGE_ABOVE_THRESHOLD')
      assert.equal((await resultOf({ ageYears: 18 })).sessionStatus, 'AGE_BELOW_THRESHOLD')
      const { state } = await capture({ ageYears: 32.5, body: { stepUpEnabled: true } })
      assert.equal(state.state, 'DOC_ACTIVE')
    })
  })
})

describe('a document', () => {
  test('[C-024] is required with step-up when the face is below the threshold, and without it there is no verdict', async () => {
    const { created, page, state } = await capture({ ageYears: 20, body: { stepUpEnabled: true } })
    assert.deepEqual([state.state, state.flowStatus, state.errors], ['DOC_ACTIVE', null, []])
    assert.equal((await page.open()).state, 'DOC_ACTIVE', 'a reload changes nothing')
    assert.equal((await page.call('challenge')).statusCode, 409, 'the face has had its turn')
    fixture.harness.clock.advance(1_200_000)
    const { sessionStatus, flowStatus, errors, result } = await fixture.result(created.token)
    assert.deepEqual([sessionStatus, flowStatus, errors], ['AGE_UNKNOWN', 'EXPIRED', [-8]])
    assert.deepEqual(result, {})
  })

  test('[C-025] is not required with step-up when the face is not below the threshold', async () => {
    assert.equal((await resultOf({ ageYears: 45, body: { stepUpEnabled: true } })).sessionStatus, 'AGE_ABOVE_THRESHOLD')
  })

  test('[C-026] is not required without step-up, whatever the estimate', async () => {
    assert.equal((await resultOf({ ageYears: 20 })).sessionStatus, 'AGE_BELOW_THRESHOLD')
    const off = await resultOf({ ageYears: 45, body: { stepUpEnabled: false } })
    assert.equal(off.sessionStatus, 'AGE_ABOVE_THRESHOLD')
  })

  for (const stepUpEnabled of [true, false]) {
    for (const ageYears of [20, 45]) {
      test(`[C-027] is always required when the host lists it: step-up ${stepUpEnabled}, a face of ${ageYears}`, async () => {
        const body = { stepUpEnabled, requirements: ['face', 'identity_document'] }
        const { created, page, state } = await capture({ ageYears, body })
        assert.equal(state.state, 'DOC_ACTIVE')
        await page.cancel()
        const { sessionStatus, result } = await fixture.result(created.token)
        assert.deepEqual([sessionStatus, result], ['AGE_UNKNOWN', {}])
      })
    }
  }

  test('that is required stays required after a handoff: another face does not replace it', async () => {
    const { created, page } = await capture({ ageYears: 20, body: { stepUpEnabled: true } })
    const handoff = okOf<Handoff>(await page.call('handoff'))
    const second = await createPage(fixture, created.sessionId)
    await second.takeOver(handoff)
    assert.equal((await second.consent()).state, 'DOC_ACTIVE', 'the result of the face stays')
    assert.equal((await second.call('challenge')).statusCode, 409, 'there is no other try of the face')
    const look = okOf<Challenge>(await second.call('challenge', { for: 'match' }))
    const older = await makeSubmission(second, look, {}, { ageYears: 60 })
    assert.equal((await send(second, older)).statusCode, 400, 'a look says nothing about the age')
    fixture.harness.clock.advance(1_200_000)
    assert.equal((await fixture.result(created.token)).sessionStatus, 'AGE_UNKNOWN')
  })
})
