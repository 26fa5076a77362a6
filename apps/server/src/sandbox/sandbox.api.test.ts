import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { SandboxOutcome } from '@ostiary/contract'
import { createAgeHost, documentShown, endedBody, type Host, LEAST, openBody } from '../age/testing/fixture.ts'
import { assertError, assertInvalid } from '../testing/harness.ts'

const { fixture, host } = await createAgeHost()

const SANDBOX = { level: 'sandbox', method: 'test mode' } as const
const ABOVE = 'AGE_ABOVE_THRESHOLD'
const outcomeUrl = (sessionId: string) => `/test/sessions/${sessionId}/outcome`

describe('POST /test/sessions/:id/outcome', () => {
  test('204: without a simulated outcome the person is above the threshold', async () => {
    const created = await host.create()
    const ended = await host.call('POST', outcomeUrl(created.sessionId), {})
    assert.deepEqual([ended.statusCode, ended.body], [204, ''])
    assert.deepEqual(
      await host.result(created.token),
      endedBody(created, {
        sessionStatus: ABOVE,
        status: ABOVE,
        flowStatus: 'COMPLETED',
        result: { facialAgeEstimation: { thresholdResult: ABOVE } },
        outcome: 'SUCCEEDED',
        assurance: SANDBOX,
      }),
    )
  })

  test('204: a simulated outcome shows every step that the session asks for', async () => {
    const exact = { documentAgeReturnFormat: 'both', facialAgeEstimationReturnFormat: 'both' }
    const documentAge = { thresholdResult: ABOVE, exact: 23 } as const
    const facialAgeEstimation = { thresholdResult: ABOVE, exact: 35 } as const
    for (const [requirements, expected] of [
      [['face'], { age: 35, facialAgeEstimation }],
      [['identity_document'], { age: 23, documentAge }],
      [
        ['face', 'identity_document'],
        { age: 23, confidenceScore: 1, faceMatch: true, documentAge, facialAgeEstimation },
      ],
    ] as const) {
      const { token, sessionId } = await host.create({ ...exact, requirements, documentAgeThreshold: 18 })
      await host.outcome(sessionId, { outcome: ABOVE })
      assert.deepEqual((await host.result(token)).result, expected)
    }
    const stepUp = await host.create({ stepUpEnabled: true })
    await host.outcome(stepUp.sessionId, { outcome: 'AGE_BELOW_THRESHOLD' })
    const below = { thresholdResult: 'AGE_BELOW_THRESHOLD' } as const
    const { sessionStatus, result } = await host.result(stepUp.token)
    assert.equal(sessionStatus, 'AGE_BELOW_THRESHOLD')
    assert.deepEqual(result, { confidenceScore: 1, faceMatch: true, documentAge: below, facialAgeEstimation: below })
  })

  test('204: a document in the result has its record, as after a real flow; a failure and a face alone have none', async () => {
    const both = { requirements: ['face', 'identity_document'] }
    const cases: [object, SandboxOutcome, boolean, string, string][] = [
      [both, {}, true, ABOVE, 'sandbox'],
      [both, { faceAge: 40, documentAge: 41, faceMatchScore: 0.9 }, true, ABOVE, 'sandbox'],
      [both, { faceAge: 40, documentAge: 41, faceMatchScore: 0.2 }, true, 'AGE_UNKNOWN', 'none'],
      [{ requirements: ['identity_document'] }, { documentAge: 12 }, true, 'AGE_BELOW_THRESHOLD', 'sandbox'],
      [{ stepUpEnabled: true }, { outcome: 'AGE_BELOW_THRESHOLD' }, true, 'AGE_BELOW_THRESHOLD', 'sandbox'],
      [{ stepUpEnabled: true }, { faceAge: 40 }, false, ABOVE, 'sandbox'],
    ]
    for (const code of [-26, -27, -28, -29, -30]) cases.push([both, { errors: [code] }, false, 'AGE_UNKNOWN', 'none'])
    for (const [body, outcome, isShown, status, level] of cases) {
      const created = await host.create(body)
      await host.outcome(created.sessionId, outcome)
      const { document, sessionStatus, assurance, endedAt } = await host.result(created.token)
      const expected = isShown && endedAt ? documentShown(endedAt) : null
      const what = JSON.stringify([body, outcome])
      assert.deepEqual([document, sessionStatus, assurance.level], [expected, status, level], what)
    }
    const face = await host.create()
    await host.outcome(face.sessionId)
    assert.ok(!('document' in (await host.result(face.token))))
  })

  test('[C-050] 204: the codes of the specification as a host sees them', async () => {
    const spoof = { code: 1, name: 'SPOOF' } as const
    for (const [code, ...errorDetails] of [
      [1, spoof],
      [2, spoof, { code: 2, name: 'VIDEO_SPOOF' }],
      [-5, { code: -5, name: 'DESKTOP' }],
      [-7, { code: -7, name: 'CAMERA_FAIL' }],
    ] as const) {
      const created = await host.create({ facialAgeEstimationReturnFormat: 'exact' })
      await host.outcome(created.sessionId, { errors: [code], outcome: ABOVE })
      assert.deepEqual(
        await host.result(created.token),
        endedBody(created, {
          flowStatus: 'COMPLETED',
          outcome: 'FAILED',
          errors: errorDetails.map((one) => one.code),
          errorDetails,
        }),
      )
    }
  })

  test('204: codes of a session that did not complete end it as they would', async () => {
    for (const [errors, flowStatus, outcome] of [
      [[-17], 'CANCELLED', 'CANCELLED'],
      [[-18], 'CANCELLED', 'CANCELLED'],
      [[-38], 'CANCELLED', 'CANCELLED'],
      [[-8], 'EXPIRED', 'EXPIRED'],
      [[-5, -8], 'EXPIRED', 'EXPIRED'],
    ] as const) {
      const created = await host.create()
      await host.outcome(created.sessionId, { errors: [...errors] })
      const result = await host.result(created.token)
      assert.deepEqual([result.flowStatus, result.outcome, result.errors], [flowStatus, outcome, errors])
    }
  })

  test('400: a number that is not a session code is refused and never leads to a verdict', async () => {
    const { token, sessionId } = await host.create()
    const pointer = '/body/errors/1'
    const message = 'is not a session code (docs/session-codes.md)'
    for (const unknown of [0, -13, -50]) {
      const refused = await host.call('POST', outcomeUrl(sessionId), { faceAge: 40, errors: [-12, unknown] })
      assertInvalid(refused, pointer, message)
    }
    assert.equal((await host.result(token)).flowStatus, null)
    const wrong = await host.call('POST', outcomeUrl(sessionId), { outcome: 'OLD', extra: 1 })
    assert.equal(wrong.statusCode, 400)
    assert.deepEqual(wrong.json().details, [
      { pointer: '/body/extra', message: 'is not a known field' },
      {
        pointer: '/body/outcome',
        message:
          'must be one of AGE_UNKNOWN, AGE_BELOW_THRESHOLD, AGE_ABOVE_THRESHOLD, AGE_AT_THRESHOLD, ' +
          'success, spoof, expired, not_enrolled, locked',
      },
    ])
  })

  test('403 for live keys, 404 for any session that is not a test session of the caller', async () => {
    const live = await fixture.sibling(host, { livemode: true })
    const liveSession = await live.create()
    const refused = await live.call('POST', outcomeUrl(liveSession.sessionId), {})
    assertError(refused, 403, 'SCOPE_DENIED', 'Only test keys may use the sandbox')
    const foreign = await (await fixture.newHost()).create()
    const { token } = await host.create()
    for (const id of [liveSession.sessionId, foreign.sessionId, randomUUID(), 'x', token]) {
      const missing = await host.call('POST', outcomeUrl(id), {})
      assertError(missing, 404, 'NOT_FOUND', 'There is no session with this id')
    }
    assert.equal((await live.result(liveSession.token)).flowStatus, null)
  })

  test('409 when the session has ended, or its time is over', async () => {
    const ended = await host.create()
    await host.outcome(ended.sessionId, { outcome: 'AGE_BELOW_THRESHOLD' })
    const again = await host.call('POST', outcomeUrl(ended.sessionId), { outcome: ABOVE })
    assertError(again, 409, 'SESSION_NOT_OPEN', 'The session has ended')
    assert.equal((await host.result(ended.token)).status, 'AGE_BELOW_THRESHOLD', 'the first result stands')
    const late = await host.create({ sessionExpiry: 60 })
    fixture.harness.clock.advance(60_001)
    const tooLate = await host.call('POST', outcomeUrl(late.sessionId), { outcome: ABOVE })
    assertError(tooLate, 409, 'SESSION_NOT_OPEN', 'The session has ended')
    assert.equal((await host.result(late.token)).flowStatus, 'EXPIRED')
  })

  test('410 when the session is erased', async () => {
    const { token, sessionId } = await host.create()
    await host.outcome(sessionId)
    await host.call('DELETE', `/session/${token}`)
    assertError(await host.call('POST', outcomeUrl(sessionId), {}), 410, 'GONE', 'The session is over and deleted')
  })
})

describe('metadata.__test', () => {
  test('the session ends with the simulated outcome when its launch URL is opened, after the requested delay', async () => {
    const __test = { outcome: 'AGE_AT_THRESHOLD', risk: 'HIGH', delayMs: 120 } as const
    const created = await host.create({ metadata: { order: 'A-7', __test } })
    assert.deepEqual(await host.result(created.token), {
      ...openBody(created),
      metadata: { order: 'A-7', __test },
    })
    const began = performance.now()
    const state = await fixture.visit(created.sessionId)
    assert.ok(performance.now() - began >= 120)
    assert.deepEqual([state.flowStatus, state.state], ['COMPLETED', 'COMPLETED'])
    const result = await host.result(created.token)
    assert.deepEqual([result.status, result.riskEvaluation.level], ['AGE_AT_THRESHOLD', 'HIGH'])
    assert.deepEqual(result.metadata, { order: 'A-7', __test })
  })

  test('an impossible outcome is refused at the creation; for live keys it is ordinary metadata', async () => {
    const pointer = '/body/metadata/__test'
    const outcomes = 'AGE_UNKNOWN, AGE_BELOW_THRESHOLD, AGE_ABOVE_THRESHOLD, AGE_AT_THRESHOLD'
    const fields = 'outcome, errors, risk, delayMs, faceAge, documentAge, faceMatchScore'
    for (const [__test, place, message] of [
      ['above', '', 'must be object'],
      [null, '', 'must be object'],
      [{ outcome: 'OLD' }, '/outcome', `must be one of ${outcomes}`],
      [{ risk: 'NONE' }, '/risk', 'must be one of CRITICAL, HIGH, MEDIUM, LOW'],
      [{ delayMs: 10_001 }, '/delayMs', 'must be <= 10000'],
      [{ age: 40 }, '/age', `is not one of ${fields}`],
    ] as const) {
      const refused = await host.call('POST', '/session', { ...LEAST, metadata: { __test } })
      assertInvalid(refused, `${pointer}${place}`, message)
    }
    const code = await host.call('POST', '/session', { ...LEAST, metadata: { __test: { errors: [-50] } } })
    assert.deepEqual(code.json().details, [
      { pointer: `${pointer}/errors/0`, message: 'is not a session code (docs/session-codes.md)' },
    ])
    const live = await fixture.newHost({ livemode: true })
    const created = await live.create({ metadata: { __test: { outcome: ABOVE } } })
    assert.equal((await fixture.visit(created.sessionId, { declines: true })).flowStatus, 'CANCELLED')
    assert.deepEqual((await live.result(created.token)).metadata, { __test: { outcome: ABOVE } })
  })
})

describe('metadata.__test with a challenge', () => {
  const pointer = '/body/metadata/__test'
  const refusalOf = async (__test: object) => {
    const refused = await host.call('POST', '/session', { ...LEAST, metadata: { __test } })
    assert.deepEqual([refused.statusCode, refused.json().code], [400, 'VALIDATION_FAILED'], JSON.stringify(__test))
    return refused.json().details
  }

  test('400 for anything but three movements, and for an outcome beside them', async () => {
    const challenge = ['blink', 'closer', 'blink']
    for (const [__test, place, message] of [
      [{ challenge: ['blink', 'closer'] }, '/challenge', 'must not have fewer than 3 items'],
      [{ challenge: [...challenge, 'closer'] }, '/challenge', 'must not have more than 3 items'],
      [
        { challenge: ['blink', 'closer', 'jump'] },
        '/challenge/2',
        'must be one of turn_left, turn_right, look_up, blink, closer',
      ],
      [{ challenge: 'blink' }, '/challenge', 'must be array'],
      [{ challenge, times: 'never' }, '/times', 'must be one of random, fixed'],
      [{ challenge, outcome: ABOVE }, '/outcome', 'is not one of challenge, times'],
      [{ challenge, delayMs: 1 }, '/delayMs', 'is not one of challenge, times'],
    ] as const)
      assert.deepEqual(await refusalOf(__test), [{ pointer: `${pointer}${place}`, message }])
  })

  test('400 for the same movement twice in a row: it could be one long movement', async () => {
    const details = [{ pointer: `${pointer}/challenge/2`, message: 'must be another movement than the one before' }]
    assert.deepEqual(await refusalOf({ challenge: ['closer', 'blink', 'blink'] }), details)
  })

  test('opening the flow does not end it, and the outcome call accepts no challenge', async () => {
    const challenge = ['closer', 'blink', 'closer']
    const { sessionId } = await host.create({ metadata: { __test: { challenge } } })
    assert.equal((await host.call('POST', outcomeUrl(sessionId), { challenge })).statusCode, 400)
    assert.equal((await fixture.visit(sessionId, { declines: true })).flowStatus, 'CANCELLED')
  })
})

describe('POST /test/clock/advance', () => {
  const advance = (who: Host, seconds: unknown) => who.call('POST', '/test/clock/advance', { seconds })

  test('204: expiry, deletion and the end of the tombstone come nearer, for the tenant’s test sessions only', async () => {
    const other = await fixture.newHost()
    const live = await fixture.sibling(host, { livemode: true })
    const [mine, foreign, liveOne] = [await host.create(), await other.create(), await live.create()]
    const moved = await advance(host, 901)
    assert.deepEqual([moved.statusCode, moved.body], [204, ''])
    assert.equal((await host.result(mine.token)).flowStatus, 'EXPIRED')
    assert.equal((await other.result(foreign.token)).flowStatus, null)
    assert.equal((await live.result(liveOne.token)).flowStatus, null)
    assert.equal(
      (await host.create()).expiresAt,
      new Date(fixture.harness.clock.now().getTime() + 900_000).toISOString(),
    )
    await advance(host, 86_400)
    const gone = await host.call('GET', `/session/${mine.token}/result`)
    assertError(gone, 410, 'GONE', 'The session is over and deleted')
    await advance(host, 30 * 86_400)
    const unknown = await host.call('GET', `/session/${mine.token}/result`)
    assertError(unknown, 404, 'NOT_FOUND', 'There is no session with this token')
  })

  test('204: the next attempt of a waiting webhook comes nearer', async () => {
    const { sessionId } = await host.create({ callback: { url: fixture.receiver.url } })
    await host.outcome(sessionId)
    fixture.receiver.answer((response) => void response.writeHead(500).end())
    const before = fixture.receiver.received.length
    const { dispatcher } = fixture.harness.wire.webhooks
    await dispatcher.tick()
    await dispatcher.tick()
    assert.equal(fixture.receiver.received.length, before + 1, 'the second attempt has to wait')
    await advance(host, 10)
    fixture.receiver.answer((response) => void response.writeHead(204).end())
    await dispatcher.tick()
    assert.equal(fixture.receiver.received.length, before + 2)
  })

  test('400 and 403', async () => {
    for (const [seconds, message] of [
      [0, 'must be >= 1'],
      [40 * 86_400 + 1, 'must be <= 3456000'],
      [1.5, 'must be integer'],
    ] as const) {
      assertInvalid(await advance(host, seconds), '/body/seconds', message)
    }
    const live = await fixture.newHost({ livemode: true })
    assertError(await advance(live, 1), 403, 'SCOPE_DENIED', 'Only test keys may use the sandbox')
  })
})

describe('POST /test/webhooks/:id/fail', () => {
  test('200: the requested number of attempts fails without being sent', async () => {
    const { sessionId } = await host.create({ callback: { url: fixture.receiver.url } })
    await host.outcome(sessionId)
    const { items } = (await host.call('GET', `/webhooks/deliveries?sessionId=${sessionId}`)).json()
    const [{ id }] = items
    const failing = await host.call('POST', `/test/webhooks/${id}/fail?times=1`)
    assert.equal(failing.statusCode, 200)
    assert.deepEqual(failing.json(), items[0])
    const before = fixture.receiver.received.length
    await fixture.harness.wire.webhooks.dispatcher.tick()
    assert.equal(fixture.receiver.received.length, before, 'nothing was sent')
    const { state, attempts, attemptLog } = (await host.call('GET', `/webhooks/deliveries/${id}`)).json()
    assert.deepEqual([state, attempts, attemptLog[0].outcome], ['pending', 1, 'sandbox'])
    fixture.harness.clock.advance(10_000)
    await fixture.harness.wire.webhooks.dispatcher.tick()
    assert.equal(fixture.receiver.received.length, before + 1)
  })

  test('400, 403 and 404', async () => {
    const id = randomUUID()
    const refused = await host.call('POST', `/test/webhooks/${id}/fail?times=21`)
    assertInvalid(refused, '/query/times', 'must be <= 20')
    const missing = await host.call('POST', `/test/webhooks/${id}/fail`)
    assertError(missing, 404, 'NOT_FOUND', 'There is no webhook delivery with this id')
    const live = await fixture.newHost({ livemode: true })
    const denied = await live.call('POST', `/test/webhooks/${id}/fail`)
    assertError(denied, 403, 'SCOPE_DENIED', 'Only a test key can make a delivery fail')
  })
})
