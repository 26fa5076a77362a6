/** A key holder or a client that cheats, against a matcher that serves (review, findings 1, 6 and 8, tests 19, 24 and 26). */
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { TOKEN_BUDGET } from '@ostiary/contract'
import { createTokenKeys } from '@ostiary/device'
import type { KeptToken, TokenKeeper } from '@ostiary/device/simulated'
import { createProbe, PROBE_BYTES, TOKEN_PARAMETERS } from '@ostiary/token'
import type { VerificationHost } from '../verification/testing/fixture.ts'
import { createTokenFixture, type TokenUser } from './testing/people.ts'

let host: VerificationHost
let user: TokenUser
const fixture = await createTokenFixture('matcher-cheating')
beforeEach(async () => {
  host = await fixture.newHost()
  user = await fixture.enrol(host)
  fixture.relay.seen.length = 0
})

const withToken = (kept: KeptToken): TokenKeeper => ({ find: async () => kept, keep: async () => {} })
const attacks = async () =>
  (await fixture.rows('select attack_events from face_tokens where tenant_id = $1', [host.tenantId]))[0].attack_events

const HEADER_BYTES = 20
const RING_BYTES = (PROBE_BYTES - HEADER_BYTES) / (TOKEN_PARAMETERS.k + 1)
/** The parts that carry the secret are zero: its evaluation would show more of the matcher's share than an honest one. */
async function transparent(publicKey: Uint8Array, vector: ArrayLike<number>): Promise<Uint8Array> {
  const probe = await createProbe(publicKey, vector)
  return probe.fill(0, HEADER_BYTES + RING_BYTES)
}

describe('a key holder that makes probes itself', () => {
  test('gets nothing evaluated without the key of the device, whatever it signs with and however often', async () => {
    // It knows the ids, its share and even the public key; it answers each evaluation as it likes.
    fixture.relay.answer = async () => 'accept'
    const keys = await createTokenKeys()
    const known = { face: user.face, keeper: withToken({ ...user.kept, keys }) }
    const { state, webhook } = await fixture.signIn(host, known)
    assert.deepEqual([state.state, webhook.errorCodes], ['FAILED', [-36]])
    for (let n = 0; n < 20; n++) {
      const probe = await createProbe(user.made.publicKey, fixture.faces.person())
      assert.equal(await fixture.sendProbe(host, user, probe, keys), undefined)
    }
    assert.deepEqual([fixture.relay.seen.length, await attacks()], [0, 0])
    fixture.relay.answer = undefined
    assert.equal((await fixture.signIn(host, user)).state.state, 'SUCCESS', 'the owner was locked')
  })

  test('gets nothing more evaluated after three attack events, even with the key of the device', async () => {
    fixture.relay.answer = async () => 'accept'
    for (let n = 0; n < TOKEN_BUDGET.attackEvents; n++) {
      assert.equal(await attacks(), n)
      assert.equal(await fixture.sendProbe(host, user, await transparent(user.made.publicKey, user.face)), undefined)
    }
    assert.equal(await attacks(), TOKEN_BUDGET.attackEvents)
    const probe = await createProbe(user.made.publicKey, user.face)
    const sent = await fixture.sendProbe(host, user, probe)
    assert.equal((await sent?.compare())?.verdict, 'locked')
    assert.equal(fixture.relay.seen.length, 0)
    fixture.relay.answer = undefined
  })

  test('is asked for 50 evaluations of a day at most, although it accepts all of them', async () => {
    fixture.relay.answer = async () => 'accept'
    const id = Buffer.from(user.kept.tokenId, 'base64url')
    const day = fixture.harness.clock.now().toISOString().slice(0, 10)
    await fixture.rows('update face_tokens set day = $2, day_evaluations = 40 where token_id = $1', [id, day])
    for (let n = 0; n < 15; n++) {
      const sent = await fixture.sendProbe(host, user, await createProbe(user.made.publicKey, fixture.faces.person()))
      await sent?.compare()
    }
    assert.equal(fixture.relay.seen.length, 10)
    fixture.relay.answer = undefined
  })
})

describe('a forged probe under a valid signature is an attack event:', () => {
  const FORGED: readonly [string, (probe: Uint8Array) => Uint8Array][] = [
    ['transparent', (probe) => probe.fill(0, HEADER_BYTES + RING_BYTES)],
    ['one of its parts all zero', (probe) => probe.fill(0, PROBE_BYTES - RING_BYTES)],
    ['too short', (probe) => probe.subarray(0, -1)],
    ['of the reserved format', (probe) => probe.fill(2, 2, 3)],
    ['of an unknown format', (probe) => probe.fill(9, 2, 3)],
    ['of another face model', (probe) => probe.fill(2, 3, 4)],
    ['of another token', (probe) => probe.fill(7, 4, 20)],
    ['no probe', (probe) => probe.fill(0, 0, 2)],
  ]
  for (const [name, forge] of FORGED) {
    test(name, async () => {
      const probe = forge(await createProbe(user.made.publicKey, user.face))
      assert.equal(await fixture.sendProbe(host, user, probe), undefined)
      assert.deepEqual([await attacks(), fixture.relay.seen.length], [1, 0])
      assert.equal(await fixture.sendProbe(host, user, probe, await createTokenKeys()), undefined)
      assert.equal(await attacks(), 1, 'it was counted without a valid signature')
    })
  }

  test('also in a session, where the count outlives the refused call', async () => {
    await fixture.signIn(host, user, { createProbe: transparent })
    assert.equal(await attacks(), TOKEN_BUDGET.attackEvents, 'a session has three tries')
    const { state, webhook } = await fixture.signIn(host, user)
    assert.deepEqual([state.state, webhook.puid, fixture.relay.seen.length], ['FAILED', undefined, 0])
  })
})

describe('a probe that was sent before', () => {
  test('is not taken in another session, and not with another nonce', async () => {
    const probe = await createProbe(user.made.publicKey, user.face)
    const first = await fixture.sendProbe(host, user, probe)
    assert.equal(await fixture.sendProbe(host, user, probe), undefined, 'while it waits')
    assert.equal((await first?.compare())?.verdict, 'accept')
    assert.equal(await fixture.sendProbe(host, user, probe), undefined, 'after its comparison')
    assert.equal(fixture.relay.seen.length, 1)
    assert.equal((await first?.compare())?.verdict, 'accept', 'its own session gets the same answer again')
    assert.equal(fixture.relay.seen.length, 1)
  })
})
