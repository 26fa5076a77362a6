import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CapturePayload } from '@ostiary/contract'
import { sealPayload } from '@ostiary/crypto'
import { runFlow, SPOOFS, type SpoofName, seededRandom } from '@ostiary/device/simulated'
import Value from 'typebox/value'
import { assertError } from '../testing/harness.ts'
import { makeSubmission, reachChallenge, sealWithLog, send } from './testing/capture.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage, okOf } from './testing/page.ts'
import { IPHONE } from './testing/user-agents.ts'

const fixture = await createLaunchFixture()

const NO_CHALLENGE = [409, 'CHALLENGE_NOT_VALID', 'There is no challenge under way'] as const
const HAS_ENDED = [409, 'SESSION_NOT_OPEN', 'The session has ended'] as const
const callback = { url: 'http://127.0.0.1:49999/hook' }

async function challenged(body?: object) {
  const created = await fixture.create(body)
  const page = await createPage(fixture, created.sessionId)
  const challenge = await reachChallenge(page)
  return { created, page, challenge, submission: await makeSubmission(page, challenge) }
}

const verdictOf = async (token: string) => (await fixture.result(token)).sessionStatus

describe('a submission that comes late', () => {
  test('is accepted in the last millisecond of its challenge and refused in the next; another try follows', async () => {
    const inTime = await challenged()
    fixture.harness.clock.advance(90_000)
    assert.equal((await send(inTime.page, inTime.submission)).json().flowStatus, 'COMPLETED')
    assert.equal(await verdictOf(inTime.created.token), 'AGE_ABOVE_THRESHOLD')
    const { created, page, submission } = await challenged()
    fixture.harness.clock.advance(90_001)
    assertError(await send(page, submission), ...NO_CHALLENGE)
    assert.equal(await verdictOf(created.token), 'AGE_UNKNOWN')
    assert.equal((await page.challenge()).attempt, 2)
  })

  test('is accepted up to two minutes after the session’s expiry when its challenge began in time, not later', async () => {
    const { created, page, submission } = await challenged({ sessionExpiry: 60 })
    fixture.harness.clock.advance(70_000)
    assert.equal((await send(page, submission)).json().flowStatus, 'COMPLETED')
    assert.equal(await verdictOf(created.token), 'AGE_ABOVE_THRESHOLD')
    const late = await challenged({ sessionExpiry: 60 })
    fixture.harness.clock.advance(90_001)
    const refused = await late.page.call('submit', { sealed: late.submission.sealed })
    assertError(refused, 409, 'SESSION_NOT_OPEN', 'The session has expired')
    const { sessionStatus, flowStatus, errors } = await fixture.result(late.created.token)
    assert.deepEqual([sessionStatus, flowStatus, errors], ['AGE_UNKNOWN', 'EXPIRED', [-8]])
  })
})

describe('a submission that was sent before', () => {
  test('is refused in the next try and raises BH_PAYLOAD_REPLAY, even when it is sealed again', async () => {
    const { created, page, submission } = await challenged()
    const failed = { ...submission.payload, live: 400 }
    const sealed = await sealPayload(page.sealKey(), page.sessionId, failed)
    assert.deepEqual(okOf<{ errors: number[] }>(await send(page, { ...submission, sealed })).errors, [-32])
    const between = await page.call('submit', { sealed })
    assertError(between, 409, 'SESSION_NOT_OPEN', 'The session is not at this step')
    await page.challenge()
    const replayed = [409, 'PAYLOAD_REPLAYED', 'This challenge was answered already'] as const
    assertError(await page.call('submit', { sealed }), ...replayed)
    const resealed = await sealPayload(page.sealKey(), page.sessionId, { ...failed, live: 990, attempt: 2 })
    assertError(await page.call('submit', { sealed: resealed }), ...replayed)
    await page.cancel()
    const { sessionStatus, riskEvaluation } = await fixture.result(created.token)
    assert.equal(sessionStatus, 'AGE_UNKNOWN')
    assert.deepEqual([riskEvaluation.recommendation, riskEvaluation.flags], ['BLOCK', ['BH_PAYLOAD_REPLAY']])
  })

  test('is refused for an abandoned challenge, without a flag: a reload is not an attack', async () => {
    const { created, page, submission } = await challenged()
    await page.open()
    await page.challenge()
    const refused = await page.call('submit', { sealed: submission.sealed })
    assertError(refused, 409, 'CHALLENGE_NOT_VALID', 'The payload answers another challenge')
    await page.cancel()
    assert.deepEqual((await fixture.result(created.token)).riskEvaluation.flags, [])
  })
})

test('a challenge accepts five submits and no sixth, not even a good one', async () => {
  const { created, page, submission } = await challenged()
  for (let sent = 0; sent < 5; sent++) assert.equal((await page.call('submit', { sealed: 'x' })).statusCode, 400)
  const sixth = await send(page, submission)
  assertError(sixth, 409, 'CHALLENGE_NOT_VALID', 'Too many submits for one challenge')
  assert.equal(await verdictOf(created.token), 'AGE_UNKNOWN')
})

test('three inconclusive captures end the flow with -32 and -19', async () => {
  const { token, sessionId } = await fixture.create()
  const { device, clock } = await fixture.device(sessionId)
  const state = await runFlow(device, { clock, random: seededRandom(4), ageYears: 40, live: 450 })
  assert.deepEqual([state.flowStatus, state.attempt, state.errors], ['COMPLETED', 3, [-32]])
  const { sessionStatus, errors } = await fixture.result(token)
  assert.deepEqual([sessionStatus, errors], ['AGE_UNKNOWN', [-32, -19]])
})

describe('a device that is not honest', () => {
  const ENDS: Readonly<Record<Exclude<SpoofName, 'late' | 'replay'>, readonly (readonly number[])[]>> = {
    still: [[1, -19]],
    loop: [[1, 2]],
    early: [
      [1, 2],
      [-32, -19],
    ],
    recording: [
      [1, 2],
      [-32, -19],
    ],
    robot: [[1, 2]],
    forged: [[1, 2]],
    nocapture: [[1, 2]],
    mask: [[1, -19]],
    model: [[1, 2]],
  }
  for (const [spoof, ends] of Object.entries(ENDS)) {
    const name = spoof as keyof typeof ENDS
    // A capture that nobody made for this challenge may also be inconclusive: that is no detected spoof.
    const row = ends.every((codes) => codes.includes(1)) ? '[C-050] ' : ''
    test(`${row}${SPOOFS[name].meaning}: no verdict, and ${ends.map((codes) => codes.join(' and ')).join(', or ')}`, async () => {
      const { token, sessionId } = await fixture.create()
      const { device, clock } = await fixture.device(sessionId)
      const state = await runFlow(device, { clock, random: seededRandom(6), ageYears: 40, spoof: name })
      assert.equal(state.flowStatus, 'COMPLETED')
      const { sessionStatus, status, result, errors } = await fixture.result(token)
      assert.deepEqual([sessionStatus, status], ['AGE_UNKNOWN', 'AGE_UNKNOWN'])
      assert.deepEqual(result, {})
      assert.ok(
        ends.some((codes) => codes.join() === errors.join()),
        `${errors}`,
      )
    })
  }
})

test('[C-052] a camera that fails three times ends the session with -7 and its reason', async () => {
  const { token, sessionId } = await fixture.create()
  const { device } = await fixture.device(sessionId)
  await device.open()
  await device.consent(true)
  for (let tries = 0; tries < 3; tries++) await device.failure(-7, 'permission_denied')
  const { sessionStatus, flowStatus, errors, errorDetails } = await fixture.result(token)
  assert.deepEqual([sessionStatus, flowStatus, errors], ['AGE_UNKNOWN', 'COMPLETED', [-7, -19]])
  assert.deepEqual(errorDetails[0], { code: -7, name: 'CAMERA_FAIL', reason: 'permission_denied' })
})

test('the simulated model gives no verdict in a live session', async () => {
  const { token, sessionId } = await fixture.create({}, await fixture.liveKey())
  const { device, clock } = await fixture.device(sessionId)
  const state = await runFlow(device, { clock, random: seededRandom(8), ageYears: 50 })
  assert.deepEqual([state.flowStatus, state.livemode], ['COMPLETED', true])
  const { sessionStatus, errors, riskEvaluation } = await fixture.result(token)
  assert.deepEqual([sessionStatus, errors], ['AGE_UNKNOWN', [-20, -19]])
  assert.deepEqual(riskEvaluation.flags, ['BH_MODEL_MISMATCH'])
})

test('a capture of seven seconds that arrives three seconds after its challenge is refused', async () => {
  const { created, page, challenge } = await challenged()
  fixture.harness.clock.advance(3_000)
  const model = { id: 'face-1', hash: 'm'.repeat(43) }
  const submission = await makeSubmission(page, challenge, { payload: (claimed) => ({ ...claimed, model }) })
  assert.deepEqual((await send(page, submission)).json().errors, [2])
  const { sessionStatus, riskEvaluation } = await fixture.result(created.token)
  assert.equal(sessionStatus, 'AGE_UNKNOWN')
  assert.deepEqual(riskEvaluation.flags, ['BH_TOO_FAST', 'BH_MODEL_MISMATCH', 'BH_NO_BROWSER_DATA'])
})

describe('the payload', () => {
  test('[C-006] is sealed in at most 2,048 bytes, with indicators, sixteen frames and the whole log', async () => {
    const sizes: number[] = []
    for (let run = 0; run < 12; run++) {
      const { sessionId } = await fixture.create()
      const page = await createPage(fixture, sessionId)
      const full = (claimed: CapturePayload): CapturePayload => ({
        ...claimed,
        indicators: '01-'.repeat(7),
        browser: { kind: 'ordinary', phoneCamera: false },
      })
      const made = await makeSubmission(page, await reachChallenge(page), { payload: full }, { seed: run })
      const sealed = await sealWithLog(page, made)
      sizes.push(Buffer.byteLength(sealed))
      assert.equal((await page.call('submit', { sealed })).statusCode, 200)
    }
    assert.ok(Math.max(...sizes) <= 2_048, `${sizes}`)
  })

  test('[C-004] is not readable in the body without the key', async () => {
    const { submission } = await challenged()
    const [header = '', , , content = ''] = submission.sealed.split('.')
    const decoded: unknown = JSON.parse(Buffer.from(header, 'base64url').toString())
    assert.deepEqual(Object.keys(Object(decoded)).sort(), ['alg', 'enc', 'epk', 'sid', 'typ'])
    const sent = `${submission.sealed}${Buffer.from(content, 'base64url').toString('latin1')}`
    const { nonce, frames, model } = submission.payload
    for (const value of [nonce, model.id, frames[0]?.digest ?? '', '"age"', '"yaw"'])
      assert.ok(!sent.includes(value), value)
  })

  test('[C-005] has an estimate, the session’s id and optional metadata, and is accepted with and without metadata', async () => {
    for (const metadata of [undefined, { build: '1.2.3', nested: { any: [1, true, null] } }]) {
      const { token, sessionId } = await fixture.create()
      const page = await createPage(fixture, sessionId)
      const more = (claimed: CapturePayload) => (metadata ? { ...claimed, metadata } : claimed)
      const submission = await makeSubmission(page, await reachChallenge(page), { payload: more })
      assert.ok(Value.Check(CapturePayload, submission.payload))
      assert.equal(submission.payload.sessionId, sessionId)
      assert.ok(Math.abs(submission.payload.estimate.age - 420) < 20)
      assert.equal((await send(page, submission)).json().flowStatus, 'COMPLETED')
      assert.equal(await verdictOf(token), 'AGE_ABOVE_THRESHOLD')
    }
  })
})

describe('at once', () => {
  test('twenty submits of one payload: one counts, and one webhook is sent', async () => {
    const { created, page, submission } = await challenged({ callback })
    await page.call('events', { events: submission.events })
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => page.call('submit', { sealed: submission.sealed })),
    )
    const taken = replies.filter(({ statusCode }) => statusCode === 200)
    assert.equal(taken.length, 1)
    for (const reply of replies) if (reply !== taken[0]) assertOvertaken(reply.statusCode, reply.json().code)
    assert.equal(await verdictOf(created.token), 'AGE_ABOVE_THRESHOLD')
    assert.deepEqual(await fixture.webhooksOf(created.sessionId), ['age.session.completed'])
  })

  test('the same request twenty times: one counts', async () => {
    const { created, page, submission } = await challenged({ callback })
    await page.call('events', { events: submission.events })
    const text = JSON.stringify({ sessionId: created.sessionId, sealed: submission.sealed })
    const proof = await page.prove('POST', '/launch/api/submit', Buffer.from(text))
    const replies = await Promise.all(Array.from({ length: 20 }, () => page.send('submit', text, { proof })))
    assert.equal(replies.filter(({ statusCode }) => statusCode === 200).length, 1)
    assert.deepEqual(await fixture.webhooksOf(created.sessionId), ['age.session.completed'])
  })

  test('a cancel and a submit: one end, one webhook, and the result agrees with the reply', async () => {
    for (let round = 0; round < 5; round++) {
      const { created, page, submission } = await challenged({ callback })
      await page.call('events', { events: submission.events })
      const calls = [page.call('submit', { sealed: submission.sealed }), page.call('cancel')]
      const replies = await Promise.all(round % 2 === 0 ? calls : calls.reverse())
      const [accepted, ...others] = replies.filter(({ statusCode }) => statusCode === 200)
      assert.ok(accepted && others.length === 0, replies.map(({ body }) => body).join())
      const { flowStatus } = await fixture.result(created.token)
      assert.equal(flowStatus, accepted.json().flowStatus)
      const event = flowStatus === 'COMPLETED' ? 'age.session.completed' : 'age.session.cancelled'
      assert.deepEqual(await fixture.webhooksOf(created.sessionId), [event])
    }
  })

  test('two devices that open one session: one holds it', async () => {
    const { sessionId } = await fixture.create()
    const pages = await Promise.all([createPage(fixture, sessionId), createPage(fixture, sessionId)])
    const replies = await Promise.all(pages.map((page) => page.tryOpen()))
    assert.deepEqual(replies.map(({ statusCode }) => statusCode).sort(), [200, 403])
  })

  test('two devices with one handoff code: one takes over', async () => {
    const { sessionId } = await fixture.create()
    const first = await createPage(fixture, sessionId, { userAgent: IPHONE })
    await first.open()
    const { code } = (await first.call('handoff')).json()
    const pages = await Promise.all([createPage(fixture, sessionId), createPage(fixture, sessionId)])
    const replies = await Promise.all(pages.map((page) => page.tryOpen({ handoffCode: code })))
    assert.deepEqual(replies.map(({ statusCode }) => statusCode).sort(), [200, 409])
  })
})

/** The refusals of calls after the one that counted: the flow is over, or a later counter came first. */
function assertOvertaken(status: number, code: string): void {
  const answer = `${status} ${code}`
  assert.ok([`${HAS_ENDED[0]} ${HAS_ENDED[1]}`, '401 INVALID_DEVICE_PROOF'].includes(answer), answer)
}
