import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { type BoundDevice, newProgress, type Progress } from './progress.ts'
import { answerCode, boundTo, codeHashOf, newReturnTicket, type ReturnTicket } from './return-ticket.ts'

const key = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' } as const
const deviceOf = (thumbprint: string): BoundDevice => ({ key, thumbprint, counter: 3 })
const LAPTOP = deviceOf('laptop')
const PHONE = deviceOf('phone')

function ticketOf(progress: Partial<Progress> | null, withCode = true): ReturnTicket | null {
  return newReturnTicket(progress && { ...newProgress('en'), ...progress }, withCode)
}

describe('a ticket', () => {
  const owners: [string, Partial<Progress>, BoundDevice, BoundDevice | null][] = [
    ['the only device', { holder: PHONE }, PHONE, null],
    [
      'the first device after a handoff with the number',
      { holder: PHONE, viewer: LAPTOP, matched: 'phone' },
      LAPTOP,
      PHONE,
    ],
    ['the second device after a handoff without the number', { holder: PHONE, viewer: LAPTOP }, PHONE, LAPTOP],
    [
      'the third device, to which a process of the last release gave what the second one had proven',
      { holder: PHONE, viewer: LAPTOP, matched: 'tablet' },
      PHONE,
      LAPTOP,
    ],
    ['the first device when no other has opened the session', { viewer: LAPTOP }, LAPTOP, null],
  ]
  for (const [who, progress, owner, other] of owners) {
    test(`belongs to ${who}`, () => {
      const ticket = ticketOf(progress)
      assert.deepEqual([ticket?.owner, ticket?.other], [owner, other])
    })
  }

  test('is not made for a session that no device has opened', () => {
    assert.equal(ticketOf(null), null)
    assert.equal(ticketOf({}), null)
  })

  test('says what is bound to the device that held the session, and to no other', () => {
    const progress = { ...newProgress('en'), holder: PHONE, viewer: LAPTOP, matched: 'phone' }
    const ticket = newReturnTicket(progress, true, { tokenBound: true })
    assert.deepEqual(boundTo(ticket, 'phone'), { tokenBound: true })
    for (const thumbprint of ['laptop', '']) assert.deepEqual(boundTo(ticket, thumbprint), {})
    assert.deepEqual(boundTo(ticketOf({ holder: PHONE }), 'phone'), {})
    assert.deepEqual(boundTo(null, 'phone'), {})
  })

  test('has 256 random bits as its code, and the result has their SHA-256 in hex', () => {
    const [first, second] = [ticketOf({ holder: PHONE }), ticketOf({ holder: PHONE })]
    assert.match(first?.code ?? '', /^[A-Za-z0-9_-]{43}$/)
    assert.notEqual(first?.code, second?.code)
    const hash = createHash('sha256')
      .update(first?.code ?? '')
      .digest('hex')
    assert.equal(codeHashOf(first), hash)
    assert.equal(codeHashOf(ticketOf({ holder: PHONE }, false)), null)
    assert.equal(codeHashOf(null), null)
  })
})

describe('a code', () => {
  const fresh = ticketOf({ holder: PHONE }) ?? assert.fail()
  const right = fresh.code ?? assert.fail()
  const NOW = 1_800_000_000_000
  const sent = (code: string, more: { key?: string; body?: string; nowMs?: number } = {}) => ({
    code,
    keyHash: more.key ?? null,
    fingerprint: more.key === undefined ? null : (more.body ?? code),
    nowMs: more.nowMs ?? NOW,
  })

  test('is confirmed once', () => {
    const first = answerCode(fresh, sent(right))
    assert.deepEqual(first.answer, { outcome: 'confirmed', atMs: NOW, isRepeat: false })
    assert.deepEqual(answerCode(first.ticket, sent(right)).answer, { outcome: 'used' })
    assert.deepEqual(answerCode(first.ticket, sent('wrong')).answer, { outcome: 'used' })
  })

  test('may be preceded by four wrong ones; the fifth voids it', () => {
    let ticket = fresh
    for (let wrong = 1; wrong <= 4; wrong++) {
      const answered = answerCode(ticket, sent(`wrong ${wrong}`))
      assert.deepEqual(answered.answer, { outcome: 'wrong' })
      ticket = answered.ticket
    }
    assert.equal(answerCode(ticket, sent(right)).answer.outcome, 'confirmed')
    const voided = answerCode(ticket, sent('wrong 5')).ticket
    const after = answerCode(voided, sent(right))
    assert.deepEqual(after.answer, { outcome: 'wrong' })
    assert.equal(after.ticket, voided, 'nothing more is counted')
  })

  test('sent again with the same idempotency key has the same answer for 24 hours, and counts once', () => {
    const first = answerCode(fresh, sent(right, { key: 'k' }))
    const again = answerCode(first.ticket, sent(right, { key: 'k', nowMs: NOW + 86_399_999 }))
    assert.deepEqual(again.answer, { outcome: 'confirmed', atMs: NOW, isRepeat: true })
    assert.equal(again.ticket, first.ticket)
    assert.deepEqual(answerCode(first.ticket, sent(right, { key: 'k', nowMs: NOW + 86_400_000 })).answer, {
      outcome: 'used',
    })
    const wrong = answerCode(fresh, sent('wrong', { key: 'k' }))
    assert.equal(answerCode(wrong.ticket, sent('wrong', { key: 'k' })).ticket.tries.length, 1)
  })

  test('cannot be tried with the idempotency key of another code', () => {
    const wrong = answerCode(fresh, sent('wrong', { key: 'k' }))
    assert.deepEqual(answerCode(wrong.ticket, sent(right, { key: 'k' })).answer, { outcome: 'mismatch' })
  })

  test('of a session without one is wrong', () => {
    const without = ticketOf({ holder: PHONE }, false) ?? assert.fail()
    assert.deepEqual(answerCode(without, sent('')).answer, { outcome: 'wrong' })
  })
})
