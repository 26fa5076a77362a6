import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LAUNCH_LIMITS, type LaunchState, LOCKOUT, type PasskeyOptions, type VerificationType } from '@ostiary/contract'
import { encodeVector } from '@ostiary/crypto'
import type { Capture } from '@ostiary/device'
import type { UserDevice } from '../age/testing/fixture.ts'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createAuthenticator } from '../passkeys/testing/authenticator.ts'
import { createVerificationFixture, type VerificationHost } from './testing/fixture.ts'
import { captureAgain, createToken, enrolled, reachCapture, visit } from './testing/people.ts'

const faces = createFaces(97)

/** A browser keeps a token whose key the service does not have. That must not count against the person. */
const fixture = await createVerificationFixture()

const trustingHost = () => fixture.newHost({ settings: { signInMatching: 'local' } })
const faceOf = (vector: readonly number[]) => ({ version: 'FACE3_3', vector: encodeVector(vector) }) as const
type Token = Awaited<ReturnType<typeof createToken>>

/** How many failures were counted, of every kind. */
async function counted({ tenantId }: VerificationHost): Promise<number[]> {
  const text = 'select failures from sign_in_lockouts where tenant_id = $1'
  return (await fixture.harness.database.query(text, [tenantId])).rows.map(({ failures }) => failures)
}

/** A try that sends only the claim of the token. */
async function claimed(user: UserDevice, token: Token, { capture, nonce }: { capture: Capture; nonce: string }) {
  const { sessionId } = user.device
  return user.device.submit({ ...capture, local: { hit: true, proof: await token.prove(sessionId, nonce) } })
}

async function begin(host: VerificationHost, token: Token, type: VerificationType = 'SIGN-IN', body: object = {}) {
  const created = await host.create(type, body)
  const { user, capture, nonce } = await reachCapture(fixture, created.sessionId, {})
  const state = await claimed(user, token, { capture, nonce })
  return { ...created, user, capture, nonce, state }
}

const brief = ({ state, errors, attempt }: LaunchState) => [state, errors, attempt]
const WANTED = ['FACE_ACTIVE', [], 1]

describe('a match signed with a key that is not on record', () => {
  test('asks for the vector of the same capture, and the server compares; nobody is counted', async () => {
    const host = await trustingHost()
    const face = faces.person()
    const puid = await enrolled(fixture, host, face)
    for (const [type, body] of [
      ['SIGN-IN', {}],
      ['VERIFY', { customerId: undefined, puid }],
    ] as const) {
      const { user, capture, sessionId, state } = await begin(host, await createToken(), type, body)
      assert.deepEqual(brief(state), WANTED)
      assert.deepEqual(await counted(host), [])
      const ended = await user.device.submit({ ...capture, face: faceOf(face) })
      assert.deepEqual(brief(ended), ['SUCCESS', [], 1])
      const webhook = await host.webhook(sessionId)
      assert.deepEqual([webhook.puid, webhook.matchedBy, webhook.errors], [puid, 'server', []])
      assert.deepEqual(webhook.riskEvaluation.flags, [])
    }
    assert.deepEqual(await counted(host), [])
  })

  test('does not count against a person who was deleted and enrolled again', async () => {
    const host = await trustingHost()
    const face = faces.person()
    const old = await createToken()
    const first = await enrolled(fixture, host, face, { person: { ...old.enrols() } })
    assert.ok(
      await fixture.harness.wire.biometrics.recognition.delete({ tenantId: host.tenantId, livemode: false }, first),
    )
    const puid = await enrolled(fixture, host, face)
    assert.notEqual(puid, first)
    const { user, capture, state, sessionId } = await begin(host, old)
    assert.deepEqual(brief(state), WANTED)
    await user.device.submit({ ...capture, face: faceOf(face) })
    assert.equal((await host.webhook(sessionId)).puid, puid)
    assert.deepEqual(await counted(host), [])
  })

  test('gets the same reply when it is sent again', async () => {
    const host = await trustingHost()
    const { sessionId } = await host.create('SIGN-IN')
    const { user, capture, nonce } = await reachCapture(fixture, sessionId, {})
    const proof = await (await createToken()).prove(sessionId, nonce)
    await user.device.logEvent('submit')
    await user.device.flushEvents()
    const sealed = await user.device.seal(await user.device.payloadOf({ ...capture, local: { hit: true, proof } }))
    assert.deepEqual(brief(await user.device.submitSealed(sealed)), WANTED)
    assert.deepEqual(brief(await user.device.submitSealed(sealed)), WANTED)
  })

  test('followed by a vector that nobody has is an ordinary mismatch, counted once', async () => {
    const host = await trustingHost()
    const { user, capture } = await begin(host, await createToken())
    const missed = await user.device.submit({ ...capture, face: faceOf(faces.person()) })
    assert.deepEqual(brief(missed), ['CONSENTED', [-9], 1])
    assert.deepEqual(await counted(host), [1])
    const repeated = user.device.submit({ ...capture, face: faceOf(faces.person()) })
    await assert.rejects(repeated, { code: 'SESSION_NOT_OPEN' }, 'one vector for one challenge')
  })

  test('gives a forger no more tries, no more submits and no more time', async () => {
    const host = await trustingHost()
    const forged = await createToken()
    const { user, capture, nonce, sessionId } = await begin(host, forged)
    for (let submits = 1; submits < LAUNCH_LIMITS.submitsPerAttempt; submits++)
      assert.deepEqual(brief(await claimed(user, forged, { capture, nonce })), WANTED)
    await assert.rejects(claimed(user, forged, { capture, nonce }), { code: 'CHALLENGE_NOT_VALID' })
    for (const attempt of [2, 3]) {
      const again = await captureAgain(user, {})
      assert.deepEqual(brief(await claimed(user, forged, again)), ['FACE_ACTIVE', [], attempt])
    }
    await assert.rejects(user.device.challenge(), { code: 'SESSION_NOT_OPEN' })
    const { status, errorCodes } = await host.webhook(sessionId)
    assert.deepEqual([status, errorCodes], ['error', [-19]])
    assert.deepEqual(await counted(host), [1], 'their network, as for any session whose tries failed')
    const late = await begin(host, forged)
    fixture.harness.clock.advance((LAUNCH_LIMITS.challengeSeconds + 1) * 1000)
    const sent = late.user.device.submit({ ...late.capture, face: faceOf(faces.person()) })
    await assert.rejects(sent, { code: 'CHALLENGE_NOT_VALID' })
  })

  test('gets no information while its network has to wait', async () => {
    const host = await trustingHost()
    const token = await createToken()
    const { sessionId } = await host.create('SIGN-IN')
    const waiting = await reachCapture(fixture, sessionId, {})
    for (let failures = 0; failures < LOCKOUT.failures; failures++) {
      const { user, capture } = await begin(host, token)
      await user.device.submit({ ...capture, face: faceOf(faces.person()) })
    }
    assert.deepEqual(brief(await claimed(waiting.user, token, waiting)), ['FAILED', [-35], 1])
  })
})

describe('the end of an ENROLL says whether the key is on record', () => {
  const enrol = async (host: VerificationHost, face: readonly number[], more: Parameters<typeof visit>[3] = {}) => {
    const { sessionId } = await host.create('ENROLL', more.passkey ? { requirements: ['face', 'passkey'] } : {})
    const token = await createToken()
    const state = await visit(fixture, sessionId, face, { ...token.enrols(), ...more })
    assert.equal(state.state, 'SUCCESS')
    return { state, sessionId, token }
  }
  const signsInAlone = async (host: VerificationHost, token: Token) =>
    (await begin(host, token)).state.state === 'SUCCESS'

  test('it is for a new person, and is not for a person who was enrolled already', async () => {
    const host = await trustingHost()
    const face = faces.person()
    const first = await enrol(host, face)
    const second = await enrol(host, face)
    assert.deepEqual([first.state.localKeyBound, second.state.localKeyBound], [true, false])
    assert.deepEqual([await signsInAlone(host, first.token), await signsInAlone(host, second.token)], [true, false])
  })

  test('it is for a person who has used one of their passkeys', async () => {
    const host = await trustingHost()
    const face = faces.person()
    const { hostname, origin } = new URL(fixture.harness.wire.config.launch.url)
    const own = createAuthenticator({ origin, rpId: hostname })
    const passkey = async ({ mode, options }: PasskeyOptions) =>
      mode === 'create' ? own.create(options) : own.get(options)
    const first = await enrol(host, face, { passkey })
    const second = await enrol(host, face, { passkey })
    assert.deepEqual([first.state.localKeyBound, second.state.localKeyBound], [true, true])
    assert.ok(await signsInAlone(host, second.token))
  })

  test('only to the device that ran the session and sent a key', async () => {
    const host = await trustingHost()
    const { sessionId } = await enrol(host, faces.person())
    const opened = await (await fixture.newDevice(sessionId)).device.open()
    assert.deepEqual([opened.state, 'localKeyBound' in opened], ['SUCCESS', false])
    const bare = await host.create('ENROLL')
    assert.equal('localKeyBound' in (await visit(fixture, bare.sessionId, faces.person())), false)
  })
})
