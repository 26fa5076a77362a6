import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { KEY_HOLDER_PATHS } from '@ostiary/contract'
import type { Check } from './errors.ts'
import { type Changes, createSubject, enrolmentFrame, evaluateFace, newId } from './testing/device.ts'
import { faceOf } from './testing/faces.ts'
import { createHarness } from './testing/harness.ts'

const face = faceOf(21)
const harness = await createHarness()
const person = await createSubject(face)
const evaluated = await evaluateFace(person, face, { isEnrolment: true })
after(() => harness.close())

async function isRefusedAt(check: Check, changes: Changes, subject = person): Promise<void> {
  const refusals = () => harness.metric('refusals_total', { kind: 'enrolment', check })
  const before = await refusals()
  assert.equal(await harness.caller.enrol(subject, evaluated, changes), 'reject')
  assert.equal(await refusals(), before + 1, `it was not refused at "${check}"`)
  assert.equal(await harness.countedFor(subject), undefined, 'a share was stored')
}

describe('a check that fails is a reject, and no share is stored:', () => {
  test('envelope, message and header', async () => {
    await isRefusedAt('envelope', { header: { sealed: 'a.b.c.d.e' } })
    await isRefusedAt('message', { unsigned: { purpose: 'compare' } })
    await isRefusedAt('header', { header: { account: newId() } })
  })

  test('the nonce is invented, or of another token', async () => {
    await isRefusedAt('nonce', { signed: { keyHolderNonce: 'A'.repeat(43) } })
    const foreign = await harness.caller.nonceFor({ realm: person.realm, tokenId: newId() })
    await isRefusedAt('nonce', { signed: { keyHolderNonce: foreign } })
  })

  test('probe or token are not those that were signed', async () => {
    await isRefusedAt('probe_hash', { probe: evaluated.probe.with(40_000, 0).with(40_001, 0) })
    await isRefusedAt('token_hash', { token: person.enrolled.token.with(10_000, 0).with(10_001, 0) })
  })

  test('the signature is not of the key in the message', async () => {
    const stranger = await createSubject(face)
    await isRefusedAt('signature', { signWith: stranger.devicePrivateKey })
    await isRefusedAt('signature', { unsigned: { publicKeyHash: 'A'.repeat(43) } })
  })

  test('the share is of another token, cut, or of another format', async () => {
    const { keyShare } = person.enrolled
    const stranger = await createSubject(face)
    await isRefusedAt('format', { keyShare: stranger.enrolled.keyShare })
    await isRefusedAt('format', { keyShare: new Uint8Array() })
    await isRefusedAt('format', { keyShare: keyShare.subarray(0, -1) })
    await isRefusedAt('format', { keyShare: keyShare.with(2, 2) })
  })
})

test('a token and a probe of different faces are an attack event, and no share is stored', async () => {
  const morph = await createSubject(face)
  const foreign = await evaluateFace(morph, faceOf(22), { isEnrolment: true })
  const before = await harness.metric('attack_events_total', { attack: 'cross' })
  assert.equal(await harness.caller.enrol(morph, foreign), 'reject')
  assert.equal(await harness.metric('attack_events_total', { attack: 'cross' }), before + 1)
  assert.equal(await harness.countedFor(morph), undefined)
})

test('an enrolment is stored as pending, can be repeated with the same bytes, and with no others', async () => {
  const { realm, tokenId } = person
  const nonce = await harness.caller.nonceFor(person)
  const sending = { ...evaluated, nonce, sealKey: harness.keys.published.sealKey }
  const frame = await enrolmentFrame(person, sending)
  const enrol = (body: Uint8Array) => harness.caller.ask(KEY_HOLDER_PATHS.enrolments, body)
  assert.deepEqual(await enrol(frame), { verdict: 'accept' })
  const counted = await harness.countedFor(person)
  assert.deepEqual([counted.evaluations, counted.evaluationsThatDay, counted.failures], [1, 1, 0])
  assert.deepEqual(await enrol(frame), { verdict: 'accept' })
  assert.equal(await harness.metric('shares', { state: 'pending' }), 1)

  assert.equal(await harness.caller.confirm(person), true)
  assert.equal(await harness.caller.confirm(person), true, 'a confirmation cannot be repeated')
  assert.equal(await harness.metric('shares', { state: 'active' }), 1)
  assert.deepEqual(await enrol(frame), { verdict: 'accept' })
  const thief = await createSubject(face, { realm, tokenId })
  const theirs = await evaluateFace(thief, face, { isEnrolment: true })
  assert.equal(await harness.caller.enrol(thief, theirs), 'reject')
  assert.equal(await harness.caller.enrol({ ...person, deviceKey: thief.deviceKey }, evaluated), 'reject')
  assert.deepEqual(await harness.countedFor(person), counted)
})

test('of the same enrolment ten times at once, one share is stored', async () => {
  const twice = await createSubject(face)
  const theirs = await evaluateFace(twice, face, { isEnrolment: true })
  const verdicts = await Promise.all(Array.from({ length: 10 }, () => harness.caller.enrol(twice, theirs)))
  assert.deepEqual(new Set(verdicts), new Set(['accept']))
  const { evaluations, failures } = await harness.countedFor(twice)
  assert.deepEqual([evaluations, failures], [1, 0])
})

test('a share that nobody knows cannot be confirmed', async () => {
  assert.equal(await harness.caller.confirm({ ...person, tokenId: newId() }), false)
})
