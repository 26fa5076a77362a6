import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { KIND_OF } from '@ostiary/contract'
import type { ChallengeNeeds } from '@ostiary/device'
import { seededRandom, simulateCapture } from '@ostiary/device/simulated'
import { readyDevice } from '../age/testing/fixture.ts'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createVerificationHost, type VerificationHost } from './testing/fixture.ts'
import { visit } from './testing/people.ts'

const { fixture, host } = await createVerificationHost()

const faces = createFaces(47)
const TEN_MINUTES_MS = 600_000

/** Enrols a person with these needs, who says so at the first movement. */
async function enrol(sessionId: string, needs: ChallengeNeeds) {
  fixture.harness.clock.advance(8_000)
  const user = await fixture.newDevice(sessionId)
  await readyDevice(user)
  await user.device.challenge()
  const challenge = await user.device.challenge(undefined, { ...needs, replaces: true })
  assert.ok(challenge.steps.every(({ movement }) => !needs.cannot?.includes(KIND_OF[movement])))
  await user.device.logEvent('challenge_received', challenge.attempt)
  const random = seededRandom(5)
  const { capture, moments } = simulateCapture({ ageYears: null, random, vector: faces.person(), challenge })
  let nowMs = 0
  for (const { type, n, atMs } of moments) {
    await user.clock.pass(Math.max(0, Math.round(atMs - nowMs)))
    nowMs = Math.max(nowMs, atMs)
    await user.device.logEvent(type, n)
  }
  // By the service's clock too, no capture arrives sooner than it lasted.
  fixture.harness.clock.advance(65_000)
  return user.device.submit(capture)
}

const deliveredTo = async (sessionId: string) => JSON.parse((await fixture.delivered(sessionId)).body.toString())

describe('`assurance` of area D', () => {
  test('names the kinds that were left and the pace, in the result and in the webhook as it arrives', async () => {
    const { sessionId } = await host.create('ENROLL')
    const ended = await enrol(sessionId, { cannot: ['turn', 'up'], pace: 'slow' })
    assert.deepEqual([ended.state, ended.attempt, ended.errors], ['SUCCESS', 1, []])
    const assurance = { movements: ['blink', 'closer'], pace: 'slow' }
    assert.deepEqual((await host.webhook(sessionId)).assurance, assurance)
    const delivered = await deliveredTo(sessionId)
    assert.deepEqual(delivered.assurance, assurance)
    assert.deepEqual([delivered.status, delivered.riskEvaluation.flags], ['SUCCESS', []], 'it is no risk')
  })

  test('names one of them alone', async () => {
    const { sessionId } = await host.create('ENROLL')
    await enrol(sessionId, { cannot: ['blink'] })
    assert.deepEqual((await deliveredTo(sessionId)).assurance, { movements: ['turn', 'up', 'closer'] })
  })

  test('is absent for everybody else', async () => {
    const { sessionId } = await host.create('ENROLL')
    assert.equal((await visit(fixture, sessionId, faces.person())).state, 'SUCCESS')
    assert.ok(!('assurance' in (await deliveredTo(sessionId))))
  })
})

describe('more time for a session of area D', () => {
  const opened = async (of: VerificationHost) => {
    const created = await of.create('ENROLL')
    const user = await fixture.newDevice(created.sessionId)
    return { created, user, session: await user.device.open() }
  }
  const sweep = (of: VerificationHost) => {
    const { wire } = fixture.harness
    return wire.verification.ending.expireDue(wire.platform.cells.forId(of.tenantId))
  }

  test('is given once where the tenant allows it; the sweeper and the host’s read follow', async () => {
    const kind = await fixture.newHost({ settings: { userMayExtend: true } })
    const { created, user, session } = await opened(kind)
    assert.equal(session.mayExtend, true)
    const endedAtMs = Date.parse(session.expiresAt)
    const later = new Date(endedAtMs + TEN_MINUTES_MS).toISOString()
    assert.equal((await user.device.extend()).expiresAt, later)
    assert.equal((await user.device.extend()).expiresAt, later)
    const reopened = await user.device.open()
    assert.deepEqual([reopened.expiresAt, reopened.mayExtend], [later, false])
    assert.equal((await kind.get(created.sessionId)).expiresAt, later)
    const lifetimeMs = endedAtMs - fixture.harness.clock.now().getTime()
    fixture.harness.clock.advance(lifetimeMs + 1000)
    await sweep(kind)
    assert.equal((await kind.get(created.sessionId)).outcome, null)
    fixture.harness.clock.advance(TEN_MINUTES_MS)
    await sweep(kind)
    assert.equal((await kind.get(created.sessionId)).outcome, 'EXPIRED')
  })

  test('is not given by default', async () => {
    const { user, session } = await opened(host)
    assert.equal(session.mayExtend, false)
    await assert.rejects(user.device.extend(), { status: 409, code: 'SESSION_NOT_OPEN' })
    assert.equal((await user.device.open()).expiresAt, session.expiresAt)
  })
})
