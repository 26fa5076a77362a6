import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RELEASED_MODELS } from '@ostiary/contract'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createVerificationHost } from './testing/fixture.ts'
import { enrolled, visit } from './testing/people.ts'

const faces = createFaces(71)
const [model] = RELEASED_MODELS
assert.ok(model)
const { fixture, host } = await createVerificationHost()

/** A person before the page's own nets. The clock of the service moves as long as the capture takes. */
const filmed = (onStep: (step: string) => void = () => {}) => ({
  model,
  onStep(step: string) {
    if (step.startsWith('submits')) fixture.harness.clock.advance(10_000)
    onStep(step)
  },
})

test('the enrolled vector itself does not sign in: code 2 after the tries, and the device hears what it hears after a miss', async () => {
  const face = faces.person()
  const puid = await enrolled(fixture, host, face, { person: filmed() })
  const replayed = await host.create('SIGN-IN')
  const missed = await host.create('SIGN-IN')
  const heard = async (sessionId: string, vector: readonly number[]) => {
    const steps: string[] = []
    const { state } = await visit(
      fixture,
      sessionId,
      vector,
      filmed((step) => steps.push(step)),
    )
    return { state, tries: steps.filter((step) => step.includes('try again')) }
  }
  const replay = await heard(replayed.sessionId, face)
  const miss = await heard(missed.sessionId, faces.person())
  assert.deepEqual(replay.tries, miss.tries)
  assert.deepEqual([replay.state, miss.state], ['FAILED', 'FAILED'])
  const body = await host.webhook(replayed.sessionId)
  assert.deepEqual([body.status, body.errorCodes, body.puid], ['error', [1, 2], undefined])

  const { sessionId } = await host.create('SIGN-IN')
  await visit(fixture, sessionId, faces.sample(face, 0.998), filmed())
  assert.equal((await host.webhook(sessionId)).puid, puid, 'as alike as two captures of a puppet: signed in')
})

test('VERIFY refuses it as well', async () => {
  const face = faces.person()
  const puid = await enrolled(fixture, host, face, { body: { customerId: 'customer-7' }, person: filmed() })
  const { sessionId } = await host.create('VERIFY', { customerId: 'customer-7' })
  await visit(fixture, sessionId, face, filmed())
  assert.deepEqual((await host.webhook(sessionId)).errors?.map(({ code }) => code) ?? [], [1, 2], `not ${puid}`)
})

test('the simulated device of a test session sends the same numbers every time, and signs in', async () => {
  const face = faces.person()
  const puid = await enrolled(fixture, host, face)
  const { sessionId } = await host.create('SIGN-IN')
  await visit(fixture, sessionId, face)
  assert.equal((await host.webhook(sessionId)).puid, puid)
})
