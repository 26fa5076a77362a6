import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { INDICATOR_PATHS, type IndicatorPath, LAUNCH_LIMITS, writeIndicators } from '@ostiary/contract'
import { openPayload, SealError } from '@ostiary/crypto'
import { runFlow, type SimulatedPerson, seededRandom } from '@ostiary/device/simulated'
import { captureOf, createAgeHost, DESKTOP, endedBody, NOTHING_TO_JUDGE, readyDevice } from './testing/fixture.ts'

const { fixture, host } = await createAgeHost()

const ESTIMATE = { level: 'estimate', method: 'on-device face age estimation' } as const
const CALM: Partial<SimulatedPerson> = { indicators: writeIndicators(new Set()), browser: { kind: 'ordinary' } }

async function visited(body: object, person: Partial<SimulatedPerson>, options = {}) {
  const created = await host.create(body)
  const state = await fixture.visit(created.sessionId, person, options)
  return { created, state, result: await host.result(created.token) }
}

describe('a verdict', () => {
  test('[C-012] [X-003] a whole flow of a person in an ordinary browser: result, indicators and risk, complete', async () => {
    const { created, state, result } = await visited(
      { facialAgeEstimationReturnFormat: 'both' },
      { ...CALM, ageYears: 42 },
    )
    const exact = result.result.facialAgeEstimation?.exact ?? 0
    assert.ok(Math.abs(exact - 42) < 3, `an estimate near the person’s age, not ${exact}`)
    assert.deepEqual(
      result,
      endedBody(created, {
        sessionStatus: 'AGE_ABOVE_THRESHOLD',
        status: 'AGE_ABOVE_THRESHOLD',
        flowStatus: 'COMPLETED',
        consent: { accepted: true, version: '2', language: 'en', at: created.expiresAt.replace(':15:', ':00:') },
        result: {
          age: Math.floor(exact),
          facialAgeEstimation: { thresholdResult: 'AGE_ABOVE_THRESHOLD', exact },
        },
        indicators: {
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
        },
        riskEvaluation: {
          ...NOTHING_TO_JUDGE,
          signals: { behavioral: { score: 0, flags: [] }, browser: { score: 0, flags: [] } },
        },
        outcome: 'SUCCEEDED',
        assurance: ESTIMATE,
      }),
    )
    assert.deepEqual(state, {
      sessionId: created.sessionId,
      state: 'COMPLETED',
      role: 'holder',
      attempt: 1,
      attemptsLeft: 2,
      expiresAt: created.expiresAt,
      flowStatus: 'COMPLETED',
      errors: [],
      redirectUrl: `https://shop.example/back?state=7&sessionId=${created.sessionId}&flowStatus=COMPLETED`,
      livemode: false,
    })
  })

  test('[C-011] a handoff reuses the token: the result of the second device is read with the token of the creation', async () => {
    const created = await host.create()
    const first = await fixture.newDevice(created.sessionId, { platform: 'desktop', userAgent: DESKTOP })
    assert.equal((await first.device.open()).state, 'HANDOFF_WAIT')
    const { code, url, number = assert.fail('no number') } = await first.device.handoff()
    assert.equal(new URL(url).searchParams.get('sessionId'), created.sessionId)
    assert.ok(!url.includes(created.token))
    const done = await fixture.visit(created.sessionId, { handoffCode: code, number })
    assert.deepEqual([done.sessionId, done.flowStatus], [created.sessionId, 'COMPLETED'])
    const result = await host.result(created.token)
    assert.deepEqual([result.token, result.sessionId], [created.token, created.sessionId])
    assert.equal(result.sessionStatus, 'AGE_ABOVE_THRESHOLD')
    assert.deepEqual(result.errors, [], 'that a desktop came first is no fault of the flow')
  })

  test('[C-016] enableDesktop true lets the flow run on a desktop; without it a desktop may only hand the session over', async () => {
    const desktop = { platform: 'desktop', userAgent: DESKTOP } as const
    const allowed = await visited({ enableDesktop: true }, {}, desktop)
    assert.equal(allowed.result.sessionStatus, 'AGE_ABOVE_THRESHOLD')
    const refused = await visited({}, {}, desktop)
    assert.deepEqual([refused.state.state, refused.state.role, refused.state.errors], ['HANDOFF_WAIT', 'viewer', [-5]])
    assert.equal(refused.result.flowStatus, null)
    const lying = await visited({}, {}, { platform: 'mobile', userAgent: DESKTOP })
    assert.equal(lying.state.state, 'HANDOFF_WAIT', 'the server looks for itself')
  })
})

describe('the document step', () => {
  const needed = ({ state, flowStatus }: { state: string; flowStatus: unknown }) =>
    state === 'DOC_ACTIVE' && flowStatus === null

  test('[C-024] step-up and a face below the threshold: a document is required, and without it there is no verdict', async () => {
    const { created, state, result } = await visited({ stepUpEnabled: true }, { ageYears: 20 })
    assert.ok(needed(state))
    assert.deepEqual([result.flowStatus, result.sessionStatus], [null, 'AGE_UNKNOWN'])
    fixture.harness.clock.advance(900_001)
    const ended = await host.result(created.token)
    assert.deepEqual([ended.flowStatus, ended.sessionStatus], ['EXPIRED', 'AGE_UNKNOWN'])
    assert.deepEqual(ended.result, {}, 'the result of the face alone is not in it either')
  })

  test('[C-025] step-up and a face not below the threshold: no document', async () => {
    const { result } = await visited({ stepUpEnabled: true }, { ageYears: 45 })
    assert.deepEqual([result.flowStatus, result.sessionStatus], ['COMPLETED', 'AGE_ABOVE_THRESHOLD'])
  })

  test('[C-026] no step-up: no document, whatever the estimate', async () => {
    for (const [body, ageYears, expected] of [
      [{}, 20, 'AGE_BELOW_THRESHOLD'],
      [{ stepUpEnabled: false }, 20, 'AGE_BELOW_THRESHOLD'],
      [{}, 45, 'AGE_ABOVE_THRESHOLD'],
    ] as const) {
      const { result } = await visited(body, { ageYears })
      assert.deepEqual([result.flowStatus, result.sessionStatus], ['COMPLETED', expected])
    }
  })

  test('[C-027] identity_document in requirements: always a document, with step-up as without, whatever the estimate', async () => {
    for (const stepUpEnabled of [true, false]) {
      for (const ageYears of [20, 45]) {
        const { state } = await visited({ requirements: ['face', 'identity_document'], stepUpEnabled }, { ageYears })
        assert.ok(needed(state), `step-up ${stepUpEnabled}, age ${ageYears}`)
      }
    }
  })
})

describe('codes', () => {
  test('[C-050] a session ended by a detected spoof carries 1, and nothing of the face', async () => {
    const { result } = await visited({ facialAgeEstimationReturnFormat: 'both' }, { spoof: 'mask' })
    assert.deepEqual([result.flowStatus, result.sessionStatus, result.outcome], ['COMPLETED', 'AGE_UNKNOWN', 'FAILED'])
    assert.ok(result.errors.includes(1), String(result.errors))
    assert.deepEqual(result.result, {})
    assert.deepEqual(result.assurance, { level: 'none', method: 'none' })
  })

  test('[C-051] a session that ended because desktop use is not enabled carries -5', async () => {
    const { created } = await visited({}, {}, { platform: 'desktop', userAgent: DESKTOP })
    fixture.harness.clock.advance(900_001)
    const { flowStatus, errors, errorDetails } = await host.result(created.token)
    assert.equal(flowStatus, 'EXPIRED')
    assert.deepEqual(errors, [-5, -8])
    assert.deepEqual(errorDetails, [
      { code: -5, name: 'DESKTOP' },
      { code: -8, name: 'SESSION_EXPIRED' },
    ])
  })

  test('[C-052] a session that ended because the camera failed carries -7, and the reason', async () => {
    const created = await host.create()
    const { device } = await fixture.newDevice(created.sessionId)
    await device.open()
    await device.consent(true)
    for (let times = 0; times < LAUNCH_LIMITS.attempts; times++) await device.failure(-7, 'permission_denied')
    const { flowStatus, sessionStatus, errors, errorDetails } = await host.result(created.token)
    assert.deepEqual([flowStatus, sessionStatus], ['COMPLETED', 'AGE_UNKNOWN'])
    assert.deepEqual(errors, [-7, -19])
    assert.deepEqual(errorDetails, [
      { code: -7, name: 'CAMERA_FAIL', reason: 'permission_denied' },
      { code: -19, name: 'ATTEMPTS_EXCEEDED' },
    ])
  })
})

describe('risk', () => {
  test('[X-013] [X-014] the result has indicators, in three groups, exactly when the device sent browser data', async () => {
    const seen = await visited({}, CALM)
    assert.deepEqual(Object.keys(seen.result.indicators ?? {}), ['headless', 'virtualCamera', 'browserAnomalies'])
    const unseen = await visited({}, {})
    assert.ok(!('indicators' in unseen.result))
    assert.equal(unseen.result.riskEvaluation.signals.browser, null)
  })

  test('[X-015] [X-016] [X-017] [X-018] each of the 21 flags is a boolean of its own, true when that one is suspicious', async () => {
    assert.equal(INDICATOR_PATHS.length, 21)
    const half = INDICATOR_PATHS.filter((_path, index) => index % 2 === 0)
    for (const suspicious of [half, INDICATOR_PATHS.filter((path) => !half.includes(path))]) {
      const { result } = await visited({}, { ...CALM, indicators: writeIndicators(new Set(suspicious)) })
      const flat = Object.entries(result.indicators ?? {}).flatMap(([group, flags]) =>
        Object.entries(flags).map(([name, value]) => [`${group}.${name}`, value]),
      )
      assert.deepEqual(
        Object.fromEntries(flat),
        Object.fromEntries(INDICATOR_PATHS.map((path) => [path, suspicious.includes(path)])),
      )
    }
  })

  test('[X-012] [X-009] [X-010] a suspicious browser raises the browser’s score, is named there, and does not change the behavioural score', async () => {
    const flagged: IndicatorPath[] = ['headless.webGL', 'headless.timing']
    const { result } = await visited({}, { ...CALM, indicators: writeIndicators(new Set(flagged)) })
    const flags = ['BR_WEBGL', 'BR_TIMING'] as const
    assert.deepEqual(result.riskEvaluation, {
      score: 48,
      level: 'MEDIUM',
      recommendation: 'REVIEW',
      flags: [...flags],
      signals: { behavioral: { score: 0, flags: [] }, browser: { score: 48, flags: [...flags] } },
      policyVersion: '4',
    })
  })

  test('[X-011] an implausible log raises the behavioural score and is named there', async () => {
    for (const [spoof, flag] of [
      ['robot', 'BH_CHALLENGE_LATENCY'],
      ['nocapture', 'BH_RESULT_NO_CAPTURE'],
    ] as const) {
      const { riskEvaluation } = (await visited({}, { ...CALM, spoof })).result
      const { behavioral, browser } = riskEvaluation.signals
      assert.ok(behavioral && behavioral.score >= 60, spoof)
      assert.ok(behavioral.flags.includes(flag), `${spoof}: ${behavioral.flags}`)
      assert.ok(riskEvaluation.flags.includes(flag))
      assert.deepEqual(browser, { score: 0, flags: [] })
      assert.ok(riskEvaluation.score >= behavioral.score)
    }
  })
})

describe('the sealed payload', () => {
  test('[C-004] [C-006] the body that a device sends cannot be read without the session’s key, and has about 2 KB', async () => {
    const { sessionId } = await host.create()
    const sent: string[] = []
    const spy: typeof fetch = (input, init) => {
      if (String(input).endsWith('/submit')) sent.push(Buffer.from(init?.body as Uint8Array).toString())
      return fetch(input, init)
    }
    const user = await fixture.newDevice(sessionId, { fetch: spy })
    await runFlow(user.device, { clock: user.clock, random: seededRandom(3), ageYears: 42, ...CALM })
    const body = JSON.parse(sent[0] ?? '{}')
    assert.deepEqual(Object.keys(body), ['sessionId', 'sealed'])
    const parts = String(body.sealed).split('.')
    assert.equal(parts.length, 5, 'a JWE')
    const readable = parts.map((part) => Buffer.from(part, 'base64url').toString('latin1')).join('\n')
    for (const field of ['estimate', 'frames', 'nonce', 'age', 'live'])
      assert.ok(!readable.includes(`"${field}"`), field)
    const size = Buffer.byteLength(body.sealed)
    assert.ok(size > 1_000 && size <= 2_560, `${size} bytes`)
    const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
    const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', privateKey)
    const limits = { sessionId, maxBytes: LAUNCH_LIMITS.sealedBytes, maxInflatedBytes: LAUNCH_LIMITS.inflatedBytes }
    assert.ok(kty === 'EC' && crv === 'P-256' && x && y && d)
    await assert.rejects(openPayload({ kty, crv, x, y, d }, body.sealed, limits), SealError)
  })

  test('[C-005] it contains the estimate, the session id and optional metadata; without the first two it is refused', async () => {
    const { token, sessionId } = await host.create()
    const user = await fixture.newDevice(sessionId)
    await readyDevice(user)
    const capture = await captureOf(user, { ageYears: 42 })
    await user.device.logEvent('submit')
    await user.device.flushEvents()
    const payload = await user.device.payloadOf(capture)
    assert.equal(payload.sessionId, sessionId)
    assert.ok(Math.abs(payload.estimate.age - 420) < 30)
    const isRefused = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'INVALID_PAYLOAD'
    for (const missing of ['sessionId', 'estimate'] as const) {
      const { [missing]: _left, ...rest } = payload
      await assert.rejects(user.device.submitSealed(await user.device.seal(rest)), isRefused)
    }
    const other = (await host.create()).sessionId
    const foreign = await user.device.seal({ ...payload, sessionId: other })
    await assert.rejects(user.device.submitSealed(foreign), isRefused)
    const state = await user.device.submitSealed(await user.device.seal({ ...payload, metadata: { page: '1.0' } }))
    assert.equal(state.flowStatus, 'COMPLETED')
    assert.equal((await host.result(token)).sessionStatus, 'AGE_ABOVE_THRESHOLD')
  })
})
