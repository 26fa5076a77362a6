import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ended } from '../flow/testing/service.ts'
import { problemOf } from './passkey-step.ts'
import { createVerificationFixture, PASSKEY, refusal, type VerificationFixtureOptions } from './testing/fixture.ts'

const ACTIVE = { state: 'PASSKEY_ACTIVE' }

/** A flow at the passkey screen. */
async function atPasskey(options: VerificationFixtureOptions = {}) {
  const fixture = await createVerificationFixture({
    requirements: ['face', 'passkey'],
    ...options,
    answers: { submit: [ACTIVE], ...options.answers },
  })
  await fixture.capture()
  await fixture.reaches('passkey')
  return fixture
}

test('after the face, a tap asks for the passkey, and its answer is sent', async () => {
  for (const [type, mode] of [
    ['ENROLL', 'create'],
    ['SIGN-IN', 'get'],
  ] as const) {
    const { flow, service, asked, reaches, until } = await atPasskey({ type })
    await until(() => service.paths().at(-1) === 'passkey/options')
    assert.equal(asked.length, 0, 'nothing is asked without a tap')
    flow.actions.askPasskey()
    await reaches('done')
    assert.deepEqual(
      asked.map((question) => question.mode),
      [mode],
    )
    assert.deepEqual(service.paths().slice(-3), ['submit', 'passkey/options', 'passkey/verify'])
    assert.deepEqual(service.bodies('passkey/verify')[0]?.response, PASSKEY)
  }
})

test('an enrolment stores its token only after the passkey succeeded too', async () => {
  const { flow, tokens, reaches, until } = await atPasskey({ type: 'ENROLL' })
  assert.equal(tokens.kept.size, 0)
  flow.actions.askPasskey()
  await reaches('done')
  await until(() => tokens.kept.size === 1)
})

test('a user who closes the dialog may ask again, without another call to the service', async () => {
  const { flow, service, asked, reaches } = await atPasskey({ passkeys: [refusal('NotAllowedError')] })
  flow.actions.askPasskey()
  await reaches('passkey', { status: 'none_here' })
  flow.actions.askPasskey()
  await reaches('done')
  assert.equal(asked.length, 2)
  assert.equal(service.bodies('passkey/options').length, 1)
  assert.equal(service.bodies('failure').length, 0)
})

test('after a passkey that was not accepted, the page fetches new options', async () => {
  const { flow, service, reaches, until } = await atPasskey({
    answers: { 'passkey/verify': [{ ...ACTIVE, errors: [-25] }] },
  })
  flow.actions.askPasskey()
  await reaches('passkey', { status: 'refused' })
  await until(() => service.bodies('passkey/options').length === 2)
  flow.actions.askPasskey()
  await reaches('done')
})

test('a user without a passkey says so, and the page reports it until the flow has ended', async () => {
  const over = { ...ended('COMPLETED', [-25]), state: 'FAILED' }
  const { flow, service, reaches } = await atPasskey({
    passkeys: [refusal('NotAllowedError')],
    answers: { failure: [ACTIVE, over] },
  })
  flow.actions.askPasskey()
  await reaches('passkey', { status: 'none_here' })
  flow.actions.skipPasskey()
  await reaches('ended')
  assert.deepEqual(
    service.bodies('failure').map(({ code, reason }) => [code, reason]),
    [
      [-25, 'none_here'],
      [-25, 'none_here'],
    ],
  )
})

test('a browser without passkeys shows that and makes no call', async () => {
  const { flow, service, reaches } = await atPasskey({ apis: { passkeys: null } })
  await reaches('passkey', { status: 'unsupported' })
  flow.actions.askPasskey()
  assert.deepEqual(flow.view().state, { at: 'passkey', status: 'unsupported' })
  assert.equal(service.bodies('passkey/options').length, 0)
})

test('a lost answer is not sent again with other options: the page opens the session again', async () => {
  const { flow, service, reaches } = await atPasskey({
    answers: {
      open: [{}, { ...ended('COMPLETED'), state: 'SUCCESS' }],
      'passkey/verify': ['no network', { status: 409, code: 'CHALLENGE_NOT_VALID' }],
    },
  })
  flow.actions.askPasskey()
  await reaches('done')
  assert.deepEqual(service.paths().slice(-3), ['passkey/verify', 'passkey/verify', 'open'])
})

test('two taps ask the browser once', async () => {
  const { flow, asked, reaches } = await atPasskey()
  flow.actions.askPasskey()
  flow.actions.askPasskey()
  await reaches('done')
  assert.equal(asked.length, 1)
})

test('browser errors map to problems; a refusal and a missing passkey look the same', () => {
  assert.equal(problemOf(refusal('NotAllowedError'), 'create'), 'cancelled')
  assert.equal(problemOf(refusal('NotAllowedError'), 'get'), 'none_here')
  assert.equal(problemOf(refusal('AbortError'), 'create'), 'cancelled')
  assert.equal(problemOf(refusal('NotSupportedError'), 'create'), 'unsupported')
  assert.equal(problemOf(refusal('SecurityError'), 'get'), 'unsupported')
  assert.equal(problemOf(refusal('InvalidStateError'), 'create'), 'failed')
  assert.equal(problemOf('anything', 'get'), 'failed')
})
