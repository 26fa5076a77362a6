import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type DocumentPayload, KIND_OF, type LaunchState, RELEASED_READERS } from '@ostiary/contract'
import type { DocumentFacts } from '@ostiary/device'
import { runFlow, type SimulatedPerson, seededRandom } from '@ostiary/device/simulated'
import { ALONE, BOTH, FIRST, factsOf, look, reloaded, sendDocument, show } from './testing/document-steps.ts'
import { agreeOn, captureOf, createAgeHost, type Host, readyDevice } from './testing/fixture.ts'

const { fixture, host } = await createAgeHost()

const ACCEPTED = { errors: [], sessionStatus: 'AGE_ABOVE_THRESHOLD', faceMatch: true }

async function opened(body: object, who = host) {
  const created = await who.create(body)
  const user = await fixture.newDevice(created.sessionId)
  await readyDevice(user)
  const resultOf = async () => {
    const { errors, sessionStatus, result, riskEvaluation } = await who.result(created.token)
    return { errors, sessionStatus, faceMatch: result.faceMatch, flags: riskEvaluation.flags }
  }
  return { created, user, resultOf }
}
type Opened = Awaited<ReturnType<typeof opened>>

async function assertAccepted({ resultOf }: Opened) {
  const { flags: _flags, ...result } = await resultOf()
  assert.deepEqual(result, ACCEPTED)
}

async function atDocument(body: object = BOTH, who = host): Promise<Opened> {
  const session = await opened(body, who)
  const { user } = session
  const state = await user.device.submit(await captureOf(user, { ageYears: 42 }))
  assert.equal(state.state, 'DOC_ACTIVE')
  return session
}

/** Another phone takes over. It runs the rest of the flow by itself. */
async function handedOver({ user, created }: Opened, person: Partial<SimulatedPerson> = {}): Promise<LaunchState> {
  const { code, number = assert.fail('no number') } = await user.device.handoff()
  const second = await fixture.newDevice(created.sessionId)
  return runFlow(second.device, {
    ...{ clock: second.clock, random: seededRandom(3), ageYears: 42, document: {}, handoffCode: code, number },
    ...person,
  })
}

describe('after a reload', () => {
  test('the document step goes on, and a look at the face gives what is compared; it costs no try of the face', async () => {
    const session = await atDocument()
    const before = await reloaded(session.user)
    assert.deepEqual([before.state, before.attempt, before.documentAttemptsLeft], ['DOC_ACTIVE', 1, 3])
    const looked = await look(session.user)
    assert.deepEqual([looked.state, looked.attempt, looked.attemptsLeft, looked.errors], ['DOC_ACTIVE', 1, 2, []])
    assert.equal((await sendDocument(session.user)).state, 'COMPLETED')
    await assertAccepted(session)
  })

  test('a document that was read first stays; a face without its portrait asks for it once more', async () => {
    const session = await opened(FIRST)
    const { user } = session
    assert.equal((await sendDocument(user)).state, 'DOC_DONE')
    assert.equal((await reloaded(user)).state, 'DOC_DONE')
    const asked = await user.device.submit(await captureOf(user, { ageYears: 42 }))
    assert.deepEqual([asked.state, asked.documentAttemptsLeft, asked.errors], ['DOC_ACTIVE', 3, []])
    assert.equal((await sendDocument(user)).state, 'COMPLETED')
    await assertAccepted(session)
  })

  test('a document that was read first is compared with the face, by the step that it was read in', async () => {
    const session = await opened(FIRST)
    const { user } = session
    const step = await user.device.documentStep()
    await show(user)
    await user.device.submitDocument(factsOf(step))
    const capture = await captureOf(user, { ageYears: 42 })
    const foreign = { ...capture, match: { score: 800, document: 'another-step' } }
    await assert.rejects(user.device.submit(foreign), { code: 'INVALID_PAYLOAD' })
    const done = await user.device.submit({ ...capture, match: { score: 800, document: step.nonce } })
    assert.equal(done.state, 'COMPLETED')
    await assertAccepted(session)
  })
})

describe('on another device', () => {
  test('the result of the face stays, and the second device looks once more', async () => {
    const session = await atDocument()
    const done = await handedOver(session)
    assert.deepEqual([done.state, done.attempt], ['COMPLETED', 1])
    await assertAccepted(session)
  })

  test('the capture of the first device cannot be named by the second', async () => {
    const session = await atDocument()
    const { code, number = '' } = await session.user.device.handoff()
    const second = await fixture.newDevice(session.created.sessionId)
    await second.device.logEvent('page_open')
    await second.device.open(code)
    await second.device.number(number)
    await agreeOn(second)
    await assert.rejects(sendDocument(second), { code: 'INVALID_PAYLOAD' })
  })

  test('the first device takes the session back and goes on with the face that it holds', async () => {
    const session = await atDocument()
    await session.user.device.handoff()
    assert.equal((await session.user.device.takeBack()).state, 'OPENED')
    await session.user.device.logEvent('page_open')
    await agreeOn(session.user)
    assert.equal(session.user.device.lastState?.state, 'DOC_ACTIVE')
    assert.equal((await sendDocument(session.user)).state, 'COMPLETED')
    await assertAccepted(session)
  })

  test('a document that was read first is shown there once more, after the face', async () => {
    const session = await opened(FIRST)
    await sendDocument(session.user)
    assert.equal((await handedOver(session)).state, 'COMPLETED')
    await assertAccepted(session)
  })
})

describe('a look at the face', () => {
  test('is taken six times, and the seventh ends the flow without a verdict', async () => {
    const session = await atDocument()
    for (let times = 0; times < 6; times++) assert.equal((await look(session.user)).state, 'DOC_ACTIVE')
    await assert.rejects(session.user.device.challenge('match'), { code: 'SESSION_NOT_OPEN' })
    assert.deepEqual((await session.resultOf()).errors, [-19])
  })

  test('counts once, however often its reply is lost', async () => {
    const session = await atDocument()
    const nonces = new Set<string>()
    for (let times = 0; times < 7; times++) nonces.add((await session.user.device.challenge('match')).nonce)
    assert.equal(nonces.size, 1)
    assert.equal((await look(session.user)).state, 'DOC_ACTIVE')
  })

  test('asks for no movement that the user cannot make, also in place of one under way, and counts once', async () => {
    const session = await atDocument()
    const { device } = session.user
    const first = await device.challenge('match')
    const second = await device.challenge('match', { cannot: ['turn', 'up'] })
    assert.notEqual(second.nonce, first.nonce)
    assert.deepEqual([first.attempt, second.attempt], [1, 1])
    const kinds = new Set(second.steps.map(({ movement }) => KIND_OF[movement]))
    assert.deepEqual([...kinds].sort(), ['blink', 'closer'])
    const tooMany = device.challenge('match', { cannot: ['blink', 'closer'] })
    assert.equal((await tooMany).nonce, second.nonce, 'refused, and the device takes what there is')
    const looked = await look(session.user, {}, { cannot: ['turn', 'up'] })
    assert.deepEqual([looked.state, looked.attempt, looked.attemptsLeft, looked.errors], ['DOC_ACTIVE', 1, 2, []])
    assert.equal((await sendDocument(session.user)).state, 'COMPLETED')
    await assertAccepted(session)
    const { assurance } = await host.result(session.created.token)
    assert.deepEqual(assurance.movements, ['blink', 'closer'])
  })

  test('is not for sessions that have seen no face, nor for other steps', async () => {
    const alone = await opened(ALONE)
    await assert.rejects(alone.user.device.challenge('match'), { code: 'SESSION_NOT_OPEN' })
    const before = await opened(BOTH)
    await assert.rejects(before.user.device.challenge('match'), { code: 'SESSION_NOT_OPEN' })
  })

  test('that fails on the device costs neither a try of the face nor of the document', async () => {
    const { user } = await atDocument()
    await user.device.challenge('match')
    const failed = await user.device.failure(-10)
    assert.deepEqual([failed.state, failed.attempt, failed.documentAttemptsLeft], ['DOC_ACTIVE', 1, 3])
  })
})

describe('a submission', () => {
  test('counts once: the same again gets the same reply, and during the next step it is refused and raises a flag', async () => {
    const session = await atDocument()
    const { device } = session.user
    const step = await device.documentStep()
    await show(session.user)
    const refused = await device.submitDocument(factsOf(step, { expiry: 'expired' }))
    assert.deepEqual([refused.state, refused.errors, refused.documentAttemptsLeft], ['DOC_ACTIVE', [-26], 2])
    const again = await device.submitDocument(factsOf(step))
    assert.deepEqual([again.state, again.errors, again.documentAttemptsLeft], ['DOC_ACTIVE', [-26], 2])
    await device.documentStep()
    const replayed = { ...factsOf(step), nonce: step.nonce } as DocumentFacts
    await assert.rejects(device.submitDocument(replayed), { code: 'PAYLOAD_REPLAYED' })
    assert.equal((await sendDocument(session.user)).state, 'COMPLETED')
    assert.ok((await session.resultOf()).flags.includes('BH_PAYLOAD_REPLAY'))
  })

  test('is refused where it contradicts what was asked, at most five times for one step, and costs no try', async () => {
    const session = await atDocument()
    const { device } = session.user
    const step = await device.documentStep()
    await show(session.user)
    const mutations: Partial<DocumentPayload>[] = [
      { age: { result: 'above', years: 40 } },
      { expiry: 'grace' },
      { match: { score: 900, capture: 'another' } },
      { frames: 1 },
      { checks: {} },
    ]
    for (const change of mutations)
      await assert.rejects(device.submitDocument(factsOf(step, change)), { code: 'INVALID_PAYLOAD' })
    await assert.rejects(device.submitDocument(factsOf(step)), { code: 'CHALLENGE_NOT_VALID' })
    assert.equal((await sendDocument(session.user)).state, 'COMPLETED')
    await assertAccepted(session)
  })

  test('of a reader that is not ours gives no verdict, and raises a flag', async () => {
    const session = await atDocument()
    const reader = { id: 'reader-of-somebody', hash: 'x'.repeat(43) }
    const refused = await sendDocument(session.user, { reader })
    assert.deepEqual([refused.state, refused.errors], ['DOC_ACTIVE', [-20]])
    for (const _ of [2, 3]) await sendDocument(session.user, { reader })
    assert.deepEqual(await session.resultOf(), {
      errors: [-20, -19],
      sessionStatus: 'AGE_UNKNOWN',
      faceMatch: undefined,
      flags: ['BH_MODEL_MISMATCH', 'BH_NO_BROWSER_DATA'],
    })
  })

  test('without a log of the document ends the flow as an attack', async () => {
    const session = await atDocument()
    const step = await session.user.device.documentStep()
    const ended = await session.user.device.submitDocument(factsOf(step))
    assert.deepEqual([ended.state, ended.errors], ['COMPLETED', [2]])
    const { sessionStatus, errors, flags } = await session.resultOf()
    assert.deepEqual([sessionStatus, errors], ['AGE_UNKNOWN', [1, 2]])
    assert.ok(flags.includes('BH_RESULT_NO_CAPTURE'))
  })

  test('is refused where the session is at another step, or the step is too old', async () => {
    const { user } = await opened(BOTH)
    await assert.rejects(user.device.documentStep(), { code: 'SESSION_NOT_OPEN' })
    const { user: late } = await opened({ ...ALONE, sessionExpiry: 7200 })
    const step = await late.device.documentStep()
    await show(late)
    fixture.harness.clock.advance(900_001)
    await assert.rejects(late.device.submitDocument(factsOf(step)), { code: 'CHALLENGE_NOT_VALID' })
  })

  test('the simulated reader counts in test sessions only', async () => {
    const live = await fixture.newHost({ livemode: true })
    const { user } = await opened(ALONE, live)
    assert.deepEqual((await sendDocument(user)).errors, [-20])
  })

  test('the released reader counts in live sessions; a client without the data of a browser gets no ALLOW', async () => {
    const live = await fixture.newHost({ livemode: true })
    const [reader] = RELEASED_READERS
    const session = await opened(ALONE, live)
    const released = { ...(reader && { reader }) }
    const ofBrowser = { indicators: '0'.repeat(21), browser: { kind: 'ordinary' } } as const
    const first = await sendDocument(session.user, { ...released, ...ofBrowser, expiry: 'expired' })
    assert.deepEqual(first.errors, [-26], 'an earlier document with that data does not speak for this one')
    assert.equal((await sendDocument(session.user, released)).state, 'COMPLETED')
    const { assurance, riskEvaluation, sessionStatus } = await live.result(session.created.token)
    assert.deepEqual([sessionStatus, assurance.level], ['AGE_ABOVE_THRESHOLD', 'document'])
    assert.deepEqual([riskEvaluation.flags, riskEvaluation.recommendation], [['BH_NO_BROWSER_DATA'], 'REVIEW'])
  })

  test('a cancelled and an expired session have nothing of the document', async () => {
    const session = await opened(FIRST)
    await sendDocument(session.user)
    await session.user.device.cancel()
    const cancelled = await host.result(session.created.token)
    assert.deepEqual([cancelled.flowStatus, cancelled.errors, cancelled.document], ['CANCELLED', [-17], null])
    const late = await opened(FIRST)
    await sendDocument(late.user)
    fixture.harness.clock.advance(1_200_000)
    const expired = await host.result(late.created.token)
    assert.deepEqual([expired.flowStatus, expired.errors, expired.document], ['EXPIRED', [-8], null])
    assert.deepEqual(expired.result, {})
  })
})

describe('repeated use', () => {
  const reuse = 'AAECAwQFBgc'

  async function flagsOf(who: Host, mark = reuse): Promise<string[]> {
    const session = await opened(ALONE, who)
    assert.equal((await sendDocument(session.user, { reuse: mark })).state, 'COMPLETED')
    return (await session.resultOf()).flags
  }

  test('of a document on the same day raises a flag, only for the tenant that looks for it', async () => {
    const looking = await fixture.newHost({ settings: { documentReuseCheck: true } })
    const other = await fixture.newHost({ settings: { documentReuseCheck: true } })
    assert.deepEqual(await flagsOf(looking), [])
    assert.deepEqual(await flagsOf(other), [], 'another tenant')
    assert.deepEqual(await flagsOf(looking, 'AAECAwQFBgg'), [], 'another document')
    assert.deepEqual(await flagsOf(looking), ['DO_REUSED'])
    const session = await opened(ALONE)
    await assert.rejects(sendDocument(session.user, { reuse }), { code: 'INVALID_PAYLOAD' })
  })

  test('is no flag in the same session, nor after a day, and the mark is deleted then', async () => {
    const looking = await fixture.newHost({ settings: { documentReuseCheck: true } })
    const mark = 'BBECAwQFBgc'
    const session = await opened(ALONE, looking)
    assert.deepEqual((await sendDocument(session.user, { reuse: mark, expiry: 'expired' })).errors, [-26])
    await sendDocument(session.user, { reuse: mark })
    assert.deepEqual((await session.resultOf()).flags, [])
    fixture.harness.clock.advance(24 * 3_600_000)
    assert.deepEqual(await flagsOf(looking, mark), [])
    assert.deepEqual(await flagsOf(looking, mark), ['DO_REUSED'])
    fixture.harness.clock.advance(24 * 3_600_000)
    const [job] = fixture.harness.wire.documents.jobs
    assert.ok(job)
    await job.run(fixture.harness.wire.platform.cells.forId(looking.tenantId), fixture.harness.clock.now())
    assert.equal((await fixture.dump()).get('document_marks'), undefined)
  })

  test('[U5] without the mark that was asked for is a flag, so that leaving it out is no way around', async () => {
    const looking = await fixture.newHost({ settings: { documentReuseCheck: true } })
    for (const who of [looking, host]) {
      const session = await opened(ALONE, who)
      const { reuse: _mark, ...facts } = factsOf(await session.user.device.documentStep())
      await show(session.user)
      assert.equal((await session.user.device.submitDocument(facts)).state, 'COMPLETED')
      const { riskEvaluation, sessionStatus } = await who.result(session.created.token)
      assert.equal(sessionStatus, 'AGE_ABOVE_THRESHOLD')
      const expected = who === looking ? ['REVIEW', ['DO_NO_MARK']] : ['ALLOW', []]
      assert.deepEqual([riskEvaluation.recommendation, riskEvaluation.flags], expected)
    }
  })

  test('of two sessions that show it at the same moment, one gets the flag', async () => {
    const looking = await fixture.newHost({ settings: { documentReuseCheck: true } })
    const flags = await Promise.all([flagsOf(looking), flagsOf(looking), flagsOf(looking)])
    assert.equal(flags.filter((raised) => raised.includes('DO_REUSED')).length, 2)
  })
})

test('metrics count documents by what came of it and by format, and nothing else', async () => {
  const text = await fixture.harness.wire.platform.metrics.text()
  const lines = text.split('\n').filter((line) => line.startsWith('ostiary_documents_total{'))
  assert.ok(lines.some((line) => line.startsWith('ostiary_documents_total{outcome="ACCEPTED",format="TD3"} ')))
  assert.ok(lines.some((line) => line.startsWith('ostiary_documents_total{outcome="DOCUMENT_EXPIRED",format="TD3"} ')))
  for (const line of lines) assert.match(line, /^ostiary_documents_total\{outcome="[A-Z_]+",format="[A-Z0-9_]+"\} \d+$/)
})
