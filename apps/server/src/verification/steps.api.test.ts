import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DESKTOP } from '../age/testing/fixture.ts'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createVerificationHost } from './testing/fixture.ts'
import { enrolled, reachCapture, visit } from './testing/people.ts'

const faces = createFaces(103)

const { fixture, host } = await createVerificationHost()

describe('opening', () => {
  test('gives the page the type and the requirements of the session', async () => {
    const { sessionId } = await host.create('ENROLL', { estimateAge: true, requirements: ['face', 'passkey'] })
    const { device } = await fixture.newDevice(sessionId)
    const { type, requirements, verification, state } = await device.open()
    assert.deepEqual([type, requirements, state], ['ENROLL', ['face', 'passkey'], 'OPENED'])
    assert.deepEqual(verification, {
      realm: verification?.realm,
      version: 'FACE3_3',
      sendImages: false,
      estimateAge: true,
      matching: 'server',
    })
    assert.ok(!JSON.stringify(verification).includes(host.tenantId))
    assert.equal((await device.consent(true)).state, 'CONSENTED')
    assert.equal((await device.open()).state, 'CONSENTED', 'a reload continues at the same step')
  })

  test('an ended session gives a stranger neither the redirect URL nor anything of its result', async () => {
    const puid = await enrolled(fixture, host, faces.person(), { body: { customerId: 'over' } })
    const { sessionId } = await host.create('VERIFY', { customerId: 'nobody-here' })
    await visit(fixture, sessionId, faces.person())
    const reply = await (await fixture.newDevice(sessionId)).device.open()
    assert.deepEqual([reply.state, reply.flowStatus, reply.role], ['FAILED', 'COMPLETED', 'viewer'])
    assert.equal(reply.redirectUrl, null)
    assert.ok(!JSON.stringify(reply).includes(puid))
  })

  test('a test session with an outcome in its transaction ends by itself', async () => {
    for (const [transactionID, state, status] of [
      ['test:success', 'SUCCESS', 'SUCCESS'],
      ['test:spoof', 'FAILED', 'error'],
      ['test:locked', 'FAILED', 'error'],
      ['test:expired', 'EXPIRED', 'error'],
    ] as const) {
      const { sessionId } = await host.create('SIGN-IN', { transactionID })
      const opened = await (await fixture.newDevice(sessionId)).device.open()
      assert.equal(opened.state, state, transactionID)
      assert.equal((await host.webhook(sessionId)).status, status)
    }
  })

  test('a desktop waits for a phone, which continues; the steps of the desktop do not count for the phone', async () => {
    const face = faces.person()
    const { sessionId } = await host.create('ENROLL')
    const desk = await fixture.newDevice(sessionId, { platform: 'desktop', userAgent: DESKTOP })
    const waiting = await desk.device.open()
    assert.deepEqual([waiting.state, waiting.role, waiting.errors], ['HANDOFF_WAIT', 'viewer', [-5]])
    const { code, number = assert.fail('no number') } = await desk.device.handoff()
    const state = await visit(fixture, sessionId, face, { handoffCode: code, number })
    assert.equal(state.state, 'SUCCESS')
    const seen = await desk.device.open()
    assert.deepEqual([seen.state, seen.flowStatus], ['SUCCESS', 'COMPLETED'])
  })
})

describe('the end', () => {
  test('a refused consent and a cancel send the host a failure with its code', async () => {
    const declined = await host.create('SIGN-IN')
    const state = await visit(fixture, declined.sessionId, faces.person(), { declines: true })
    assert.deepEqual([state.state, state.flowStatus, state.errors], ['CANCELLED', 'CANCELLED', [-18]])
    assert.deepEqual((await host.webhook(declined.sessionId)).errorCodes, [-18])
    const cancelled = await host.create('ENROLL')
    const { user } = await reachCapture(fixture, cancelled.sessionId, { vector: faces.person() })
    assert.deepEqual((await user.device.cancel()).errors, [-17])
    const { status, errors } = await host.webhook(cancelled.sessionId)
    assert.deepEqual([status, errors.map(({ code }) => code)], ['FAILED', [-17]])
  })

  test('a camera that never starts ends it with -7', async () => {
    const { sessionId } = await host.create('SIGN-IN')
    const { device } = await fixture.newDevice(sessionId)
    await device.open()
    await device.consent(true)
    assert.equal((await device.failure(-7, 'not_found')).state, 'CONSENTED')
    await device.failure(-7, 'not_found')
    const last = await device.failure(-7, 'in_use')
    assert.deepEqual([last.state, last.errors], ['FAILED', [-7]])
    assert.deepEqual((await host.webhook(sessionId)).errorCodes, [-7])
  })

  test('a browser that the tenant blocks is -34, and its face is not enrolled', async () => {
    const strict = await fixture.newHost({ settings: { enforceBlock: true } })
    const face = faces.person()
    const { sessionId } = await strict.create('ENROLL')
    const state = await visit(fixture, sessionId, face, { indicators: '1'.repeat(21) })
    assert.deepEqual([state.state, state.errors], ['FAILED', [-34]])
    const { errors, riskEvaluation, puid } = await strict.webhook(sessionId)
    assert.deepEqual([errors.map(({ code }) => code), riskEvaluation.recommendation, puid], [[-34], 'BLOCK', undefined])
    const signIn = await strict.create('SIGN-IN')
    assert.deepEqual((await visit(fixture, signIn.sessionId, face)).errors, [-36])
  })
})

describe('debugging', () => {
  const eventsOf = async (debugMode: unknown) => {
    const { sessionId } = await host.create('ENROLL', { debugMode })
    const face = faces.person()
    await visit(fixture, sessionId, face)
    const { debugLog = [] } = await host.get(sessionId)
    const { puid = '?' } = await host.webhook(sessionId)
    assert.ok(!JSON.stringify(debugLog).includes(puid))
    return debugLog
  }

  test('[D-026] level 1 has the states, level 2 also the calls, level 3 also the numbers of the capture checks', async () => {
    const states = await eventsOf(['1'])
    assert.deepEqual(
      states.map(({ event, facts }) => (event === 'state' ? facts?.to : event)),
      ['OPENED', 'CONSENTED', 'FACE_ACTIVE', 'FINALIZING', 'ended'],
    )
    const calls = (await eventsOf(true)).filter(({ level }) => level === 2).map(({ event }) => event)
    assert.deepEqual(calls, ['open', 'consent', 'challenge', 'submit', 'work'])
    const judged = (await eventsOf(['1', '3'])).find(({ event }) => event === 'judged')
    assert.deepEqual([judged?.level, judged?.facts?.attempt, judged?.facts?.flags], [3, 1, []])
    assert.equal(typeof judged?.facts?.live, 'number')
  })

  test('without it nothing is kept', async () => {
    assert.deepEqual(await eventsOf(false), [])
  })
})
