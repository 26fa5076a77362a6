import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PasskeyOptions } from '@ostiary/contract'
import { runFlow, seededRandom } from '@ostiary/device/simulated'
import { createFaces } from '../biometrics/testing/faces.ts'
import { type Authenticator, createAuthenticator } from '../passkeys/testing/authenticator.ts'
import { createVerificationHost } from './testing/fixture.ts'
import { createToken, enrolled, reachCapture, visit } from './testing/people.ts'

const faces = createFaces(83)
const WITH_PASSKEY = { requirements: ['face', 'passkey'] }

const { fixture, host } = await createVerificationHost()

function newAuthenticator(counts = false): Authenticator {
  const { hostname, origin } = new URL(fixture.harness.wire.config.launch.url)
  return createAuthenticator({ origin, rpId: hostname, counts })
}

/** Answers the options of a passkey call as a page does. */
const answers = (own: Authenticator) => async (asked: PasskeyOptions) =>
  asked.mode === 'create' ? own.create(asked.options) : own.get(asked.options)

/** A person who is enrolled with a face and a passkey. */
async function newUser(own = newAuthenticator(), at = host) {
  const face = faces.person()
  const token = await createToken()
  const person = { passkey: answers(own), ...token.enrols() }
  return { face, own, token, puid: await enrolled(fixture, at, face, { body: WITH_PASSKEY, person }) }
}

describe('a passkey beside the face', () => {
  test('is registered by an ENROLL, and a SIGN-IN asks for exactly that passkey', async () => {
    const { face, own, puid } = await newUser()
    assert.equal(own.credentials.length, 1)
    const { sessionId } = await host.create('SIGN-IN', WITH_PASSKEY)
    const asked: PasskeyOptions[] = []
    const state = await visit(fixture, sessionId, face, {
      passkey: (options) => {
        asked.push(options)
        return answers(own)(options)
      },
    })
    assert.equal(state.state, 'SUCCESS')
    const allowed = own.credentials.map(({ id }) => id.toString('base64url'))
    assert.deepEqual(
      asked.map(({ mode, options }) => [mode, (options.allowCredentials as { id: string }[]).map(({ id }) => id)]),
      [['get', allowed]],
    )
    const webhook = await host.webhook(sessionId)
    assert.deepEqual([webhook.puid, webhook.matchedBy], [puid, 'server+passkey'])
  })

  test('is stored by the authenticator with the host’s own name, or with that of the page', async () => {
    const branded = await fixture.newHost()
    await fixture.harness.wire.settings.service.set(branded.tenantId, { brand: { name: 'Example Shop' } })
    const names: unknown[] = []
    for (const one of [host, branded]) {
      const { sessionId } = await one.create('ENROLL', WITH_PASSKEY)
      const own = newAuthenticator()
      await visit(fixture, sessionId, faces.person(), {
        passkey: (asked) => {
          names.push(asked.options.rp)
          return answers(own)(asked)
        },
      })
    }
    const id = new URL(fixture.harness.wire.config.launch.url).hostname
    assert.deepEqual(names, [
      { id, name: id },
      { id, name: 'Example Shop' },
    ])
  })

  test('together with a match on the device is enough by the default policy', async () => {
    const { face, own, token, puid } = await newUser()
    const { sessionId } = await host.create('SIGN-IN', WITH_PASSKEY)
    const state = await visit(fixture, sessionId, face, { passkey: answers(own), claim: token.claims(sessionId) })
    assert.equal(state.state, 'SUCCESS')
    const webhook = await host.webhook(sessionId)
    assert.deepEqual([webhook.puid, webhook.matchedBy], [puid, 'local+passkey'])
  })

  test('of another person, a wrong one and a refusal use up tries, and the third is -25', async () => {
    const { face, own } = await newUser()
    const other = await newUser()
    const [otherKey] = other.own.credentials
    assert.ok(otherKey)
    const lies = [
      (options: PasskeyOptions['options']) =>
        own.get(options, { signature: (bytes) => bytes.map((byte) => byte ^ 1) as Buffer }),
      (options: PasskeyOptions['options']) => other.own.get(options, { use: otherKey }),
      () => ({}),
    ]
    const { sessionId } = await host.create('SIGN-IN', WITH_PASSKEY)
    let tries = 0
    const state = await visit(fixture, sessionId, face, {
      passkey: async ({ options }) => lies[tries++]?.(options) ?? {},
    })
    assert.equal(tries, 3)
    assert.deepEqual([state.state, state.errors], ['FAILED', [-25]])
    const { errorCodes, puid } = await host.webhook(sessionId)
    assert.deepEqual([errorCodes, puid], [[-25], undefined])
  })

  test('that is required and not on record is -25 immediately', async () => {
    const face = faces.person()
    await enrolled(fixture, host, face)
    const { sessionId } = await host.create('SIGN-IN', WITH_PASSKEY)
    const state = await visit(fixture, sessionId, face)
    assert.deepEqual([state.state, state.errors], ['FAILED', [-25]])
  })

  test('that fails is not registered, and the face is not enrolled either', async () => {
    const own = await fixture.newHost()
    const face = faces.person()
    const { sessionId } = await own.create('ENROLL', WITH_PASSKEY)
    const state = await visit(fixture, sessionId, face, { passkey: async () => ({}) })
    assert.deepEqual([state.state, state.errors], ['FAILED', [-25]])
    const next = await own.create('SIGN-IN')
    assert.deepEqual((await visit(fixture, next.sessionId, face)).errors, [-36])
  })

  test('is added to an enrolled person only after they use a passkey that they have', async () => {
    const { face, own, puid } = await newUser()
    const second = newAuthenticator()
    const token = await createToken()
    const asked: string[] = []
    const bothKeys = async (options: PasskeyOptions) => {
      asked.push(options.mode)
      return options.mode === 'create' ? second.create(options.options) : own.get(options.options)
    }
    const adding = await host.create('ENROLL', WITH_PASSKEY)
    const person = { passkey: bothKeys, ...token.enrols() }
    assert.equal((await visit(fixture, adding.sessionId, face, person)).state, 'SUCCESS')
    assert.deepEqual(asked, ['create', 'get'])
    const added = await host.webhook(adding.sessionId)
    assert.deepEqual([added.puid, added.errors.map(({ code }) => code)], [puid, [-37]])
    const { sessionId } = await host.create('SIGN-IN', WITH_PASSKEY)
    const state = await visit(fixture, sessionId, face, { passkey: answers(second), claim: token.claims(sessionId) })
    assert.equal(state.state, 'SUCCESS', 'the second passkey and the second browser work')
    assert.equal((await host.webhook(sessionId)).matchedBy, 'local+passkey')
  })

  test('is not added by the face alone, and nothing is bound: a face is a claim', async () => {
    const { face, own, puid } = await newUser()
    const forger = newAuthenticator()
    const token = await createToken()
    const forging = await host.create('ENROLL', WITH_PASSKEY)
    const forges = async ({ mode, options }: PasskeyOptions) => {
      const [made] = forger.credentials
      return mode === 'create' ? forger.create(options) : made ? forger.get(options, { use: made }) : {}
    }
    const forged = await visit(fixture, forging.sessionId, face, {
      passkey: forges,
      ...token.enrols(),
    })
    assert.deepEqual([forged.state, forged.errors], ['FAILED', [-25]])
    const signingIn = await host.create('SIGN-IN', WITH_PASSKEY)
    assert.equal((await visit(fixture, signingIn.sessionId, face, { passkey: forges })).state, 'FAILED')
    const plain = await host.create('ENROLL')
    assert.equal((await visit(fixture, plain.sessionId, face, { ...token.enrols() })).state, 'SUCCESS')
    const later = await host.create('SIGN-IN', WITH_PASSKEY)
    const state = await visit(fixture, later.sessionId, face, {
      passkey: answers(own),
      claim: token.claims(later.sessionId),
    })
    assert.equal(state.state, 'SUCCESS')
    const { matchedBy, puid: found } = await host.webhook(later.sessionId)
    assert.deepEqual([matchedBy, found], ['server+passkey', puid], 'the browser that enrolled again is not known')
  })

  test('is not added to an enrolled person without one either: the host deletes them and they enrol again', async () => {
    const face = faces.person()
    await enrolled(fixture, host, face)
    const { sessionId } = await host.create('ENROLL', WITH_PASSKEY)
    const state = await visit(fixture, sessionId, face, { passkey: answers(newAuthenticator()) })
    assert.deepEqual([state.state, state.errors], ['FAILED', [-25]])
  })

  test('that answers late, after another sign-in of the same person, fails and stays valid', async () => {
    const shop = await fixture.newHost()
    const { face, own } = await newUser(newAuthenticator(true), shop)
    const slow = await shop.create('SIGN-IN', WITH_PASSKEY)
    const { user, capture } = await reachCapture(fixture, slow.sessionId, { vector: face })
    assert.equal((await user.device.submit(capture)).state, 'PASSKEY_ACTIVE')
    const late = own.get((await user.device.passkeyOptions()).options)
    const quick = await shop.create('SIGN-IN', WITH_PASSKEY)
    assert.equal((await visit(fixture, quick.sessionId, face, { passkey: answers(own) })).state, 'SUCCESS')
    const refused = await user.device.passkeyVerify(late)
    assert.deepEqual([refused.state, refused.errors], ['PASSKEY_ACTIVE', [-25]])
    const again = own.get((await user.device.passkeyOptions()).options)
    assert.equal((await user.device.passkeyVerify(again)).state, 'SUCCESS', 'asked again, it answers')
  })

  test('that is suspended is not accepted: a person without another is deleted and enrols again', async () => {
    const shop = await fixture.newHost()
    const { face, own, puid } = await newUser(newAuthenticator(true), shop)
    const copied = async ({ options }: PasskeyOptions) =>
      (options.allowCredentials as unknown[]).length > 0 ? own.get(options, { counter: 7 }) : {}
    const first = await shop.create('SIGN-IN', WITH_PASSKEY)
    assert.equal((await visit(fixture, first.sessionId, face, { passkey: copied })).state, 'SUCCESS')
    const second = await shop.create('SIGN-IN', WITH_PASSKEY)
    assert.deepEqual((await visit(fixture, second.sessionId, face, { passkey: copied })).errors, [-25])
    for (const type of ['SIGN-IN', 'ENROLL'] as const) {
      const { sessionId } = await shop.create(type, WITH_PASSKEY)
      const state = await visit(fixture, sessionId, face, { passkey: answers(own) })
      assert.deepEqual([state.state, state.errors], ['FAILED', [-25]], type)
    }
    await fixture.harness.wire.biometrics.recognition.delete({ tenantId: shop.tenantId, livemode: false }, puid)
    const replacement = newAuthenticator(true)
    await enrolled(fixture, shop, face, { body: WITH_PASSKEY, person: { passkey: answers(replacement) } })
    const { sessionId } = await shop.create('SIGN-IN', WITH_PASSKEY)
    assert.equal((await visit(fixture, sessionId, face, { passkey: answers(replacement) })).state, 'SUCCESS')
  })

  test('an answer counts once, and not after five minutes', async () => {
    const { face, own } = await newUser()
    const { sessionId } = await host.create('SIGN-IN', WITH_PASSKEY)
    const { device, clock } = await fixture.newDevice(sessionId)
    await runFlow(device, { clock, random: seededRandom(1), ageYears: null, vector: face })
    await assert.rejects(device.passkeyVerify({}), { code: 'CHALLENGE_NOT_VALID' }, 'before it was asked for')
    const asked = await device.passkeyOptions()
    fixture.harness.clock.advance(300_001)
    const late = device.passkeyVerify(own.get(asked.options))
    await assert.rejects(late, { code: 'CHALLENGE_NOT_VALID' })
    const fresh = own.get((await device.passkeyOptions()).options)
    const reply = await device.failure(-25)
    assert.deepEqual([reply.state, reply.errors], ['PASSKEY_ACTIVE', [-25]])
    await assert.rejects(device.passkeyVerify(fresh), { code: 'CHALLENGE_NOT_VALID' }, 'the report has used it up')
    assert.equal((await device.passkeyVerify(own.get((await device.passkeyOptions()).options))).state, 'SUCCESS')
  })
})
