import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import type { WebhookAttempt, WebhookDeliveryDetails } from '@ostiary/contract'
import type { Arrival } from '@ostiary/testkit/receivers'
import { judge, type Played } from './lost-and-found.ts'

const RESULT = Buffer.from('{"flowStatus":"COMPLETED"}')
const SESSION: Played = {
  sessionId: 's-1',
  area: 'C',
  path: '/session/t-1/result',
  receiver: 2,
  ending: 'COMPLETED',
  hasPicture: false,
}
const GOOD = {
  ended: true,
  lost: false,
  badSignature: false,
  changedId: false,
  changedBody: false,
  notInLog: false,
  repeats: 0,
  attemptsLogged: 2,
}

const arrival = (changes: Partial<Arrival> = {}): Arrival => ({
  receiver: 2,
  atMs: 0,
  deliveryId: 'd-1',
  sessionId: 's-1',
  attempt: 2,
  bodyHash: hash('sha256', RESULT),
  genuine: true,
  accepted: true,
  ...changes,
})
const attempt = (number: number, outcome: WebhookAttempt['outcome']): WebhookAttempt => ({
  attempt: number,
  startedAt: '2026-11-15T09:30:00.000Z',
  durationMs: 1,
  outcome,
})
const delivery = (changes: Partial<WebhookDeliveryDetails> = {}): WebhookDeliveryDetails => ({
  id: 'd-1',
  event: 'age.session.completed',
  sessionId: 's-1',
  sequence: 1,
  origin: 'http://127.0.0.1:1024',
  state: 'delivered',
  attempts: 2,
  createdAt: '2026-11-15T09:30:00.000Z',
  deletedAt: '2026-11-16T09:30:00.000Z',
  livemode: false,
  attemptLog: [attempt(1, 'failed'), attempt(2, 'delivered')],
  ...changes,
})
const refused = arrival({ attempt: 1, accepted: false })

test('a session whose webhook was taken at the second attempt has no fault', () => {
  assert.deepEqual(judge(SESSION, RESULT, [delivery()], [refused, arrival()]), GOOD)
})

test('a webhook that arrived twice is a repeat and no fault', () => {
  assert.deepEqual(judge(SESSION, RESULT, [delivery()], [refused, arrival(), arrival()]), { ...GOOD, repeats: 1 })
})

test('a webhook that no receiver accepted is lost, even if the log says otherwise', () => {
  assert.deepEqual(judge(SESSION, RESULT, [delivery()], [refused]), { ...GOOD, lost: true })
  assert.deepEqual(judge(SESSION, RESULT, [delivery()], []), { ...GOOD, lost: true })
})

test('a webhook that another receiver accepted is lost and counts as a wrong body', () => {
  const elsewhere = arrival({ receiver: 3 })
  assert.deepEqual(judge(SESSION, RESULT, [delivery()], [elsewhere]), { ...GOOD, lost: true, changedBody: true })
})

test('one wrong signature is a fault even if a right one came too', () => {
  const forged = arrival({ attempt: 1, genuine: false })
  assert.deepEqual(judge(SESSION, RESULT, [delivery()], [forged, arrival()]), { ...GOOD, badSignature: true })
})

test('a second delivery id is a fault, in a request and in the log', () => {
  const renamed = [refused, arrival({ deliveryId: 'd-2' })]
  assert.deepEqual(judge(SESSION, RESULT, [delivery()], renamed), { ...GOOD, changedId: true })
  const second = delivery({ id: 'd-2', attemptLog: [] })
  const twice = judge(SESSION, RESULT, [delivery(), second], [refused, arrival()])
  assert.deepEqual(twice, { ...GOOD, changedId: true, notInLog: true })
})

test('bytes that are not those of the result are a fault', () => {
  const changed = arrival({ bodyHash: hash('sha256', 'other') })
  assert.deepEqual(judge(SESSION, RESULT, [delivery()], [changed]), { ...GOOD, changedBody: true })
})

test('a picture is in every request and cannot be read again; otherwise it is a fault', () => {
  const session = { ...SESSION, hasPicture: true }
  const withPicture = hash('sha256', 'with picture')
  const bodies = (...hashes: string[]) => hashes.map((bodyHash, at) => arrival({ attempt: at + 1, bodyHash }))
  const judged = (arrivals: Arrival[]) => judge(session, RESULT, [delivery()], arrivals).changedBody
  assert.equal(judged(bodies(withPicture, withPicture)), false)
  assert.equal(judged(bodies(withPicture, hash('sha256', RESULT))), true, 'an attempt came without it')
  assert.equal(judged(bodies(hash('sha256', RESULT))), true, 'it never came')
  assert.equal(judged(bodies(withPicture, hash('sha256', 'another picture'))), true)
})

test('a session of area D says how it ended by its outcome', () => {
  const session = { ...SESSION, area: 'D', ending: 'FAILED' } as const
  const body = Buffer.from('{"outcome":"FAILED"}')
  const verdict = judge(
    session,
    body,
    [delivery()],
    [refused, arrival()].map((one) => ({ ...one, bodyHash: hash('sha256', body) })),
  )
  assert.deepEqual(verdict, GOOD)
  assert.equal(judge({ ...session, ending: 'SUCCEEDED' }, body, [delivery()], []).ended, false)
})

test('a log without the delivery, without its success or without an attempt that arrived is a fault', () => {
  const arrivals = [refused, arrival()]
  assert.deepEqual(judge(SESSION, RESULT, [], arrivals), { ...GOOD, notInLog: true, attemptsLogged: 0 })
  const unsuccessful = delivery({ attemptLog: [attempt(1, 'failed'), attempt(2, 'timeout')] })
  assert.deepEqual(judge(SESSION, RESULT, [unsuccessful], arrivals), { ...GOOD, notInLog: true })
  const gap = delivery({ attemptLog: [attempt(2, 'delivered')] })
  assert.deepEqual(judge(SESSION, RESULT, [gap], arrivals), { ...GOOD, notInLog: true, attemptsLogged: 1 })
  assert.deepEqual(judge(SESSION, RESULT, [delivery({ state: 'pending' })], arrivals), { ...GOOD, notInLog: true })
})

test('a session that ended in another way than intended is not counted as ended', () => {
  const expired = Buffer.from('{"flowStatus":"EXPIRED"}')
  const verdict = judge(SESSION, expired, [delivery()], [arrival({ bodyHash: hash('sha256', expired) })])
  assert.deepEqual(verdict, { ...GOOD, ended: false })
})
