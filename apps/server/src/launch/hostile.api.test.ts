import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeSubmission, reachChallenge, send, sendAtOnce } from './testing/capture.ts'
import { CAPTURE_MUTATIONS, type FalseSubmission } from './testing/capture-mutations.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { INSIDE_MUTATIONS, LOG_MUTATIONS } from './testing/log-mutations.ts'
import { createPage } from './testing/page.ts'
import { PAYLOAD_MUTATIONS } from './testing/payload-mutations.ts'
import { type Good, type Refused, SEALED_MUTATIONS } from './testing/sealed-mutations.ts'

const JUDGED_MUTATIONS = [...CAPTURE_MUTATIONS, ...LOG_MUTATIONS]

const fixture = await createLaunchFixture()
const { sessionId } = await fixture.create({ sessionExpiry: 86_400 })
const page = await createPage(fixture, sessionId)
const { payload, sealed } = await makeSubmission(page, await reachChallenge(page))
const stranger = { sessionId, sealKey: page.sealKey(), payload, sealed }

const COUNT = SEALED_MUTATIONS.length + PAYLOAD_MUTATIONS.length + JUDGED_MUTATIONS.length

test(`a good submission, of which ${COUNT} mutations follow, gives a verdict`, async () => {
  assert.ok(COUNT >= 200)
  const { token, sessionId } = await fixture.create()
  const page = await createPage(fixture, sessionId)
  const reply = await send(page, await makeSubmission(page, await reachChallenge(page)))
  assert.deepEqual([reply.statusCode, reply.json().errors], [200, []])
  const { sessionStatus, flowStatus, result, errors, riskEvaluation } = await fixture.result(token)
  assert.deepEqual([sessionStatus, flowStatus, errors], ['AGE_ABOVE_THRESHOLD', 'COMPLETED', []])
  const facialAgeEstimation = { thresholdResult: 'AGE_ABOVE_THRESHOLD' }
  assert.deepEqual(result, { facialAgeEstimation })
  assert.deepEqual([riskEvaluation.score, riskEvaluation.flags], [0, []])
})

/** A challenge accepts five submits: four mutations, and the good submission at the end. */
const PER_CHALLENGE = 4

async function refuseAll(mutations: readonly Refused[]): Promise<void> {
  const { token, sessionId } = await fixture.create()
  const page = await createPage(fixture, sessionId)
  const submission = await makeSubmission(page, await reachChallenge(page))
  const { payload, sealed, events } = submission
  const good: Good = { sessionId, sealKey: page.sealKey(), payload, sealed, stranger }
  await page.call('events', { events })
  for (const { name, body, status, code } of mutations) {
    const reply = await page.call('submit', await body(good))
    assert.deepEqual([reply.statusCode, reply.json().code], [status, code], `${name}: ${reply.body}`)
  }
  const { status: before, flowStatus } = await fixture.result(token)
  assert.deepEqual([before, flowStatus], ['AGE_UNKNOWN', null])
  const last = await send(page, { ...submission, events: [] })
  assert.equal(last.json().state, 'COMPLETED', `the good one after ${mutations.map(({ name }) => name)}: ${last.body}`)
  const { status, riskEvaluation } = await fixture.result(token)
  assert.deepEqual([status, riskEvaluation.flags], ['AGE_ABOVE_THRESHOLD', []])
}

for (const [what, mutations] of [
  ['sealed texts', SEALED_MUTATIONS],
  ['payloads', PAYLOAD_MUTATIONS],
] as const) {
  test(`${mutations.length} ${what} that cannot be right are refused, and the good submission after them still counts`, async () => {
    assert.equal(new Set(mutations.map(({ name }) => name)).size, mutations.length, 'each is another one')
    for (let from = 0; from < mutations.length; from += PER_CHALLENGE) {
      await refuseAll(mutations.slice(from, from + PER_CHALLENGE))
    }
  })
}

/** A session with a challenge to which the change applies. */
async function openFor({ fits = () => true }: FalseSubmission) {
  for (let tries = 0; tries < 60; tries++) {
    const created = await fixture.create({ facialAgeEstimationReturnFormat: 'both' })
    const page = await createPage(fixture, created.sessionId)
    const challenge = await reachChallenge(page)
    if (fits(challenge)) return { ...created, page, challenge }
  }
  throw new Error('no challenge of sixty fits')
}

async function judge(mutation: FalseSubmission, by = send): Promise<void> {
  const { name, codes, flags } = mutation
  const { token, page, challenge } = await openFor(mutation)
  // The server's clock must advance as long as a capture takes, too.
  fixture.harness.clock.advance(12_000)
  const reply = await by(page, await makeSubmission(page, challenge, mutation))
  assert.equal(reply.statusCode, 200, `${name}: ${reply.body}`)
  const { errors, flowStatus, state } = reply.json()
  assert.ok(errors.length === 1 && codes.includes(errors[0]), `${name}: ${reply.body}`)
  const isFinal = errors[0] === 2
  assert.deepEqual([state, flowStatus], isFinal ? ['COMPLETED', 'COMPLETED'] : ['READY', null], name)
  if (!isFinal) await page.cancel()
  const result = await fixture.result(token)
  assert.deepEqual([result.sessionStatus, result.status], ['AGE_UNKNOWN', 'AGE_UNKNOWN'], name)
  assert.deepEqual(result.result, {}, name)
  assert.deepEqual(result.errors, isFinal ? [1, 2] : [-17], name)
  const missing = flags.filter((flag) => !result.riskEvaluation.signals.behavioral?.flags.includes(flag))
  assert.deepEqual(missing, [], `${name}: ${result.riskEvaluation.flags}`)
}

test(`${JUDGED_MUTATIONS.length} submissions that are well formed but false give no verdict, each with its code and flags`, async () => {
  assert.equal(new Set(JUDGED_MUTATIONS.map(({ name }) => name)).size, JUDGED_MUTATIONS.length, 'each is another one')
  for (const mutation of JUDGED_MUTATIONS) await judge(mutation)
})

test(`${INSIDE_MUTATIONS.length} false logs inside the payload give none either`, async () => {
  for (const mutation of INSIDE_MUTATIONS) await judge(mutation, sendAtOnce)
})
