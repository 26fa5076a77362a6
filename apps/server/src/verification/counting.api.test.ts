import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PasskeyOptions } from '@ostiary/contract'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createAuthenticator } from '../passkeys/testing/authenticator.ts'
import { createVerificationFixture, type VerificationHost } from './testing/fixture.ts'
import { captureAgain, enrolled, failuresOf, from, reachCapture, visit } from './testing/people.ts'

const faces = createFaces(97)
const WITH_PASSKEY = { requirements: ['face', 'passkey'] }

const fixture = await createVerificationFixture({ TRUST_PROXY: '127.0.0.1' })

/** A session on a device that has shown this many masks. */
async function afterSpoofs(host: VerificationHost, spoofs: number, address: string, body: object = {}) {
  const { sessionId } = await host.create('SIGN-IN', body)
  const vector = faces.person()
  const { user, capture } = await reachCapture(fixture, sessionId, { vector, options: from(address) })
  let state = await user.device.submit({ ...capture, live: 10 })
  for (let shown = 1; shown < spoofs; shown++) {
    await user.device.logEvent('retake', state.attempt)
    const again = await captureAgain(user, { vector })
    state = await user.device.submit({ ...again.capture, live: 10 })
  }
  assert.deepEqual(state.errors, [1])
  return { user, state, sessionId }
}

/** An enrolled person with a passkey. */
async function newUser(host: VerificationHost) {
  const { hostname, origin } = new URL(fixture.harness.wire.config.launch.url)
  const own = createAuthenticator({ origin, rpId: hostname })
  const face = faces.person()
  const passkey = async (asked: PasskeyOptions) =>
    asked.mode === 'create' ? own.create(asked.options) : own.get(asked.options)
  await enrolled(fixture, host, face, { body: WITH_PASSKEY, person: { passkey } })
  return { face, passkey }
}

describe('a mask before the camera', () => {
  test('counts immediately: two of them and a cancel are a failure of the network, every time', async () => {
    const host = await fixture.newHost()
    for (let n = 1; n <= 5; n++) {
      const { user } = await afterSpoofs(host, 2, '203.0.113.1')
      assert.equal((await user.device.cancel()).state, 'CANCELLED')
      assert.deepEqual(await failuresOf(fixture, host), [n])
    }
    const { sessionId } = await host.create('SIGN-IN')
    const refused = await visit(fixture, sessionId, faces.person(), {}, from('203.0.113.1'))
    assert.deepEqual([refused.state, refused.errors, refused.attempt], ['FAILED', [-35], 0])
  })

  test('counts once in a session that fails later', async () => {
    const host = await fixture.newHost()
    const { state } = await afterSpoofs(host, 3, '203.0.113.2')
    assert.equal(state.state, 'FAILED')
    assert.deepEqual(await failuresOf(fixture, host), [1])
  })

  test('that the device itself reports counts too, once together with the failure after it', async () => {
    const host = await fixture.newHost()
    const { sessionId } = await host.create('SIGN-IN')
    const { user } = await reachCapture(fixture, sessionId, { vector: faces.person(), options: from('203.0.113.3') })
    assert.deepEqual((await user.device.failure(1)).errors, [1])
    assert.deepEqual(await failuresOf(fixture, host), [1])
    const { capture } = await captureAgain(user, { vector: faces.person() })
    assert.deepEqual((await user.device.submit(capture)).errors, [-9])
    assert.deepEqual(await failuresOf(fixture, host), [1])
  })

  test('does not count against the network of a person who is recognised afterwards', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    await enrolled(fixture, host, face)
    for (let n = 1; n <= 4; n++) {
      const { user } = await afterSpoofs(host, 1, '203.0.113.4')
      await user.device.logEvent('retake', 1)
      const second = await captureAgain(user, { vector: face })
      assert.equal((await user.device.submit(second.capture)).state, 'SUCCESS', `session ${n}`)
      assert.deepEqual(await failuresOf(fixture, host), [0, n], 'network, and second tries of this person')
    }
  })
})

describe('a VERIFY', () => {
  test('of a person who is not enrolled counts against nobody: nothing was compared', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    const puid = await enrolled(fixture, host, face)
    const nobody = `${puid.slice(0, -12)}000000000000`
    for (let n = 1; n <= 6; n++) {
      const who = n % 2 === 0 ? { customerId: undefined, puid: nobody } : { customerId: 'nobody' }
      const { sessionId } = await host.create('VERIFY', who)
      const state = await visit(fixture, sessionId, face, {}, from('203.0.113.30'))
      assert.deepEqual([state.state, state.errors], ['FAILED', [-36]], `session ${n}`)
    }
    assert.deepEqual(await failuresOf(fixture, host), [])
  })

  test('with a puid in capitals concerns the same person', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    const puid = await enrolled(fixture, host, face)
    const { sessionId } = await host.create('VERIFY', { customerId: undefined, puid: puid.toUpperCase() })
    assert.equal((await visit(fixture, sessionId, face, {}, from('203.0.113.31'))).state, 'SUCCESS')
    assert.equal((await host.webhook(sessionId)).puid, puid)
  })
})

describe('a wrong passkey', () => {
  /** Goes to the passkey step and shows this many wrong passkeys. */
  async function afterWrongPasskeys(host: VerificationHost, face: readonly number[], tries: number, address: string) {
    const { sessionId } = await host.create('SIGN-IN', WITH_PASSKEY)
    const { user, capture } = await reachCapture(fixture, sessionId, { vector: face, options: from(address) })
    let state = await user.device.submit(capture)
    assert.equal(state.state, 'PASSKEY_ACTIVE', JSON.stringify(state))
    for (let tried = 1; tried <= tries; tried++) {
      await user.device.passkeyOptions()
      state = await user.device.passkeyVerify({})
      assert.deepEqual(state.errors, [-25])
    }
    return { user, state }
  }

  test('counts immediately: after five sessions with two of them and a cancel, the person has to wait everywhere', async () => {
    const host = await fixture.newHost()
    const { face, passkey } = await newUser(host)
    for (let n = 1; n <= 5; n++) {
      const { user } = await afterWrongPasskeys(host, face, 2, `203.0.113.${10 + n}`)
      assert.equal((await user.device.cancel()).state, 'CANCELLED')
    }
    assert.deepEqual(await failuresOf(fixture, host), [1, 1, 1, 1, 1, 5])
    const { sessionId } = await host.create('SIGN-IN', WITH_PASSKEY)
    const refused = await visit(fixture, sessionId, face, { passkey }, from('203.0.113.20'))
    assert.deepEqual([refused.state, refused.errors], ['FAILED', [-35]])
  })

  test('counts once in a session that fails later, and a right one clears the person', async () => {
    const host = await fixture.newHost()
    const { face, passkey } = await newUser(host)
    const { state } = await afterWrongPasskeys(host, face, 3, '203.0.113.21')
    assert.equal(state.state, 'FAILED')
    assert.deepEqual(await failuresOf(fixture, host), [1, 1], 'network and person')
    const { user } = await afterWrongPasskeys(host, face, 1, '203.0.113.22')
    const asked = await user.device.passkeyOptions()
    assert.equal((await user.device.passkeyVerify(await passkey(asked))).state, 'SUCCESS')
    assert.deepEqual(
      await failuresOf(fixture, host),
      [0, 1, 1],
      'taken back; the earlier failure of the network; a second try of the person',
    )
  })

  test('counts against the person also after a mask that counted against the network', async () => {
    const host = await fixture.newHost()
    const { face } = await newUser(host)
    const { user } = await afterSpoofs(host, 1, '203.0.113.23', WITH_PASSKEY)
    assert.deepEqual(await failuresOf(fixture, host), [1])
    await user.device.logEvent('retake', 1)
    const second = await captureAgain(user, { vector: face })
    assert.equal((await user.device.submit(second.capture)).state, 'PASSKEY_ACTIVE')
    for (let tried = 1; tried <= 3; tried++) {
      await user.device.passkeyOptions()
      await user.device.passkeyVerify({})
    }
    assert.deepEqual(await failuresOf(fixture, host), [1, 1], 'network and person, each once')
  })

  test('during registration counts against nobody, whatever name the host gives', async () => {
    const host = await fixture.newHost()
    await enrolled(fixture, host, faces.person(), { body: { customerId: 'kim' } })
    for (const customerId of ['kim', 'somebody-new']) {
      const { sessionId } = await host.create('ENROLL', { ...WITH_PASSKEY, customerId })
      const state = await visit(fixture, sessionId, faces.person(), { passkey: async () => ({}) }, from('203.0.113.24'))
      assert.deepEqual([state.state, state.errors], ['FAILED', [-25]])
    }
    assert.deepEqual(await failuresOf(fixture, host), [])
  })
})
