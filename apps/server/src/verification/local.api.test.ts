import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CreatedVerification, LOCKOUT } from '@ostiary/contract'
import { signLocalProof, thumbprint } from '@ostiary/crypto'
import type { SimulatedPerson } from '@ostiary/device/simulated'
import { createFaces } from '../biometrics/testing/faces.ts'
import { purgeLocalKeys } from './jobs.ts'
import { createLocalKeys } from './local-keys.ts'
import { createVerificationFixture, type VerificationHost } from './testing/fixture.ts'
import { createToken, enrolled, reachCapture, visit } from './testing/people.ts'

const faces = createFaces(73)

const fixture = await createVerificationFixture()
/** Settings that accept a match on the device alone. */
const trusting = await fixture.newHost({ settings: { signInMatching: 'local' } })

/** A person who enrolled in a browser that keeps a token. */
async function newUser(host: VerificationHost, body: object = {}) {
  const face = faces.person()
  const token = await createToken()
  const puid = await enrolled(fixture, host, face, { body, person: { ...token.enrols() } })
  return { face, token, puid }
}

/** Signs in with a claim, and with a vector if one is given. Returns the state after the first submit. */
async function claimOnce(
  { sessionId }: CreatedVerification,
  made: { proof: (nonce: string) => Promise<string>; hit?: boolean; vector?: readonly number[] },
) {
  const { user, capture, nonce } = await reachCapture(fixture, sessionId, made.vector ? { vector: made.vector } : {})
  return user.device.submit({ ...capture, local: { hit: made.hit ?? true, proof: await made.proof(nonce) } })
}

describe('where the tenant trusts the device', () => {
  test('the page has to compare locally first, and a match is enough without a vector', async () => {
    const { token, puid } = await newUser(trusting)
    const created = await trusting.create('SIGN-IN')
    const opened = await (await fixture.newDevice(created.sessionId)).device.open()
    assert.deepEqual([opened.type, opened.verification?.matching], ['SIGN-IN', 'local_first'])
    const next = await trusting.create('SIGN-IN')
    const state = await claimOnce(next, { proof: (nonce) => token.prove(next.sessionId, nonce) })
    assert.equal(state.state, 'SUCCESS')
    const webhook = await trusting.webhook(next.sessionId)
    assert.deepEqual([webhook.puid, webhook.matchedBy], [puid, 'local'])
  })

  test('when the device finds no match, the server compares', async () => {
    const { face, token, puid } = await newUser(trusting)
    const { sessionId } = await trusting.create('SIGN-IN')
    const state = await visit(fixture, sessionId, face, { claim: token.claims(sessionId, false) })
    assert.equal(state.state, 'SUCCESS')
    const webhook = await trusting.webhook(sessionId)
    assert.deepEqual([webhook.puid, webhook.matchedBy], [puid, 'server'])
  })

  test('without a match the vector is required', async () => {
    const { token } = await newUser(trusting)
    const created = await trusting.create('SIGN-IN')
    const sent = claimOnce(created, { hit: false, proof: (nonce) => token.prove(created.sessionId, nonce, false) })
    await assert.rejects(sent, { code: 'INVALID_PAYLOAD' })
  })

  test('VERIFY accepts the claim of the named person’s browser and of no other', async () => {
    const named = await newUser(trusting, { customerId: 'named' })
    const other = await newUser(trusting, { customerId: 'other' })
    for (const [token, expected] of [
      [named.token, ['SUCCESS', []]],
      [other.token, ['CONSENTED', [-9]]],
    ] as const) {
      const created = await trusting.create('VERIFY', { customerId: 'named' })
      const state = await claimOnce(created, { proof: (nonce) => token.prove(created.sessionId, nonce) })
      assert.deepEqual([state.state, state.errors], expected)
    }
  })

  test('the token of a deleted person is not accepted, and nobody is found', async () => {
    const { face, token, puid } = await newUser(trusting)
    const group = { tenantId: trusting.tenantId, livemode: false }
    assert.ok(await fixture.harness.wire.biometrics.recognition.delete(group, puid))
    const created = await trusting.create('SIGN-IN')
    const state = await claimOnce(created, { proof: (nonce) => token.prove(created.sessionId, nonce) })
    assert.deepEqual([state.state, state.errors], ['FACE_ACTIVE', []])
    const last = await trusting.create('SIGN-IN')
    assert.deepEqual(
      (await visit(fixture, last.sessionId, face, { claim: token.claims(last.sessionId) })).errors,
      [-36],
    )
    const { rows } = await fixture.harness.database.query('select * from local_keys where person_id = $1', [puid])
    assert.deepEqual(rows, [])
  })
})

test('a key that was not used for 400 days is deleted, and one that is used stays', async () => {
  const { puid, token } = await newUser(trusting)
  const { harness } = fixture
  const count = async () => {
    const text = 'select count(*)::int as count from local_keys where person_id = $1'
    return (await harness.database.query(text, [puid])).rows[0]?.count
  }
  const purge = async (days: number) => {
    const now = new Date(harness.clock.now().getTime() + days * 86_400_000)
    for (const { db } of harness.wire.platform.cells.all()) await purgeLocalKeys(db, now)
  }
  await harness.database.query('update local_keys set last_used_on = last_used_on - 10 where person_id = $1', [puid])
  const created = await trusting.create('SIGN-IN')
  await claimOnce(created, { proof: (nonce) => token.prove(created.sessionId, nonce) })
  await purge(399)
  assert.equal(await count(), 1, 'the sign-in has counted as a use')
  await purge(402)
  assert.equal(await count(), 0)
})

test('of one person’s keys the newest twenty are kept', async () => {
  const face = faces.person()
  const host = await fixture.newHost()
  const puid = await enrolled(fixture, host, face)
  const last = await createToken()
  const localKeys = createLocalKeys({ clock: fixture.harness.clock })
  const owner = { tenantId: host.tenantId, livemode: false }
  const db = fixture.harness.wire.platform.cells.forId(host.tenantId)
  for (let n = 0; n < 20; n++) await localKeys.bind(db, owner, puid, (await createToken()).key)
  await localKeys.bind(db, owner, puid, last.key)
  const { rows } = await fixture.harness.database.query('select thumbprint from local_keys where person_id = $1', [
    puid,
  ])
  assert.equal(rows.length, 20)
  const claim = { sessionId: 's', nonce: 'n', hit: true }
  const shown = await localKeys.check(db, owner, await last.prove('s', 'n'), claim)
  assert.equal(shown?.puid, puid)
})

describe('where the tenant does not', () => {
  test('[D-052] the server compares even after a match on the device, and a stranger with the token is refused', async () => {
    for (const signInMatching of ['server', 'local_with_passkey'] as const) {
      const host = await fixture.newHost({ settings: { signInMatching } })
      const { face, token, puid } = await newUser(host)
      const created = await host.create('SIGN-IN')
      const opened = await (await fixture.newDevice(created.sessionId)).device.open()
      assert.equal(opened.verification?.matching, 'server')
      const bare = await host.create('SIGN-IN')
      const sent = claimOnce(bare, { proof: (nonce) => token.prove(bare.sessionId, nonce) })
      await assert.rejects(sent, { code: 'INVALID_PAYLOAD' }, 'a hit without the vector is refused')
      const own = await host.create('SIGN-IN')
      await visit(fixture, own.sessionId, face, { claim: token.claims(own.sessionId) })
      const webhook = await host.webhook(own.sessionId)
      assert.deepEqual([webhook.puid, webhook.matchedBy], [puid, 'server'])
      const theft = await host.create('SIGN-IN')
      const state = await visit(fixture, theft.sessionId, faces.person(), { claim: token.claims(theft.sessionId) })
      assert.deepEqual([state.state, state.errors], ['FAILED', [-36]])
    }
  })
})

describe('a claim without a valid signature of a key on record', () => {
  test('signs nobody in, however it is forged', async () => {
    const { token } = await newUser(trusting)
    const stranger = await createToken()
    const elsewhere = await newUser(await fixture.newHost({ settings: { signInMatching: 'local' } }))
    const another = await trusting.create('SIGN-IN')
    const proofs: Record<string, (sessionId: string, nonce: string) => Promise<string>> = {
      'of an unknown key': (sessionId, nonce) => stranger.prove(sessionId, nonce),
      'of a key of another tenant': (sessionId, nonce) => elsewhere.token.prove(sessionId, nonce),
      'of another session': (_sessionId, nonce) => token.prove(another.sessionId, nonce),
      'of another challenge': (sessionId) => token.prove(sessionId, 'n'.repeat(32)),
      'of a miss': (sessionId, nonce) => token.prove(sessionId, nonce, false),
      'signed by another key in its name': async (sessionId, nonce) => {
        return signLocalProof(stranger.privateKey, { key: token.key, sessionId, nonce, hit: true })
      },
      'with a changed signature': async (sessionId, nonce) => {
        const proof = await token.prove(sessionId, nonce)
        return `${proof.slice(0, -10)}${proof.at(-10) === 'A' ? 'B' : 'A'}${proof.slice(-9)}`
      },
      'without a signature': async (sessionId, nonce) =>
        `${(await token.prove(sessionId, nonce)).split('.', 2).join('.')}.`,
      'of an unsigned algorithm': async (sessionId, nonce) => {
        const [, payload = '', signature = ''] = (await token.prove(sessionId, nonce)).split('.')
        const header = Buffer.from('{"alg":"none","typ":"ostiary-local+jwt"}').toString('base64url')
        return `${header}.${payload}.${signature}`
      },
      'that is no proof': async () => 'rubbish',
    }
    for (const [name, make] of Object.entries(proofs)) {
      const created = await trusting.create('SIGN-IN')
      const state = await claimOnce(created, { proof: (nonce) => make(created.sessionId, nonce) })
      assert.deepEqual([state.state, state.errors], ['FACE_ACTIVE', []], name)
    }
  })

  test('does not refuse a face that the server recognises', async () => {
    fixture.harness.clock.advance(LOCKOUT.windowSeconds * 1000)
    const { face, puid } = await newUser(trusting)
    const created = await trusting.create('SIGN-IN')
    const state = await claimOnce(created, { proof: async () => 'rubbish', vector: face })
    assert.equal(state.state, 'SUCCESS')
    const webhook = await trusting.webhook(created.sessionId)
    assert.deepEqual([webhook.puid, webhook.matchedBy], [puid, 'server'])
  })

  test('a SIGN-IN refuses the key of an ENROLL, and an ENROLL refuses a claim', async () => {
    const token = await createToken()
    const signIn = await trusting.create('SIGN-IN')
    const asKey = visit(fixture, signIn.sessionId, faces.person(), { claim: async () => ({ key: token.key }) })
    await assert.rejects(asKey, { code: 'INVALID_PAYLOAD' })
    const enrol = await trusting.create('ENROLL')
    const asClaim = visit(fixture, enrol.sessionId, faces.person(), { claim: token.claims(enrol.sessionId) })
    await assert.rejects(asClaim, { code: 'INVALID_PAYLOAD' })
  })
})

describe('an ENROLL proves that its browser has the local key', () => {
  async function enrolWith(proveKey?: SimulatedPerson['proveKey']) {
    const { key } = await createToken()
    const { sessionId } = await trusting.create('ENROLL')
    const state = await visit(fixture, sessionId, faces.person(), {
      claim: async () => ({ key }),
      ...(proveKey && { proveKey }),
    })
    assert.deepEqual([state.state, state.errors], ['SUCCESS', []])
    const text = 'select 1 from local_keys where tenant_id = $1 and thumbprint = $2'
    const name = Buffer.from(await thumbprint(key), 'base64url')
    const { rows } = await fixture.harness.database.query(text, [trusting.tenantId, name])
    return { tells: 'localKeyBound' in state, stored: rows.length }
  }
  const WITHOUT_KEY = { tells: false, stored: 0 }

  test('without a proof, as a page of the last release sends it, the person is enrolled without a local key', async () => {
    assert.deepEqual(await enrolWith(), WITHOUT_KEY)
  })

  test('with the proof of another key, or none that can be read, likewise', async () => {
    const { proveKey } = (await createToken()).enrols()
    assert.ok(proveKey)
    for (const wrong of [proveKey, async () => 'rubbish', async () => 'x'.repeat(3_000)])
      assert.deepEqual(await enrolWith(wrong), WITHOUT_KEY)
  })

  test('with a proof of another session, of another challenge, or of a hit, likewise', async () => {
    const token = await createToken()
    const wrongs: NonNullable<SimulatedPerson['proveKey']>[] = [
      ({ nonce }) => token.prove(crypto.randomUUID(), nonce, false),
      ({ sessionId }) => token.prove(sessionId, 'another', false),
      ({ sessionId, nonce }) => token.prove(sessionId, nonce, true),
    ]
    for (const proveKey of wrongs) {
      const { sessionId } = await trusting.create('ENROLL')
      const state = await visit(fixture, sessionId, faces.person(), { ...token.enrols(), proveKey })
      assert.deepEqual([state.state, 'localKeyBound' in state], ['SUCCESS', false])
    }
  })
})
