import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PasskeyOptions } from '@ostiary/contract'
import { DeviceError } from '@ostiary/device'
import { agreeOn } from '../age/testing/fixture.ts'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createAuthenticator } from '../passkeys/testing/authenticator.ts'
import { createVerificationHost } from './testing/fixture.ts'
import { captureAgain, enrolled, reachCapture } from './testing/people.ts'

const faces = createFaces(97)
const WITH_PASSKEY = { requirements: ['face', 'passkey'] }

const { fixture, host } = await createVerificationHost()

async function newUser() {
  const { hostname, origin } = new URL(fixture.harness.wire.config.launch.url)
  const own = createAuthenticator({ origin, rpId: hostname })
  const face = faces.person()
  const passkey = async ({ mode, options }: PasskeyOptions) =>
    mode === 'create' ? own.create(options) : own.get(options)
  await enrolled(fixture, host, face, { body: WITH_PASSKEY, person: { passkey } })
  return { face, passkey }
}

type Device = Awaited<ReturnType<typeof reachCapture>>['user']

/** A page that has taken the session back, up to its request for the next challenge. */
async function beginAnew(user: Device): Promise<void> {
  await user.device.logEvent('page_open')
  await agreeOn(user)
}

/** A session at the passkey step, after the face was recognised in the third and last try. */
async function atLastTry(face: number[]) {
  const { sessionId } = await host.create('SIGN-IN', WITH_PASSKEY)
  const { fetch, loseNext } = lossy()
  const { user } = await reachCapture(fixture, sessionId, { vector: face, options: { fetch } })
  for (const attempt of [1, 2]) {
    await user.device.failure(-10)
    await user.device.logEvent('retake', attempt)
    if (attempt === 1) await captureAgain(user, { vector: face })
  }
  const { capture } = await captureAgain(user, { vector: face })
  const { state, attemptsLeft } = await user.device.submit(capture)
  assert.deepEqual([state, attemptsLeft], ['PASSKEY_ACTIVE', 0])
  return { sessionId, user, loseNext }
}

/** A connection that loses one reply. */
function lossy() {
  let lost: string | undefined
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const response = await globalThis.fetch(url, init)
    if (lost === undefined || !String(url).endsWith(lost)) return response
    lost = undefined
    throw new TypeError('fetch failed')
  }
  return {
    fetch,
    loseNext(path: string) {
      lost = path
    },
  }
}

describe('a passkey on another device', () => {
  test('can be used there even if the face was recognised in the last try', async () => {
    const { face, passkey } = await newUser()
    const { sessionId, user } = await atLastTry(face)
    const { code, number = assert.fail('no number') } = await user.device.handoff()
    const phone = await fixture.newDevice(sessionId)
    await phone.device.open(code)
    await phone.device.number(number)
    await beginAnew(phone)
    const { capture } = await captureAgain(phone, { vector: face })
    assert.equal((await phone.device.submit(capture)).state, 'PASSKEY_ACTIVE')
    const asked = await phone.device.passkeyOptions()
    assert.equal((await phone.device.passkeyVerify(await passkey(asked))).state, 'SUCCESS')
  })

  test('has three tries in a session, however often the session is handed over and taken back', async () => {
    const { face } = await newUser()
    const { user } = await atLastTry(face)
    for (let tries = 1; tries <= 2; tries++) {
      await user.device.passkeyOptions()
      assert.equal((await user.device.passkeyVerify({})).state, 'PASSKEY_ACTIVE')
      await user.device.handoff()
      assert.equal((await user.device.takeBack()).attemptsLeft, 1)
      await beginAnew(user)
      const { capture } = await captureAgain(user, { vector: face })
      assert.equal((await user.device.submit(capture)).state, 'PASSKEY_ACTIVE')
    }
    await user.device.passkeyOptions()
    const third = await user.device.passkeyVerify({})
    assert.deepEqual([third.state, third.errors], ['FAILED', [-25]])
  })

  test('does not fail the session when the reply with the challenge is lost after taking it back', async () => {
    const { face } = await newUser()
    const { user, loseNext } = await atLastTry(face)
    await user.device.handoff()
    await user.device.takeBack()
    await beginAnew(user)
    loseNext('/launch/api/challenge')
    await assert.rejects(user.device.challenge(), DeviceError)
    assert.equal((await user.device.challenge()).attempt, 3)
  })
})
