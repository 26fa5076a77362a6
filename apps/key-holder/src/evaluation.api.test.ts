import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { KEY_HOLDER_PATHS } from '@ostiary/contract'
import { createSealKeyPair } from '@ostiary/crypto'
import { createToken } from '@ostiary/token'
import type { Check } from './errors.ts'
import { type Changes, comparisonFrame, createSubject, evaluateFace, newId } from './testing/device.ts'
import { faceOf, sameFace } from './testing/faces.ts'
import { createHarness } from './testing/harness.ts'
import { SECOND_MS } from './testing/manual-clock.ts'

const face = faceOf(1)
const harness = await createHarness()
const person = await createSubject(face)
await harness.caller.enrolPerson(person, face)
const genuine = await evaluateFace(person, sameFace(face, 2))
const other = await evaluateFace(person, faceOf(3))
after(() => harness.close())

/** A comparison with these changes is rejected at this check, and nothing of it is counted for the owner. */
async function isRefusedAt(check: Check, changes: Changes, subject = person): Promise<void> {
  const refusals = () => harness.metric('refusals_total', { kind: 'comparison', check })
  const [before, counted] = [await refusals(), await harness.countedFor(person)]
  assert.equal(await harness.caller.compare(subject, genuine, changes), 'reject')
  assert.equal(await refusals(), before + 1, `it was not refused at "${check}"`)
  assert.deepEqual(await harness.countedFor(person), counted)
}

test('the same face is accepted, another one is rejected, and only the second counts as a failure', async () => {
  const before = await harness.countedFor(person)
  assert.equal(await harness.caller.compare(person, genuine), 'accept')
  assert.equal((await harness.countedFor(person)).failures, before.failures)
  assert.equal(await harness.caller.compare(person, other), 'reject')
  assert.deepEqual(await harness.countedFor(person), {
    ...before,
    evaluations: before.evaluations + 2,
    evaluationsThatDay: before.evaluationsThatDay + 2,
    failures: before.failures + 1,
  })
})

describe('a check that fails is a reject, and counts nothing for the owner:', () => {
  test('the envelope is not sealed to this key holder', async () => {
    await isRefusedAt('envelope', { header: { sealed: 'a.b.c.d.e' } })
    const { publicJwk } = await createSealKeyPair()
    const sending = { ...genuine, sealKey: publicJwk, nonce: await harness.caller.nonceFor(person) }
    const frame = await comparisonFrame(person, sending)
    assert.deepEqual(await harness.caller.ask(KEY_HOLDER_PATHS.evaluations, frame), { verdict: 'reject' })
  })

  test('the message has another form', async () => {
    await isRefusedAt('message', { unsigned: { purpose: 'enrol' } })
    await isRefusedAt('message', { unsigned: { more: 1 } })
    await isRefusedAt('message', { unsigned: { keyHolderNonce: 'short' } })
  })

  test('the header names another realm, account or token than the message', async () => {
    for (const name of ['realm', 'account', 'tokenId']) await isRefusedAt('header', { header: { [name]: newId() } })
  })

  test('the token is unknown, of another realm, or of another account', async () => {
    for (const name of ['realm', 'account', 'tokenId'] as const)
      await isRefusedAt('share', {}, { ...person, [name]: newId() })
  })

  test('the share was never confirmed', async () => {
    const pending = await createSubject(face)
    await harness.caller.enrol(pending, await evaluateFace(pending, face, { isEnrolment: true }))
    assert.equal(await harness.caller.compare(pending, await evaluateFace(pending, face)), 'reject')
    assert.equal((await harness.countedFor(pending)).evaluations, 1)
  })

  test('the nonce is invented, of another token, or expired', async () => {
    await isRefusedAt('nonce', { signed: { keyHolderNonce: 'A'.repeat(43) } })
    const foreign = await harness.caller.nonceFor({ realm: person.realm, tokenId: newId() })
    await isRefusedAt('nonce', { signed: { keyHolderNonce: foreign } })
    const late = await harness.caller.nonceFor(person)
    harness.clock.advance(301 * SECOND_MS)
    await isRefusedAt('nonce', { signed: { keyHolderNonce: late } })
  })

  test('the probe is not the one that was signed', async () => {
    await isRefusedAt('probe_hash', { probe: other.probe, evaluation: other.evaluation })
  })

  test('the signature is of another key, or of another statement', async () => {
    const stranger = await createSubject(face)
    await isRefusedAt('signature', { signWith: stranger.devicePrivateKey })
    await isRefusedAt('signature', { unsigned: { matcherNonce: 'A'.repeat(43) } })
    await isRefusedAt('signature', { unsigned: { signature: 'A'.repeat(86) } })
  })
})

test('a token that is not the enrolled one is rejected and counted: an old row cannot be restored', async () => {
  const before = await harness.countedFor(person)
  const { token } = await createToken(Buffer.from(person.tokenId, 'base64url'), face)
  assert.equal(await harness.caller.compare(person, genuine, { token }), 'reject')
  const { evaluations, failures, attackEvents } = await harness.countedFor(person)
  assert.deepEqual(
    [evaluations, failures, attackEvents],
    [before.evaluations + 1, before.failures + 1, before.attackEvents],
  )
  assert.match(harness.logged(), /the token is not the one that was enrolled/)
})

test('a repeated comparison gets its verdict again without a second evaluation, and after ten minutes a reject', async () => {
  for (const [evaluated, verdict] of [
    [genuine, 'accept'],
    [other, 'reject'],
  ] as const) {
    const nonce = await harness.caller.nonceFor(person)
    const frame = await comparisonFrame(person, { ...evaluated, nonce, sealKey: harness.keys.published.sealKey })
    assert.deepEqual(await harness.caller.ask(KEY_HOLDER_PATHS.evaluations, frame), { verdict })
    const counted = await harness.countedFor(person)
    assert.deepEqual(await harness.caller.ask(KEY_HOLDER_PATHS.evaluations, frame), { verdict })
    harness.clock.advance(601 * SECOND_MS)
    assert.deepEqual(await harness.caller.ask(KEY_HOLDER_PATHS.evaluations, frame), { verdict: 'reject' })
    assert.deepEqual(await harness.countedFor(person), counted)
  }
})

test('a nonce that was used serves no other probe', async () => {
  const nonce = await harness.caller.nonceFor(person)
  assert.equal(await harness.caller.compare(person, genuine, { signed: { keyHolderNonce: nonce } }), 'accept')
  await isRefusedAt('nonce', { signed: { keyHolderNonce: nonce, probeHash: 'A'.repeat(43) } })
  assert.equal(await harness.caller.compare(person, other, { signed: { keyHolderNonce: nonce } }), 'reject')
})

describe('a row that was changed in the database accepts nobody:', () => {
  test('a bit of the sealed share, or the account that it belongs to', async () => {
    const { rows } = await harness.query('select sealed from key_shares where token_id = $1', [person.tokenId])
    const sealed: Buffer = rows[0].sealed
    const changed = Buffer.from(sealed)
    changed[5_000] = (changed[5_000] ?? 0) ^ 1
    await harness.query('update key_shares set sealed = $2 where token_id = $1', [person.tokenId, changed])
    await isRefusedAt('share', {})
    await harness.query('update key_shares set sealed = $2 where token_id = $1', [person.tokenId, sealed])
    const thief = { ...person, account: newId() }
    await harness.query('update key_shares set account = $2 where token_id = $1', [person.tokenId, thief.account])
    assert.equal(await harness.caller.compare(thief, genuine), 'reject')
    await harness.query('update key_shares set account = $2 where token_id = $1', [person.tokenId, person.account])
    assert.equal(await harness.caller.compare(person, genuine), 'accept')
    assert.match(harness.logged(), /a key share does not open/)
  })

  test('the share of another token', async () => {
    const second = await createSubject(faceOf(9), { realm: person.realm })
    await harness.caller.enrolPerson(second, faceOf(9))
    await harness.query(
      'update key_shares as a set sealed = b.sealed from key_shares as b where a.token_id = $1 and b.token_id = $2',
      [second.tokenId, person.tokenId],
    )
    assert.equal(await harness.caller.compare(second, await evaluateFace(second, faceOf(9))), 'reject')
  })
})
