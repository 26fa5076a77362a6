import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DOCUMENT_LIMITS } from '@ostiary/contract'
import { isPurged } from '../sessions/index.ts'
import { ALONE, BOTH, FIRST, factsOf, look, reloaded, sendDocument, show } from './testing/document-steps.ts'
import { agreeOn, captureOf, createAgeHost, readyDevice, type UserDevice } from './testing/fixture.ts'

const { fixture, host } = await createAgeHost()

const STEP_UP = { stepUpEnabled: true, documentAgeThreshold: 18 } as const

async function opened(body: object, who = host) {
  const created = await who.create(body)
  const user = await fixture.newDevice(created.sessionId)
  await readyDevice(user)
  return { created, user, device: user.device }
}

async function atDocument(body: object = BOTH, ageYears = 42) {
  const session = await opened(body)
  const asked = await session.device.submit(await captureOf(session.user, { ageYears }))
  assert.equal(asked.state, 'DOC_ACTIVE')
  return session
}
type AtDocument = Awaited<ReturnType<typeof atDocument>>

/** The second device, up to the document step. */
async function handedOver({ created, device }: AtDocument): Promise<UserDevice> {
  const { code, number = assert.fail('no number') } = await device.handoff()
  const second = await fixture.newDevice(created.sessionId)
  await second.device.logEvent('page_open')
  await second.device.open(code)
  await second.device.number(number)
  await agreeOn(second)
  assert.equal(second.device.lastState?.state, 'DOC_ACTIVE')
  return second
}

async function takenBack({ user, device }: AtDocument): Promise<void> {
  assert.equal((await device.takeBack()).state, 'OPENED')
  await device.logEvent('page_open')
  await agreeOn(user)
  assert.equal(device.lastState?.state, 'DOC_ACTIVE')
}

describe('a reply that was lost', () => {
  test('the capture that led to the document gets its reply again, as often as it comes, and counts once', async () => {
    const { user, device } = await opened(BOTH)
    const capture = await captureOf(user, { ageYears: 42 })
    await device.logEvent('submit')
    const sealed = await device.seal(await device.payloadOf(capture))
    await device.flushEvents()
    const first = await device.submitSealed(sealed)
    assert.equal(first.state, 'DOC_ACTIVE')
    for (const _ of [1, 2]) assert.deepEqual(await device.submitSealed(sealed), first)
    const other = await device.seal({ ...(await device.payloadOf(capture)), nonce: 'another' })
    for (const wrong of [other, 'nothing'])
      await assert.rejects(device.submitSealed(wrong), { code: 'SESSION_NOT_OPEN' })
    assert.equal((await sendDocument(user)).state, 'COMPLETED')
  })

  test('facts that were accepted before the face get their reply again; other facts are refused', async () => {
    const { user, device } = await opened(FIRST)
    const step = await device.documentStep()
    await show(user)
    const first = await device.submitDocument(factsOf(step))
    assert.equal(first.state, 'DOC_DONE')
    assert.deepEqual(await device.submitDocument(factsOf(step)), first)
    const foreign = { ...factsOf(step), nonce: 'another' } as Parameters<typeof device.submitDocument>[0]
    await assert.rejects(device.submitDocument(foreign), { code: 'SESSION_NOT_OPEN' })
  })

  test('facts that were refused get the reason again, and use up one try', async () => {
    const { user, device } = await atDocument()
    const step = await device.documentStep()
    await show(user)
    const first = await device.submitDocument(factsOf(step, { expiry: 'expired' }))
    assert.deepEqual([first.errors, first.documentAttemptsLeft], [[-26], 2])
    for (const _ of [1, 2]) assert.deepEqual(await device.submitDocument(factsOf(step)), first)
    assert.equal((await device.documentStep()).attemptsLeft, 2)
  })

  test('facts that ended the session are refused, and there is one webhook', async () => {
    const created = await host.create({ ...ALONE, callback: { url: fixture.receiver.url } })
    const user = await fixture.newDevice(created.sessionId)
    await readyDevice(user)
    const step = await user.device.documentStep()
    await show(user)
    assert.equal((await user.device.submitDocument(factsOf(step))).state, 'COMPLETED')
    await assert.rejects(user.device.submitDocument(factsOf(step)), { code: 'SESSION_NOT_OPEN' })
    const listed = await host.call('GET', `/webhooks/deliveries?sessionId=${created.sessionId}`)
    assert.equal(listed.json().items.length, 1)
  })
})

describe('facts that come at a bad moment', () => {
  test('of facts and a cancellation by the host one counts, and the result is that one', async () => {
    for (let round = 0; round < 4; round++) {
      const { created, user, device } = await opened(ALONE)
      const step = await device.documentStep()
      await show(user)
      const cancel = () => host.call('POST', `/session/${created.token}/cancel`)
      const sent = device.submitDocument(factsOf(step))
      const [submitted, cancelled] = await Promise.allSettled([sent, cancel()])
      const { flowStatus, sessionStatus, document } = await host.result(created.token)
      const isSubmitted = submitted.status === 'fulfilled'
      assert.equal(cancelled.status, 'fulfilled')
      assert.deepEqual(
        [flowStatus, sessionStatus, document !== null],
        isSubmitted ? ['COMPLETED', 'AGE_ABOVE_THRESHOLD', true] : ['CANCELLED', 'AGE_UNKNOWN', false],
      )
    }
  })

  test('they count for two minutes after the session’s time where the step was begun before, and then no more', async () => {
    for (const [lateMs, flowStatus] of [
      [100_000, 'COMPLETED'],
      [121_000, 'EXPIRED'],
    ] as const) {
      const { created, user, device } = await opened({ ...ALONE, sessionExpiry: 600 })
      const step = await device.documentStep()
      await show(user)
      const { harness } = fixture
      harness.clock.advance(Date.parse(created.expiresAt) - harness.clock.now().getTime() + lateMs)
      const [sent] = await Promise.allSettled([device.submitDocument(factsOf(step))])
      const result = await host.result(created.token)
      assert.deepEqual([result.flowStatus, sent?.status === 'fulfilled'], [flowStatus, flowStatus === 'COMPLETED'])
      assert.equal(result.document === null, flowStatus === 'EXPIRED')
    }
  })
})

describe('the face that a portrait is compared with', () => {
  test('is never one that was refused, nor one that another device has shown since', async () => {
    const session = await atDocument()
    const { user, device } = session
    const { match } = await device.documentStep()
    const first = match?.capture ?? assert.fail('no capture')
    const challenge = await device.challenge('match')
    await device.failure(-10)
    await assert.rejects(sendDocument(user, { match: { score: 900, capture: challenge.nonce } }), {
      code: 'INVALID_PAYLOAD',
    })
    const second = await handedOver(session)
    await assert.rejects(sendDocument(second, { match: { score: 900, capture: first } }), { code: 'INVALID_PAYLOAD' })
    await look(second)
    const { match: seen } = await second.device.documentStep()
    assert.notEqual(seen?.capture, first)
    await takenBack(session)
    for (const capture of [first, seen?.capture ?? ''])
      await assert.rejects(sendDocument(user, { match: { score: 900, capture } }), { code: 'INVALID_PAYLOAD' })
    await look(user)
    assert.equal((await sendDocument(user)).state, 'COMPLETED')
  })

  test('cannot be left out: the document is not accepted without a comparison, after a step-up neither', async () => {
    for (const [body, ageYears] of [
      [BOTH, 42],
      [STEP_UP, 20],
    ] as const) {
      const { created, user, device } = await atDocument(body, ageYears)
      for (const left of [2, 1, 0]) {
        const step = await device.documentStep()
        await show(user)
        const { match: _none, ...facts } = factsOf(step)
        const { errors, state, documentAttemptsLeft } = await device.submitDocument(facts)
        assert.deepEqual([errors, state], [[-27], left > 0 ? 'DOC_ACTIVE' : 'COMPLETED'])
        if (left > 0) assert.equal(documentAttemptsLeft, left)
      }
      const { sessionStatus, document, assurance } = await host.result(created.token)
      assert.deepEqual([sessionStatus, document, assurance.level], ['AGE_UNKNOWN', null, 'none'])
    }
  })

  test('is not compared by a capture where no document was read, nor by a look', async () => {
    const match = { score: 900, document: 'a-step' }
    const face = await opened(BOTH)
    const capture = await captureOf(face.user, { ageYears: 42 })
    await assert.rejects(face.device.submit({ ...capture, match }), { code: 'INVALID_PAYLOAD' })
    const { user } = await atDocument()
    await assert.rejects(look(user, { match }), { code: 'INVALID_PAYLOAD' })
  })

  test('is looked at again without any number about its age', async () => {
    const { user } = await atDocument(STEP_UP, 20)
    for (const estimate of [
      { age: 420, spread: 0, frames: 0 },
      { age: 0, spread: 420, frames: 0 },
      { age: 0, spread: 0, frames: 9 },
    ])
      await assert.rejects(look(user, { estimate }), { code: 'INVALID_PAYLOAD' }, JSON.stringify(estimate))
  })
})

describe('tries of the document step', () => {
  test('are three, whatever comes between them: a reload, a handoff, the way back, a report', async () => {
    const session = await atDocument()
    const { created, user, device } = session
    assert.equal((await sendDocument(user, { expiry: 'expired' })).documentAttemptsLeft, 2)
    await reloaded(user)
    assert.equal((await device.documentStep()).attemptsLeft, 2)
    const second = await handedOver(session)
    await look(second)
    assert.equal((await second.device.documentStep()).attemptsLeft, 2)
    assert.equal((await second.device.failure(-27)).documentAttemptsLeft, 1)
    await takenBack(session)
    await look(user)
    const last = await sendDocument(user, { expiry: 'expired' })
    assert.deepEqual([last.state, last.errors], ['COMPLETED', [-26]])
    assert.deepEqual((await host.result(created.token)).errors, [-26, -19])
  })

  test('a report that comes again counts once, and one of another step costs none', async () => {
    const { device } = await atDocument()
    await device.documentStep()
    assert.equal((await device.failure(-27)).documentAttemptsLeft, 2)
    assert.equal((await device.failure(-27)).documentAttemptsLeft, 2, 'the device names the try that is over')
    for (const code of [-7, -10, -23]) {
      const { attempt, attemptsLeft, documentAttemptsLeft } = await device.failure(code)
      assert.deepEqual([attempt, attemptsLeft, documentAttemptsLeft], [1, 2, 2])
    }
  })

  test('a step is begun thirty times, and then the flow ends without a verdict', async () => {
    const { created, device } = await opened({ ...ALONE, sessionExpiry: 3_600 })
    for (let begun = 0; begun < DOCUMENT_LIMITS.begins; begun++) {
      fixture.harness.clock.advance(2_000)
      await device.documentStep()
    }
    await assert.rejects(device.documentStep(), { code: 'SESSION_NOT_OPEN' })
    const { errors, sessionStatus } = await host.result(created.token)
    assert.deepEqual([errors, sessionStatus], [[-19], 'AGE_UNKNOWN'])
  })
})

test('marks of documents are separate for the test mode and the live mode of a tenant, and so are their keys', async () => {
  const testing = await fixture.newHost({ settings: { documentReuseCheck: true } })
  const live = await fixture.sibling(testing, { livemode: true })
  const reuse = 'CCECAwQFBgc'
  const keys: (string | undefined)[] = []
  const flags: string[][] = []
  for (const who of [testing, live, testing]) {
    const { created, user, device } = await opened(ALONE, who)
    keys.push((await device.documentStep()).reuseKey)
    // A live session does not take the simulated reader; the mark counts all the same.
    await sendDocument(user, { reuse })
    await device.cancel().catch(() => undefined)
    flags.push((await who.result(created.token)).riskEvaluation.flags.filter((code) => code === 'DO_REUSED'))
  }
  assert.deepEqual(flags, [[], [], ['DO_REUSED']])
  assert.equal(keys[0], keys[2])
  assert.notEqual(keys[0], keys[1])
})

describe('a session of the last release', () => {
  /** What a process of the last release has stored: nothing about a document, and the state that it left the session in. */
  async function asStored({ created }: AtDocument, state: 'DOC_ACTIVE' | 'READY') {
    const { service } = fixture.harness.wire.sessions
    await service.whileLocked(created.sessionId, async (tx, session) => {
      if (isPurged(session) || !session.progress) return assert.fail('not opened')
      const { document: _new, ...progress } = session.progress
      await service.save(tx, session, { state, progress })
    })
  }

  test('that waits for a document goes on with a look at the face: the last capture cannot be named', async () => {
    const session = await atDocument()
    const { created, user } = session
    await asStored(session, 'DOC_ACTIVE')
    await assert.rejects(sendDocument(user), { code: 'INVALID_PAYLOAD' })
    assert.equal((await look(user)).attempt, 1)
    assert.equal((await sendDocument(user)).state, 'COMPLETED')
    const { sessionStatus, result } = await host.result(created.token)
    assert.deepEqual([sessionStatus, result.faceMatch], ['AGE_ABOVE_THRESHOLD', true])
  })

  test('that was sent to the face although it asks for a document alone: both are compared', async () => {
    const session = await opened(ALONE)
    const { created, user, device } = session
    await asStored(session, 'READY')
    const asked = await device.submit(await captureOf(user, { ageYears: 42 }))
    assert.equal(asked.state, 'DOC_ACTIVE')
    assert.deepEqual((await sendDocument(user, { match: undefined } as never)).errors, [-27])
    assert.equal((await sendDocument(user)).state, 'COMPLETED')
    assert.equal((await host.result(created.token)).result.faceMatch, true)
  })
})
