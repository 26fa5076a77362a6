import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NOTHING_JUDGED } from '../age/testing/fixture.ts'
import { newProgress } from '../sessions/index.ts'
import { assertError } from '../testing/harness.ts'
import { noteDebug } from './debug.ts'
import { newVerificationProgress, type OwnProgress } from './progress.ts'
import { createVerificationHost, PATH } from './testing/fixture.ts'

const { fixture, host } = await createVerificationHost()

const nowText = () => fixture.harness.clock.now().toISOString()
const gone = [410, 'GONE', 'The session is over and deleted'] as const
const SUCCESS = { state: 'SUCCESS', person: { puid: 'p-1', guid: 'g-1' } } as const

describe('GET /v2/verification-session/:sessionId', () => {
  test('200: the state of the flow, without a result', async () => {
    const created = await host.create('SIGN-IN', { transactionID: 'order-4711', requirements: ['passkey', 'face'] })
    const { sessionId, expiresAt } = created
    const open = {
      ...{ sessionId, type: 'SIGN-IN', state: 'CREATED', outcome: null, transactionId: 'order-4711' },
      ...{ requirements: ['face', 'passkey'], createdAt: nowText(), expiresAt, endedAt: null, livemode: false },
    }
    assert.deepEqual(await host.get(sessionId), open)
    await fixture.conclude(sessionId, SUCCESS)
    const ended = { ...open, state: 'SUCCESS', outcome: 'SUCCEEDED', endedAt: nowText() }
    assert.deepEqual(await host.get(sessionId), ended)
  })

  test('200: each end has its state and its outcome', async () => {
    for (const [end, state, outcome] of [
      [{ state: 'FAILED', failures: ['SPOOF'] }, 'FAILED', 'FAILED'],
      [{ state: 'CANCELLED', code: 'CONSENT_DECLINED' }, 'CANCELLED', 'CANCELLED'],
      [{ state: 'EXPIRED' }, 'EXPIRED', 'EXPIRED'],
    ] as const) {
      const { sessionId } = await host.create('ENROLL')
      await fixture.conclude(sessionId, end)
      const summary = await host.get(sessionId)
      assert.deepEqual([summary.state, summary.outcome, summary.transactionId], [state, outcome, undefined])
    }
  })

  test('200: a deleted session has the state PURGED and the times of its creation and deletion, and nothing else', async () => {
    const { sessionId } = await host.create('ENROLL', { transactionID: 'order-4711' })
    const createdAt = nowText()
    await host.outcome(sessionId)
    fixture.harness.clock.advance(1_000)
    await host.call('DELETE', `${PATH}/${sessionId}`)
    assert.deepEqual(await host.get(sessionId), {
      ...{ sessionId, type: null, state: 'PURGED', outcome: null, requirements: [] },
      ...{ createdAt, expiresAt: nowText(), endedAt: nowText(), livemode: false },
    })
  })

  test('[D-026] 200: with debugMode an open and an ended session have a log of the requested level', async () => {
    const plain = await host.create('ENROLL')
    await host.outcome(plain.sessionId)
    assert.ok(!('debugLog' in (await host.get(plain.sessionId))))
    const asked = await host.create('ENROLL', { debugMode: ['2'] })
    assert.deepEqual((await host.get(asked.sessionId)).debugLog, [])
    const at = fixture.harness.clock.now()
    const notes = ([1, 2, 3] as const).map((level) => ({ at, level, event: `of level ${level}`, facts: { n: level } }))
    const request = { debugLevel: 2 } as const
    let progress: OwnProgress = { ...newProgress('en'), own: newVerificationProgress() }
    for (const note of notes) progress = noteDebug(progress, request, note)
    await fixture.conclude(asked.sessionId, { state: 'FAILED', failures: ['NO_FACE'] }, progress)
    assert.deepEqual((await host.get(asked.sessionId)).debugLog, [
      { at: nowText(), level: 1, event: 'of level 1', facts: { n: 1 } },
      { at: nowText(), level: 2, event: 'of level 2', facts: { n: 2 } },
      { at: nowText(), level: 1, event: 'ended', facts: { state: 'FAILED', codes: [-12] } },
    ])
    const body = JSON.stringify(await host.webhook(asked.sessionId))
    assert.ok(!body.includes('of level'), 'it is no part of the webhook')
  })
})

describe('GET /v2/verification-session/:sessionId/webhook', () => {
  test('200: the body that was sent, even if it never arrived', async () => {
    const { sessionId } = await host.create('ENROLL', { callback: { url: 'http://127.0.0.1:65535/' } })
    await fixture.conclude(sessionId, SUCCESS)
    assert.deepEqual(await host.webhook(sessionId), {
      ...{ sessionId, status: 'SUCCESS', message: 'Ok', ...SUCCESS.person },
      identityInformation: { verificationDate: String(fixture.harness.clock.now().getTime()) },
      ...{
        errors: [],
        riskEvaluation: NOTHING_JUDGED,
        type: 'ENROLL',
        outcome: 'SUCCEEDED',
        codeHash: null,
        consent: null,
        livemode: false,
      },
    })
  })

  test('409 while it is open, 410 when it is deleted', async () => {
    const { sessionId } = await host.create('ENROLL')
    const url = `${PATH}/${sessionId}/webhook`
    assertError(await host.call('GET', url), 409, 'SESSION_OPEN', 'The session is still open')
    await host.outcome(sessionId)
    assert.equal((await host.call('GET', url)).statusCode, 200)
    await host.call('DELETE', `${PATH}/${sessionId}`)
    assertError(await host.call('GET', url), ...gone)
  })
})

describe('POST /v2/verification-session/:sessionId/cancel', () => {
  test('200: it ends with -38, and the answer is the webhook', async () => {
    const message = 'Cancelled by the host'
    for (const [type, status] of [
      ['ENROLL', 'FAILED'],
      ['SIGN-IN', 'error'],
      ['VERIFY', 'FAILED'],
    ] as const) {
      const { sessionId } = await host.create(type)
      const cancelled = await host.call('POST', `${PATH}/${sessionId}/cancel`)
      assert.equal(cancelled.statusCode, 200)
      assert.deepEqual(cancelled.json(), {
        ...{ sessionId, status, message, errors: [{ code: -38, message }] },
        ...(type === 'SIGN-IN' && { errorCodes: [-38] }),
        ...{
          riskEvaluation: NOTHING_JUDGED,
          type,
          outcome: 'CANCELLED',
          codeHash: null,
          consent: null,
          livemode: false,
        },
      })
      assert.ok((await fixture.delivered(sessionId)).body.equals(cancelled.rawPayload))
    }
  })

  test('409 when it has ended or its time is over, 410 when it is deleted', async () => {
    const { sessionId } = await host.create('ENROLL')
    const cancel = (id: string) => host.call('POST', `${PATH}/${id}/cancel`)
    assert.equal((await cancel(sessionId)).statusCode, 200)
    assertError(await cancel(sessionId), 409, 'SESSION_NOT_OPEN', 'The session has ended')
    const late = await host.create('ENROLL', { sessionExpiry: 60 })
    fixture.harness.clock.advance(60_001)
    assertError(await cancel(late.sessionId), 409, 'SESSION_NOT_OPEN', 'The session has ended')
    assert.equal((await host.get(late.sessionId)).outcome, 'EXPIRED')
    await host.call('DELETE', `${PATH}/${sessionId}`)
    assertError(await cancel(sessionId), ...gone)
  })

  test('of many at once one is accepted, and there is one webhook', async () => {
    const { sessionId } = await host.create('ENROLL')
    const replies = await Promise.all([
      ...Array.from({ length: 5 }, () => host.call('POST', `${PATH}/${sessionId}/cancel`)),
      ...Array.from({ length: 5 }, () => host.call('POST', `/test/sessions/${sessionId}/outcome`, {})),
    ])
    const codes = replies.map(({ statusCode }) => statusCode)
    assert.equal(codes.filter((code) => code < 300).length, 1)
    assert.equal(codes.filter((code) => code === 409).length, 9)
    const { rowCount } = await fixture.harness.database.query(
      'select 1 from webhook_deliveries where subject_id = $1',
      [sessionId],
    )
    assert.equal(rowCount, 1)
  })
})

describe('DELETE /v2/verification-session/:sessionId', () => {
  test('204: its content is deleted, with the waiting webhook', async () => {
    const { sessionId } = await host.create('ENROLL', { transactionID: 'MARKED' })
    await fixture.conclude(sessionId, SUCCESS)
    const erased = await host.call('DELETE', `${PATH}/${sessionId}`)
    assert.deepEqual([erased.statusCode, erased.body], [204, ''])
    const about = [...(await fixture.dump())].filter(([, content]) => content.includes(sessionId))
    assert.deepEqual(
      about.map(([table]) => table.replace(/_default$|_\d{8}$/, '')),
      ['sessions'],
    )
    await fixture.harness.wire.webhooks.dispatcher.tick()
    const arrived = fixture.receiver.received.some(({ body }) => body.toString().includes(sessionId))
    assert.equal(arrived, false, 'nothing is sent any more')
  })

  test('409 while it is open, 410 the second time', async () => {
    const { sessionId } = await host.create('ENROLL')
    const url = `${PATH}/${sessionId}`
    const open = 'The session is still open: cancel it first'
    assertError(await host.call('DELETE', url), 409, 'SESSION_OPEN', open)
    await host.outcome(sessionId)
    assert.equal((await host.call('DELETE', url)).statusCode, 204)
    assertError(await host.call('DELETE', url), ...gone)
  })
})
