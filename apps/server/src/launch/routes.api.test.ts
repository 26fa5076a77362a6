import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Challenge, DEVICE_REPORTABLE, type LaunchState, SESSION_CODES } from '@ostiary/contract'
import { assertError } from '../testing/harness.ts'
import { makeSubmission, send } from './testing/capture.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage, okOf, stateBody } from './testing/page.ts'

const fixture = await createLaunchFixture()

const NOT_AT_STEP = [409, 'SESSION_NOT_OPEN', 'The session is not at this step'] as const
const HAS_ENDED = [409, 'SESSION_NOT_OPEN', 'The session has ended'] as const
const HAS_EXPIRED = [409, 'SESSION_NOT_OPEN', 'The session has expired'] as const
const CALLS = [
  'consent',
  'challenge',
  'events',
  'submit',
  'failure',
  'cancel',
  'extend',
  'handoff',
  'number',
  'take-back',
  'passkey/options',
  'passkey/verify',
] as const
/** The facts in the reply for an age check whose tenant has set no brand. */
const PLAIN = {
  brand: null,
  embedOrigins: [],
  alternativeUrl: null,
  links: { alternative: null, privacy: null, support: null },
  ages: { age: 30, estimate: null },
  mayExtend: false,
  document: null,
  type: 'AGE',
  verification: null,
  host: 'shop.example',
  handoff: true,
  eventsTravel: true,
}
/** For each call a body that its schema accepts. */
const BODIES: Readonly<Record<(typeof CALLS)[number], object>> = {
  consent: { accepted: true, version: '1', locale: 'en' },
  challenge: {},
  events: { events: [{ seq: 1, t: 0, type: 'page_open', hash: 'h'.repeat(43) }] },
  submit: { sealed: 'sealed' },
  failure: { code: -21 },
  cancel: {},
  extend: {},
  handoff: {},
  number: { number: '47' },
  'take-back': {},
  'passkey/options': {},
  'passkey/verify': { response: {} },
}

async function openedPage(body?: object) {
  const created = await fixture.create(body)
  const page = await createPage(fixture, created.sessionId)
  const opened = await page.open()
  return { created, page, opened }
}

async function readyPage(body?: object) {
  const started = await openedPage(body)
  await started.page.consent()
  return started
}

describe('open', () => {
  test('200: the first device holds the session and gets everything it needs', async () => {
    const created = await fixture.create({ requirements: ['face', 'identity_document'], locale: 'de-AT' })
    const page = await createPage(fixture, created.sessionId)
    const { sealKey, ...opened } = await page.open()
    const facts = { requirements: ['face', 'identity_document'], locale: 'de', consentVersion: '1', ...PLAIN }
    const types = ['passport', 'drivers_license', 'national_id', 'residence_permit', 'other']
    const document = { when: 'always', acceptedTypes: types, ageFormat: 'threshold', reuseCheck: false }
    assert.deepEqual(opened, { ...stateBody(created), ...facts, document })
    assert.deepEqual(Object.keys(sealKey).sort(), ['crv', 'kty', 'x', 'y'], 'the private half stays')
  })

  test('200: the language is the session’s, else the page’s, else the browser’s', async () => {
    const localeOf = async (body: object, more: object, headers: Record<string, string>) => {
      const { sessionId } = await fixture.create(body)
      const page = await createPage(fixture, sessionId)
      return okOf<{ locale: string }>(await page.call('open', page.openBody(more), { headers })).locale
    }
    const german = { 'accept-language': 'de;q=0.8' }
    assert.equal(await localeOf({ locale: 'pt_BR' }, { locale: 'fr' }, german), 'pt-BR')
    assert.equal(await localeOf({}, { locale: 'fr' }, german), 'fr')
    assert.equal(await localeOf({}, {}, german), 'de')
    assert.equal(await localeOf({}, {}, {}), 'en')
  })

  test('200: a reloaded page continues at its step; an open challenge is lost', async () => {
    const { created, page, opened } = await readyPage()
    const again = await page.open()
    assert.deepEqual(again, { ...opened, state: 'READY' })
    await page.challenge()
    assert.deepEqual(await page.open(), { ...opened, state: 'READY', attempt: 1, attemptsLeft: 2 })
    const lost = await page.call('submit', { sealed: 'sealed' })
    assertError(lost, ...NOT_AT_STEP)
    assert.equal((await fixture.result(created.token)).progress?.state, 'READY')
  })

  test('200: a stranger who opens an ended session gets its state, no result, and not where to continue', async () => {
    const { created, page } = await readyPage()
    await page.cancel()
    const other = await createPage(fixture, created.sessionId)
    const { sealKey: _key, ...reply } = await other.open()
    const facts = { requirements: ['face'], locale: 'en', consentVersion: '1', ...PLAIN }
    const ended = { state: 'CANCELLED', role: 'viewer', flowStatus: 'CANCELLED', redirectUrl: null } as const
    assert.deepEqual(reply, { ...stateBody(created, ended), ...facts })
  })

  test('200: the first device that comes too late finds the session expired, as all later ones do', async () => {
    const created = await fixture.create({ sessionExpiry: 60 })
    fixture.harness.clock.advance(60_001)
    const page = await createPage(fixture, created.sessionId)
    const { sealKey: _key, ...reply } = await page.open()
    const facts = { requirements: ['face'], locale: 'en', consentVersion: '1', ...PLAIN }
    const ended = { state: 'EXPIRED', role: 'viewer', flowStatus: 'EXPIRED' } as const
    assert.deepEqual(reply, { ...stateBody(created, ended), ...facts })
    assert.deepEqual((await fixture.result(created.token)).errors, [-8])
  })

  test('400 for a malformed key, 401 for a point that is not on the curve', async () => {
    const { sessionId } = await fixture.create()
    const page = await createPage(fixture, sessionId)
    const keys = [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }, { ...page.deviceKey, d: 'x'.repeat(43) }, null, 'key']
    for (const deviceKey of keys) {
      const reply = await page.tryOpen({ deviceKey })
      assert.deepEqual([reply.statusCode, reply.json().code], [400, 'VALIDATION_FAILED'], JSON.stringify(deviceKey))
    }
    const nowhere = await page.tryOpen({ deviceKey: { ...page.deviceKey, x: 'A'.repeat(43) } })
    assertError(nowhere, 401, 'INVALID_DEVICE_PROOF', 'The device’s signature is not valid')
  })

  test('404 for an unknown id, 410 once the session was erased', async () => {
    const nobody = await createPage(fixture, '079b6cd9-f993-81a6-95fd-62194e74386d')
    assertError(await nobody.tryOpen(), 404, 'NOT_FOUND', 'There is no session with this id')
    const odd = await createPage(fixture, 'x'.repeat(36))
    assertError(await odd.tryOpen(), 404, 'NOT_FOUND', 'There is no session with this id')
    const { created, page } = await openedPage()
    await page.cancel()
    const { harness } = fixture
    harness.clock.advance(25 * 3_600_000)
    assertError(await page.tryOpen(), 410, 'GONE', 'The session is over and deleted')
    assertError(await page.call('cancel'), 410, 'GONE', 'The session is over and deleted')
    assert.equal((await harness.inject(`/session/${created.token}/result`)).statusCode, 410)
  })
})

describe('consent', () => {
  test('200: yes makes the flow ready, and a second yes is refused', async () => {
    const { created, page } = await openedPage()
    assert.deepEqual(await page.consent(), stateBody(created, { state: 'READY' }))
    assertError(await page.call('consent', BODIES.consent), ...NOT_AT_STEP)
  })

  test('200: yes leads to the document where the host asks for it first', async () => {
    const { created, page } = await openedPage({ requirements: ['identity_document', 'face'] })
    assert.deepEqual(await page.consent(), stateBody(created, { state: 'DOC_ACTIVE', documentAttemptsLeft: 3 }))
  })

  test('200: no ends the flow as CANCELLED with -18', async () => {
    const { created, page } = await openedPage()
    const reply = await page.consent(false)
    assert.deepEqual(reply, stateBody(created, { state: 'CANCELLED', flowStatus: 'CANCELLED', errors: [-18] }))
    const { sessionStatus, flowStatus, errors, errorDetails } = await fixture.result(created.token)
    assert.deepEqual(
      { sessionStatus, flowStatus, errors, errorDetails },
      {
        sessionStatus: 'AGE_UNKNOWN',
        flowStatus: 'CANCELLED',
        errors: [-18],
        errorDetails: [{ code: -18, name: 'CONSENT_DECLINED' }],
      },
    )
  })
})

describe('challenge', () => {
  test('200: three movements, sample times, 90 seconds and a new nonce each time', async () => {
    const { page } = await readyPage()
    const now = fixture.harness.clock.now().getTime()
    const { nonce, steps, sampleAtMs, ...rest } = await page.challenge()
    assert.deepEqual(rest, { attempt: 1, expiresAt: new Date(now + 90_000).toISOString() })
    assert.match(nonce, /^[A-Za-z0-9_-]{32}$/)
    assert.equal(steps.length, 3)
    assert.ok(sampleAtMs.length >= 17 && sampleAtMs.length <= 19, `${sampleAtMs}`)
    const second = await page.challenge()
    assert.notEqual(second.nonce, nonce)
    assert.equal(second.attempt, 2, 'a challenge that was left begins the next try')
  })

  test('200: a repeated request with the same number, because the reply was lost, gets the same challenge and costs no try', async () => {
    const { created, page } = await readyPage()
    const ask = async () => okOf<Challenge>(await page.call('challenge', { attempt: 1 }))
    const first = await ask()
    fixture.harness.clock.advance(2_000)
    for (let times = 0; times < 4; times++) assert.deepEqual(await ask(), first)
    const done = await send(page, await makeSubmission(page, first))
    assert.equal(done.json().flowStatus, 'COMPLETED', done.body)
    const { sessionStatus, riskEvaluation } = await fixture.result(created.token)
    assert.deepEqual([sessionStatus, riskEvaluation.flags], ['AGE_ABOVE_THRESHOLD', []])
  })

  test('409 before consent, and for a fourth try, which ends the flow with -19', async () => {
    const { created, page } = await openedPage()
    assertError(await page.call('challenge'), ...NOT_AT_STEP)
    await page.consent()
    for (let attempt = 1; attempt <= 3; attempt++) assert.equal((await page.challenge()).attempt, attempt)
    assertError(await page.call('challenge'), 409, 'SESSION_NOT_OPEN', 'All tries are used up')
    const { sessionStatus, flowStatus, errors } = await fixture.result(created.token)
    assert.deepEqual([sessionStatus, flowStatus, errors], ['AGE_UNKNOWN', 'COMPLETED', [-19]])
  })
})

describe('events', () => {
  test('200, also when they are sent again; 400 for an empty list, for 51, and for an unknown type', async () => {
    const { created, page } = await readyPage()
    const { events } = await makeSubmission(page, await page.challenge())
    const expected = stateBody(created, { state: 'FACE_ACTIVE', attempt: 1, attemptsLeft: 2 })
    assert.deepEqual(okOf(await page.call('events', { events })), expected)
    assert.deepEqual(okOf(await page.call('events', { events })), expected)
    const [first] = events
    const wrong = [[], Array.from({ length: 51 }, () => first), [{ ...first, type: 'verdict' }], [{ ...first, seq: 0 }]]
    for (const bad of wrong) {
      const reply = await page.call('events', { events: bad })
      assert.deepEqual([reply.statusCode, reply.json().code], [400, 'VALIDATION_FAILED'])
    }
    await page.cancel()
    const { signals } = (await fixture.result(created.token)).riskEvaluation
    assert.deepEqual(signals, { behavioral: { score: 0, flags: [] }, browser: null })
  })
})

describe('submit', () => {
  test('200: a good capture ends the flow; a second one is refused and the first result stands', async () => {
    const { created, page } = await readyPage()
    const submission = await makeSubmission(page, await page.challenge())
    const ended = { state: 'COMPLETED', flowStatus: 'COMPLETED', attempt: 1, attemptsLeft: 2 } as const
    assert.deepEqual(okOf(await send(page, submission)), stateBody(created, ended))
    const first = await fixture.result(created.token)
    assert.equal(first.sessionStatus, 'AGE_ABOVE_THRESHOLD')
    assertError(await page.call('submit', { sealed: submission.sealed }), ...HAS_ENDED)
    assert.deepEqual(await fixture.result(created.token), first)
  })

  test('409 before a challenge, 400 for a payload that cannot be read', async () => {
    const { page } = await readyPage()
    assertError(await page.call('submit', { sealed: 'sealed' }), ...NOT_AT_STEP)
    await page.challenge()
    assertError(await page.call('submit', { sealed: 'sealed' }), 400, 'INVALID_PAYLOAD', 'The payload cannot be read')
    const large = await page.call('submit', { sealed: 's'.repeat(4_097) })
    assertError(large, 413, 'PAYLOAD_TOO_LARGE', 'The sealed payload is too large')
  })
})

describe('failure', () => {
  test('PASSKEY_FAILED is refused in an age check', async () => {
    const { page } = await readyPage()
    assertError(await page.call('failure', { code: -25 }), ...NOT_AT_STEP)
    assertError(await page.call('passkey/options'), ...NOT_AT_STEP)
    assertError(await page.call('passkey/verify', { response: {} }), ...NOT_AT_STEP)
  })

  for (const name of DEVICE_REPORTABLE.filter((one) => one !== 'PASSKEY_FAILED')) {
    const { code, kind } = SESSION_CODES[name]
    if (kind === 'D') {
      test(`${name} is recorded and costs no try`, async () => {
        const { created, page } = await readyPage()
        await page.challenge()
        const reply = await page.failure(code)
        const expected = stateBody(created, { state: 'FACE_ACTIVE', attempt: 1, attemptsLeft: 2, errors: [code] })
        assert.deepEqual(reply, expected)
      })
      continue
    }
    if (name.startsWith('DO')) {
      test(`${name} uses up a try of the document step alone, and the third one ends the flow with ${code} and -19`, async () => {
        const { created, page } = await openedPage({ requirements: ['identity_document', 'face'] })
        assertError(await page.call('failure', { code }), ...NOT_AT_STEP)
        await page.consent()
        for (const documentAttemptsLeft of [2, 1]) {
          const left = stateBody(created, { state: 'DOC_ACTIVE', errors: [code], documentAttemptsLeft })
          assert.deepEqual(await page.failure(code), left)
        }
        const flowStatus = 'COMPLETED'
        assert.deepEqual(
          await page.failure(code),
          stateBody(created, { state: flowStatus, errors: [code], flowStatus }),
        )
        const { sessionStatus, result, errors, document } = await fixture.result(created.token)
        assert.deepEqual([sessionStatus, errors, document], ['AGE_UNKNOWN', [code, -19], null])
        assert.deepEqual(result, {})
      })
      continue
    }
    test(`${name} uses up a try, and the third one ends the flow with ${code} and -19`, async () => {
      const { created, page } = await readyPage()
      for (const attempt of [1, 2]) {
        await page.challenge()
        const reply = await page.failure(code)
        assert.deepEqual(
          reply,
          stateBody(created, { state: 'READY', attempt, attemptsLeft: 3 - attempt, errors: [code] }),
        )
      }
      await page.challenge()
      const flowStatus = 'COMPLETED'
      const last = stateBody(created, { state: flowStatus, attempt: 3, attemptsLeft: 0, errors: [code], flowStatus })
      assert.deepEqual(await page.failure(code), last)
      const { sessionStatus, result, errors } = await fixture.result(created.token)
      assert.deepEqual([sessionStatus, errors], ['AGE_UNKNOWN', [code, -19]])
      assert.deepEqual(result, {})
    })
  }

  test('a camera that never starts uses up tries without a challenge', async () => {
    const { created, page } = await readyPage()
    for (const attempt of [1, 2]) assert.equal((await page.failure(-7, 'not_found')).attempt, attempt)
    assert.equal((await page.failure(-7, 'in_use')).flowStatus, 'COMPLETED')
    const { errorDetails } = await fixture.result(created.token)
    assert.deepEqual(errorDetails, [
      { code: -7, name: 'CAMERA_FAIL', reason: 'in_use' },
      { code: -19, name: 'ATTEMPTS_EXCEEDED' },
    ])
  })

  test('a report that is repeated with the number of its try counts once', async () => {
    const { page } = await readyPage()
    const report = async (attempt: number) =>
      okOf<LaunchState>(await page.call('failure', { code: -7, reason: 'in_use', attempt }))
    for (let times = 0; times < 5; times++) assert.equal((await report(1)).attemptsLeft, 2)
    assert.equal((await report(2)).attemptsLeft, 1)
  })

  test('400 for a code that a device may not report, and for a reason that is not a word', async () => {
    const { page } = await readyPage()
    const codes = Object.values(SESSION_CODES).map(({ code }) => code)
    const reportable = new Set<number>(DEVICE_REPORTABLE.map((name) => SESSION_CODES[name].code))
    for (const code of [...codes.filter((one) => !reportable.has(one)), 0, 7, -13]) {
      const details = [{ pointer: '/body/code', message: 'is not a code that a device reports' }]
      const message = 'The request is not valid: /body/code is not a code that a device reports'
      fixture.harness.clock.advance(1_000)
      assertError(await page.call('failure', { code }), 400, 'VALIDATION_FAILED', message, { details })
    }
    const odd = await page.call('failure', { code: -7, reason: 'No camera!' })
    assert.deepEqual([odd.statusCode, odd.json().code], [400, 'VALIDATION_FAILED'])
  })

  test('409 before consent for a code that costs a try', async () => {
    const { page } = await openedPage()
    assertError(await page.call('failure', { code: -7 }), ...NOT_AT_STEP)
  })
})

describe('cancel', () => {
  test('200 at every step: the flow ends as CANCELLED with -17', async () => {
    for (const reach of [openedPage, readyPage]) {
      const { created, page } = await reach()
      const reply = await page.cancel()
      assert.deepEqual(reply, stateBody(created, { state: 'CANCELLED', flowStatus: 'CANCELLED', errors: [-17] }))
      assert.deepEqual((await fixture.result(created.token)).errors, [-17])
    }
  })
})

describe('every call but open', () => {
  for (const name of CALLS) {
    test(`${name}: 401 before the session is open, 404 without one, 409 after its end, 400 for a body of another form`, async () => {
      const created = await fixture.create({ sessionExpiry: 60 })
      const page = await createPage(fixture, created.sessionId)
      const unopened = await page.call(name, BODIES[name])
      assertError(unopened, 401, 'INVALID_DEVICE_PROOF', 'The session is not open on a device')
      const nobody = await createPage(fixture, '079b6cd9-f993-81a6-95fd-62194e74386d')
      assertError(await nobody.call(name, BODIES[name]), 404, 'NOT_FOUND', 'There is no session with this id')
      for (const body of ['{"sessionId":1}', '[]', 'null', '{"more":true}']) {
        const odd = await page.send(name, body)
        assert.deepEqual([odd.statusCode, odd.json().code], [400, 'VALIDATION_FAILED'], body)
      }
      const broken = await page.send(name, '{')
      assert.deepEqual([broken.statusCode, broken.json().code], [400, 'INVALID_JSON'])
      const text = await page.call(name, BODIES[name], { headers: { 'content-type': 'text/plain' } })
      assert.deepEqual([text.statusCode, text.json().code], [415, 'UNSUPPORTED_MEDIA_TYPE'])
      const bytes = name === 'submit' ? 410_000 : 33_000
      const large = await page.send(name, JSON.stringify({ sessionId: 'x'.repeat(bytes) }))
      assert.deepEqual([large.statusCode, large.json().code], [413, 'PAYLOAD_TOO_LARGE'])
      await page.open()
      fixture.harness.clock.advance(61_000)
      assertError(await page.call(name, BODIES[name]), ...HAS_EXPIRED)
      const { page: over } = await openedPage()
      await over.cancel()
      assertError(await over.call(name, BODIES[name]), ...HAS_ENDED)
    })
  }

  test('another method is 405', async () => {
    for (const name of ['open', ...CALLS]) {
      const reply = await fixture.harness.inject({ method: 'PUT', url: `/launch/api/${name}`, payload: {} })
      assert.deepEqual([reply.statusCode, reply.json().code], [405, 'METHOD_NOT_ALLOWED'], name)
    }
  })
})
