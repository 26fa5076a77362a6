import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SESSION_CODE_NAMES, SESSION_CODES } from '@ostiary/contract'
import { NOTHING_JUDGED, NOTHING_TO_JUDGE } from '../age/testing/fixture.ts'
import { assertError, assertInvalid } from '../testing/harness.ts'
import { createVerificationHost, PATH, successBody } from '../verification/testing/fixture.ts'

const { fixture, host } = await createVerificationHost()

/** Codes that are not of a failure. */
const OUTCOME_OF: ReadonlyMap<number, string> = new Map([
  [-5, 'EXPIRED'],
  [-8, 'EXPIRED'],
  [-17, 'CANCELLED'],
  [-18, 'CANCELLED'],
  [-37, 'SUCCEEDED'],
  [-38, 'CANCELLED'],
])

const outcomeUrl = (sessionId: string) => `/test/sessions/${sessionId}/outcome`
const bodyOf = async (sessionId: string) => JSON.parse((await fixture.delivered(sessionId)).body.toString())

describe('POST /test/sessions/:id/outcome for a verification session', () => {
  test('204: without a simulated outcome it is a success, with the same person each time', async () => {
    const enrolled = await host.create('ENROLL')
    const ended = await host.call('POST', outcomeUrl(enrolled.sessionId), {})
    assert.deepEqual([ended.statusCode, ended.body], [204, ''])
    const webhook = await bodyOf(enrolled.sessionId)
    const { puid, guid } = webhook
    const identityInformation = { verificationDate: String(fixture.harness.clock.now().getTime()) }
    const shared = { puid, guid, identityInformation, riskEvaluation: NOTHING_TO_JUDGE }
    assert.deepEqual(webhook, successBody(enrolled, shared))
    assert.match(`${puid} ${guid}`, /^[0-9a-f-]{36} [0-9a-f-]{36}$/)
    const signedIn = await host.create('SIGN-IN')
    await host.outcome(signedIn.sessionId)
    const again = { ...shared, type: 'SIGN-IN', matchedBy: 'sandbox' } as const
    assert.deepEqual(await bodyOf(signedIn.sessionId), successBody(signedIn, again))
  })

  test('204: a success has the age and the picture that the host asked for', async () => {
    const { sessionId } = await host.create('ENROLL', { estimateAge: true, sendImages: true })
    await host.outcome(sessionId)
    const { estimatedAge, images } = await bodyOf(sessionId)
    assert.equal(estimatedAge, 35)
    assert.equal(images.length, 1)
    assert.equal(Buffer.from(images[0].data, 'base64').readUInt16BE(0), 0xffd8)
  })

  test('204: a success of an ENROLL with a document names its type, and has its record', async () => {
    const { sessionId } = await host.create('ENROLL', { requirements: ['face', 'identity_document'] })
    await host.outcome(sessionId)
    const { status, identityInformation, document } = await bodyOf(sessionId)
    assert.deepEqual([status, identityInformation.documentType], ['SUCCESS', 'passport'])
    assert.deepEqual([document.type, document.format, document.expiry], ['passport', 'TD3', 'valid'])
  })

  test('204: each failure has the body that the flow would send', async () => {
    for (const [outcome, code, message, more, ended] of [
      ['spoof', 1, 'Image spoof', {}, 'FAILED'],
      ['not_enrolled', -36, 'User not enrolled', {}, 'FAILED'],
      ['locked', -35, 'Temporarily locked', { retryAfter: 30 }, 'FAILED'],
      ['expired', -8, 'Session expired', {}, 'EXPIRED'],
    ] as const)
      for (const type of ['ENROLL', 'SIGN-IN', 'VERIFY'] as const) {
        const { sessionId } = await host.create(type)
        await host.outcome(sessionId, outcome)
        assert.deepEqual(await bodyOf(sessionId), {
          ...{ sessionId, status: type === 'SIGN-IN' ? 'error' : 'FAILED', message, errors: [{ code, message }] },
          ...(type === 'SIGN-IN' && { errorCodes: [code] }),
          ...{
            ...more,
            riskEvaluation: NOTHING_JUDGED,
            type,
            outcome: ended,
            codeHash: null,
            consent: null,
            livemode: false,
          },
        })
      }
  })

  test('204: every code that such a session can have, in the state that a real one has with it', async () => {
    const document = { requirements: ['face', 'identity_document'] }
    for (const name of SESSION_CODE_NAMES) {
      const { code, kind } = SESSION_CODES[name]
      const type = name === 'USER_NOT_ENROLLED' ? 'SIGN-IN' : 'ENROLL'
      const isNote = kind === 'D' && name !== 'ALREADY_ENROLLED'
      const { sessionId } = await host.create(type, type === 'ENROLL' ? document : {})
      const errors = isNote ? [code, -19] : [code]
      assert.equal((await host.call('POST', outcomeUrl(sessionId), { errors })).statusCode, 204, name)
      const body = await bodyOf(sessionId)
      const sent = new Map([
        [-5, [-8, -5]],
        [2, [1, 2]],
      ]).get(code)
      assert.deepEqual(
        body.errors.map((error: { code: number }) => error.code),
        sent ?? errors,
      )
      const outcome = OUTCOME_OF.get(code) ?? 'FAILED'
      assert.deepEqual([body.outcome, body.puid !== undefined], [outcome, outcome === 'SUCCEEDED'], name)
      assert.equal(body.retryAfter, code === -35 ? 30 : undefined)
    }
  })

  test('400: codes that no such session has', async () => {
    const [enrol, signIn] = [await host.create('ENROLL'), await host.create('SIGN-IN')]
    for (const [{ sessionId }, errors, message, at] of [
      [enrol, [-13], 'is not a session code (docs/session-codes.md)', '/0'],
      [enrol, [-21], 'must have a code that ends the session, such as -19', ''],
      [enrol, [-36], 'cannot have -36: it is for SIGN-IN and VERIFY', ''],
      [enrol, [-26], 'cannot have -26: this session asks for no document', ''],
      [enrol, [-37, -9], 'with -37 must have no other code: the session succeeds', ''],
      [signIn, [-37], 'cannot have -37: it is for ENROLL', ''],
      [signIn, [-17, -9], 'with -17, -18 or -38 must have no other code', ''],
      [signIn, [-8, -9], 'with -8 may have -5 and no other code: the session expires', ''],
    ] as const) {
      const refused = await host.call('POST', outcomeUrl(sessionId), { errors })
      const pointer = `/body/errors${at}`
      assertInvalid(refused, pointer, message)
    }
    const beside = await host.call('POST', outcomeUrl(enrol.sessionId), { outcome: 'spoof', errors: [1] })
    assert.equal(beside.statusCode, 400)
    assert.equal((await host.get(enrol.sessionId)).outcome, null)
  })

  test('400: an outcome of the other area, and a field beside the outcome', async () => {
    const { sessionId } = await host.create('ENROLL')
    const outcomes = 'must be one of success, spoof, expired, not_enrolled, locked for this session'
    const beside = 'is for age sessions; this one takes outcome or errors'
    for (const [body, pointer, message] of [
      [{ outcome: 'AGE_ABOVE_THRESHOLD' }, '/body/outcome', outcomes],
      [{ outcome: 'success', risk: 'HIGH' }, '/body/risk', beside],
      [{ faceAge: 40 }, '/body/faceAge', beside],
    ] as const) {
      const refused = await host.call('POST', outcomeUrl(sessionId), body)
      assertInvalid(refused, pointer, message)
    }
    assert.equal((await host.get(sessionId)).outcome, null)
    const age = await fixture.age.newHost()
    const created = await age.create()
    assert.equal((await age.call('POST', outcomeUrl(created.sessionId), { outcome: 'success' })).statusCode, 400)
    assert.equal((await age.result(created.token)).flowStatus, null)
  })

  test('403 for live keys, 404 for others’ sessions, 409 when it has ended, 410 when it is erased', async () => {
    const { sessionId } = await host.create('ENROLL')
    const live = await fixture.sibling(host, { livemode: true })
    const denied = await live.call('POST', outcomeUrl(sessionId), {})
    assertError(denied, 403, 'SCOPE_DENIED', 'Only test keys may use the sandbox')
    const foreign = await (await fixture.newHost()).call('POST', outcomeUrl(sessionId), {})
    assertError(foreign, 404, 'NOT_FOUND', 'There is no session with this id')
    const scopes = await fixture.sibling(host, { scopes: ['verify:read'] })
    const lacking = await scopes.call('POST', outcomeUrl(sessionId), {})
    assertError(lacking, 403, 'SCOPE_DENIED', 'This API key lacks the scope age:write or verify:write')
    await host.outcome(sessionId, 'spoof')
    const again = await host.call('POST', outcomeUrl(sessionId), {})
    assertError(again, 409, 'SESSION_NOT_OPEN', 'The session has ended')
    assert.equal((await host.get(sessionId)).outcome, 'FAILED', 'the first result stands')
    await host.call('DELETE', `${PATH}/${sessionId}`)
    const erased = await host.call('POST', outcomeUrl(sessionId), {})
    assertError(erased, 410, 'GONE', 'The session is over and deleted')
    const late = await host.create('ENROLL', { sessionExpiry: 60 })
    fixture.harness.clock.advance(60_001)
    const tooLate = await host.call('POST', outcomeUrl(late.sessionId), {})
    assertError(tooLate, 409, 'SESSION_NOT_OPEN', 'The session has ended')
    assert.equal((await host.get(late.sessionId)).outcome, 'EXPIRED')
  })
})

describe('transactionID of a test session', () => {
  test('the session ends with the simulated outcome when its launch URL is opened, and the page gets that state', async () => {
    for (const [outcome, status, code] of [
      ['success', 'SUCCESS', undefined],
      ['spoof', 'FAILED', 1],
      ['not_enrolled', 'FAILED', -36],
      ['locked', 'FAILED', -35],
      ['expired', 'EXPIRED', -8],
    ] as const) {
      const transactionID = `test:${outcome} order 4711`
      const { sessionId } = await host.create('SIGN-IN', { transactionID })
      assert.equal((await host.get(sessionId)).outcome, null, 'not before it is opened')
      const reply = await fixture.visit(sessionId)
      const flowStatus = status === 'EXPIRED' ? 'EXPIRED' : 'COMPLETED'
      assert.deepEqual([reply.flowStatus, reply.state], [flowStatus, status])
      const target = `https://shop.example/back?state=7&sessionId=${sessionId}&status=${status}`
      assert.equal(reply.redirectUrl, status === 'EXPIRED' ? target : `${target}&code=${reply.code}`)
      const { transactionId, errors } = await bodyOf(sessionId)
      assert.equal(transactionId, transactionID)
      assert.deepEqual(
        errors.map((error: { code: number }) => error.code),
        code === undefined ? [] : [code],
      )
    }
  })

  test('for live keys it is an ordinary name', async () => {
    const live = await fixture.newHost({ livemode: true, settings: { clientCredentials: 'never' } })
    const callback = { url: 'https://shop.example/hook' }
    const { sessionId } = await live.create('ENROLL', { transactionID: 'test:success', callback })
    assert.equal((await fixture.visit(sessionId, { declines: true })).flowStatus, 'CANCELLED')
    const { outcome, transactionId } = await live.webhook(sessionId)
    assert.deepEqual([outcome, transactionId], ['CANCELLED', 'test:success'])
  })
})

test('POST /test/clock/advance brings expiry and deletion of verification sessions nearer, too', async () => {
  const { sessionId } = await host.create('ENROLL')
  const advance = (seconds: number) => host.call('POST', '/test/clock/advance', { seconds })
  assert.equal((await advance(901)).statusCode, 204)
  assert.equal((await host.get(sessionId)).outcome, 'EXPIRED')
  await advance(86_400)
  assert.equal((await host.get(sessionId)).state, 'PURGED')
})
