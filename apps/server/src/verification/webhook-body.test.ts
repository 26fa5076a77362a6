import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type CreateVerificationBody,
  RISK_LEVELS,
  type RiskEvaluation,
  readIndicators,
  SESSION_CODE_NAMES,
  SESSION_CODES,
  TENANT_SETTINGS_DEFAULTS,
  type TenantSettings,
  VERIFICATION_TYPES,
  VerificationWebhook,
  writeIndicators,
} from '@ostiary/contract'
import { Compile } from 'typebox/compile'
import { newProgress } from '../sessions/index.ts'
import { toRequest } from './request.ts'
import { blocks, redirectTargetOf, riskOf, toWebhook, type WebhookFacts } from './webhook-body.ts'

const SESSION = '7d9c3a1e-5b0f-4a52-9e1d-0c8f2b6a4d13'
const endedAt = new Date('2026-03-01T10:00:00.123Z')
const person = { puid: 'person-1', guid: 'group-1' }
const ids = { ...person, identityInformation: { verificationDate: '1772359200123' } }
const CLEAN = readIndicators(writeIndicators(new Set()))
const conforms = Compile(VerificationWebhook)

const risk = {
  score: 0,
  level: 'LOW',
  recommendation: 'REVIEW',
  flags: [],
  signals: { behavioral: null, browser: null },
  policyVersion: '4',
} as const

function requestOf(body: Partial<CreateVerificationBody>, settings: Partial<TenantSettings> = {}) {
  const least = {
    type: 'ENROLL',
    redirectURL: 'https://shop.example/back',
    callback: { url: 'https://shop.example/hook' },
    ...(body.type === 'VERIFY' && { puid: '019a8b1c-2d3e-7f40-8a1b-2c3d4e5f6a7b' }),
  } as const
  const wanted = { livemode: false, settings: { ...TENANT_SETTINGS_DEFAULTS, ...settings }, now: endedAt }
  return toRequest({ ...least, ...body }, wanted).request
}

function webhookOf(body: Partial<CreateVerificationBody>, end: WebhookFacts['end'], more: Partial<WebhookFacts> = {}) {
  const request = requestOf(body)
  const webhook = toWebhook({
    ...{ sessionId: SESSION, request, end, endedAt },
    desktop: false,
    indicators: null,
    risk: riskOf(request, null),
    codeHash: null,
    consent: null,
    conditions: null,
    reasons: [],
    livemode: true,
    withImages: false,
    ...more,
  })
  assert.ok(conforms.Check(webhook), JSON.stringify([...conforms.Errors(webhook)]))
  return webhook
}

describe('a success', () => {
  const end = { state: 'SUCCESS', person } as const

  test('[D-032] [D-034] [D-035] [D-038] of an ENROLL: the whole body', () => {
    assert.deepEqual(webhookOf({}, end), {
      ...{ sessionId: SESSION, status: 'SUCCESS', message: 'Ok', ...ids, errors: [] },
      ...{ riskEvaluation: risk, type: 'ENROLL', outcome: 'SUCCEEDED', codeHash: null, consent: null, livemode: true },
    })
  })

  test('[D-057] of each type, with everything that was asked for, in the order of the specification’s table', () => {
    const contactInformation = { email: 'someone@shop.example', phone: '+49 30 000000' }
    const transactionID = 'order-4711'
    const full = { ...end, matchedBy: 'server', estimatedAge: 41, selfie: '/9j/', notes: ['ALREADY_ENROLLED'] } as const
    const shared = { sessionId: SESSION, status: 'SUCCESS', transactionId: transactionID, message: 'Ok', ...ids }
    const known = { errors: [{ code: -37, message: 'Already enrolled' }], images: [{ type: 'portrait', data: '/9j/' }] }
    const judged = { indicators: CLEAN, riskEvaluation: risk }
    const more = { withImages: true, indicators: CLEAN }
    const asked = { transactionID, sendImages: true, estimateAge: true }
    const enrolled = webhookOf({ ...asked, contactInformation }, full, more)
    const expected = {
      ...{ ...shared, contactInformation, ...known, ...judged },
      ...{ type: 'ENROLL', outcome: 'SUCCEEDED', estimatedAge: 41, codeHash: null, consent: null, livemode: true },
    }
    assert.equal(JSON.stringify(enrolled), JSON.stringify(expected))
    const signedIn = webhookOf({ ...asked, type: 'SIGN-IN' }, full, more)
    const found = { ...shared, ...known, ...judged, type: 'SIGN-IN', outcome: 'SUCCEEDED', matchedBy: 'server' }
    assert.equal(JSON.stringify(signedIn), JSON.stringify({ ...found, codeHash: null, consent: null, livemode: true }))
    const verified = webhookOf({ ...asked, type: 'VERIFY', nonce: 'n-1' }, full, more)
    const expectedOfVerify = { ...found, type: 'VERIFY', nonce: 'n-1', codeHash: null, consent: null, livemode: true }
    assert.equal(JSON.stringify(verified), JSON.stringify(expectedOfVerify))
  })

  test('[D-020] [D-041] has a picture only in the body that is sent, and an array wherever it was asked for', () => {
    const withSelfie = { ...end, selfie: '/9j/' }
    assert.deepEqual(webhookOf({ sendImages: true }, withSelfie).images, [])
    assert.equal(webhookOf({ sendImages: false }, withSelfie, { withImages: true }).images, undefined)
    const failed = { state: 'FAILED', failures: ['SPOOF'] } as const
    assert.deepEqual(webhookOf({ sendImages: true }, failed, { withImages: true }).images, [])
    const sent = webhookOf({ sendImages: true }, withSelfie, { withImages: true })
    assert.deepEqual(sent.images, [{ type: 'portrait', data: '/9j/' }])
  })
})

describe('a failure', () => {
  const image = { code: 1, message: 'Image spoof' }
  const end = { state: 'FAILED', failures: ['SPOOF'] } as const

  test('[D-061] of ENROLL and VERIFY: FAILED and the codes, without a person', () => {
    for (const type of ['ENROLL', 'VERIFY'] as const)
      assert.deepEqual(webhookOf({ type, transactionID: 't' }, end), {
        ...{ sessionId: SESSION, status: 'FAILED', transactionId: 't', message: 'Image spoof', errors: [image] },
        ...{ riskEvaluation: risk, type, outcome: 'FAILED', codeHash: null, consent: null, livemode: true },
      })
  })

  test('[D-058] [D-059] of SIGN-IN: the specification’s own body, with our fields added', () => {
    assert.deepEqual(webhookOf({ type: 'SIGN-IN' }, end), {
      ...{ sessionId: SESSION, status: 'error', message: 'Image spoof', errors: [image], errorCodes: [1] },
      ...{ riskEvaluation: risk, type: 'SIGN-IN', outcome: 'FAILED', codeHash: null, consent: null, livemode: true },
    })
  })

  test('[D-060] has the time to wait, if it is known', () => {
    const locked = { state: 'FAILED', failures: ['TEMPORARILY_LOCKED'], retryAfterSeconds: 300 } as const
    for (const type of VERIFICATION_TYPES) {
      const { retryAfter, message, errors } = webhookOf({ type }, locked)
      assert.deepEqual([retryAfter, message, errors], [300, 'Temporarily locked', [{ code: -35, message }]])
    }
  })

  test('[D-040] has every code once, in the given order, with its own message; the message of the first is the body’s', () => {
    const webhook = webhookOf({}, { state: 'FAILED', failures: ['NO_FACE', 'LOW_LIGHT', 'NO_FACE'] })
    assert.equal(webhook.message, 'No face found')
    assert.deepEqual(webhook.errors, [
      { code: -12, message: 'No face found' },
      { code: -10, message: 'Not enough light' },
    ])
    for (const name of SESSION_CODE_NAMES) {
      const { code, message } = SESSION_CODES[name]
      const spoof = name === 'VIDEO_SPOOF' ? [image] : []
      assert.deepEqual(webhookOf({}, { state: 'FAILED', failures: [name] }).errors, [...spoof, { code, message }])
    }
  })

  test('has the nonce of a VERIFY, and nothing of a person, even if one was found', () => {
    const contactInformation = { email: 'someone@shop.example' }
    assert.equal(webhookOf({ type: 'VERIFY', nonce: 'n-1' }, end).nonce, 'n-1')
    const { puid, guid, identityInformation, contactInformation: returned } = webhookOf({ contactInformation }, end)
    assert.deepEqual([puid, guid, identityInformation, returned], [undefined, undefined, undefined, undefined])
  })
})

describe('a session that was abandoned', () => {
  test('is a failure for a host that knows only success and failure, with the code of the reason', () => {
    for (const [code, number, message] of [
      ['USER_CANCELLED', -17, 'Cancelled by the user'],
      ['CONSENT_DECLINED', -18, 'Consent declined'],
      ['HOST_CANCELLED', -38, 'Cancelled by the host'],
    ] as const) {
      const end = { state: 'CANCELLED', code } as const
      const body = { sessionId: SESSION, message, errors: [{ code: number, message }] }
      const rest = { riskEvaluation: risk, outcome: 'CANCELLED', codeHash: null, consent: null, livemode: true }
      assert.deepEqual(webhookOf({}, end), { ...body, ...rest, status: 'FAILED', type: 'ENROLL' })
      const signIn = { ...rest, status: 'error', errorCodes: [number], type: 'SIGN-IN' }
      assert.deepEqual(webhookOf({ type: 'SIGN-IN' }, end), { ...body, ...signIn })
    }
  })

  test('that has expired has -8, and also -5 when only a desktop opened it', () => {
    const end = { state: 'EXPIRED' } as const
    const expired = { code: -8, message: 'Session expired' }
    const { status, message, errors, outcome } = webhookOf({}, end)
    assert.deepEqual([status, message, errors, outcome], ['FAILED', 'Session expired', [expired], 'EXPIRED'])
    const desktop = webhookOf({ type: 'SIGN-IN' }, end, { desktop: true })
    assert.deepEqual(desktop.errors, [expired, { code: -5, message: 'Desktop is not allowed' }])
    assert.deepEqual([desktop.status, desktop.message, desktop.errorCodes], ['error', 'Session expired', [-8, -5]])
  })
})

describe('the risk', () => {
  test('[U4] of anything but a success is never ALLOW', () => {
    const clean: RiskEvaluation = { ...risk, flags: [], recommendation: 'ALLOW' }
    const allowed = (end: WebhookFacts['end']) => webhookOf({}, end, { risk: clean }).riskEvaluation.recommendation
    assert.equal(allowed({ state: 'SUCCESS', person }), 'ALLOW')
    assert.equal(allowed({ state: 'EXPIRED' }), 'REVIEW')
    assert.equal(allowed({ state: 'CANCELLED', code: 'USER_CANCELLED' }), 'REVIEW')
    for (const name of SESSION_CODE_NAMES) assert.equal(allowed({ state: 'FAILED', failures: [name] }), 'REVIEW', name)
  })

  const flags = [{ code: 'BH_TOO_FAST' }, { code: 'BR_WEBDRIVER' }] as const
  const seen = { ...newProgress('en'), flags: [...flags], behaviour: true }

  test('[D-042] does not include behaviour, whatever its flags are', () => {
    const evaluated = riskOf(requestOf({}), { ...seen, indicators: CLEAN })
    assert.deepEqual(evaluated, {
      ...{ score: 85, level: 'CRITICAL', recommendation: 'BLOCK', flags: ['BR_WEBDRIVER'] },
      signals: { behavioral: null, browser: { score: 85, flags: ['BR_WEBDRIVER'] } },
      policyVersion: '4',
    })
    assert.deepEqual(riskOf(requestOf({}), seen), risk, 'and without browser data nothing is left')
  })

  test('[X-005] [X-006] [X-007] has a level that follows from the score, and a recommendation', () => {
    const weights = [0, 5, 29, 30, 59, 60, 84, 85, 100]
    const evaluated = weights.map((weight) => {
      const overrides = { flags: { BR_WEBDRIVER: { weight, floor: 0 } } }
      const progress = { ...seen, indicators: CLEAN }
      return riskOf(requestOf({}, { risk: overrides }), progress)
    })
    assert.deepEqual(
      evaluated.map(({ score }) => score),
      weights,
    )
    for (const { score, level, recommendation } of evaluated) {
      const row = RISK_LEVELS.find(({ min }) => score >= min)
      assert.deepEqual([level, recommendation], [row?.level, row?.recommendation])
    }
  })

  test('blocks a session only when the tenant enforces it', () => {
    const critical = { ...seen, indicators: CLEAN }
    assert.equal(blocks(requestOf({}), critical), false)
    assert.equal(blocks(requestOf({}, { enforceBlock: true }), critical), true)
    assert.equal(blocks(requestOf({}, { enforceBlock: true }), { ...critical, flags: [] }), false)
    assert.equal(blocks(requestOf({}, { enforceBlock: true }), null), false)
  })
})

test('the redirect has the session, its end and the host’s own parameters, and no person', () => {
  const redirectUrl = 'https://shop.example/back?state=a%20b&status=FORGED&sessionId=1#top'
  for (const status of ['SUCCESS', 'FAILED', 'CANCELLED', 'EXPIRED'] as const)
    assert.equal(
      redirectTargetOf({ redirectUrl }, { sessionId: SESSION, status }),
      `https://shop.example/back?state=a+b&sessionId=${SESSION}&status=${status}#top`,
    )
})
