import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeVector, sealPayload } from '@ostiary/crypto'
import { createFaces } from '../biometrics/testing/faces.ts'
import { type Changes, makeSubmission, reachChallenge, send } from '../launch/testing/capture.ts'
import { CAPTURE_MUTATIONS, type FalseSubmission } from '../launch/testing/capture-mutations.ts'
import { LOG_MUTATIONS } from '../launch/testing/log-mutations.ts'
import { createPage } from '../launch/testing/page.ts'
import { PAYLOAD_MUTATIONS } from '../launch/testing/payload-mutations.ts'
import { type Good, type Refused, SEALED_MUTATIONS } from '../launch/testing/sealed-mutations.ts'
import { createVerificationHost } from './testing/fixture.ts'

const JUDGED = [...CAPTURE_MUTATIONS, ...LOG_MUTATIONS]
const faces = createFaces(97)
const face = { version: 'FACE3_3' as const, vector: encodeVector(faces.person()) }

/** The mutations of the age check's tests, in a payload with a face vector. */
const withFace = (changes: Changes = {}): Changes => ({
  ...changes,
  payload: (claimed, challenge, events) => {
    const faced = { ...claimed, face }
    return changes.payload?.(faced, challenge, events) ?? faced
  },
})

const { fixture, host } = await createVerificationHost()
const { page, challenge } = await openSession({ sessionExpiry: 86_400 })
const { payload, sealed } = await makeSubmission(page, challenge, withFace())
const stranger = { sessionId: page.sessionId, sealKey: page.sealKey(), payload, sealed }

async function openSession(body: object = {}) {
  fixture.harness.clock.advance(8_000)
  const created = await host.create('ENROLL', { estimateAge: true, ...body })
  const page = await createPage(fixture, created.sessionId)
  return { ...created, page, challenge: await reachChallenge(page) }
}

async function peopleOf(): Promise<number> {
  const text = 'select count(*)::int as count from face_persons where tenant_id = $1'
  return (await fixture.harness.database.query(text, [host.tenantId])).rows[0]?.count
}

/** A challenge accepts five submits: four mutations, and the good submission at the end. */
const PER_CHALLENGE = 4

async function refuseAll(mutations: readonly Refused[]): Promise<void> {
  const { sessionId, page, challenge } = await openSession()
  const submission = await makeSubmission(page, challenge, withFace())
  const { payload, sealed, events } = submission
  const good: Good = { sessionId, sealKey: page.sealKey(), payload, sealed, stranger }
  await page.call('events', { events })
  const people = await peopleOf()
  for (const { name, body, status, code } of mutations) {
    const reply = await page.call('submit', await body(good))
    // With a face vector, some doubled payloads are refused for their size before any other rule.
    const expected = reply.statusCode === 413 ? [413, 'PAYLOAD_TOO_LARGE'] : [status, code]
    assert.deepEqual([reply.statusCode, reply.json().code], expected, `${name}: ${reply.body}`)
  }
  assert.equal((await host.get(sessionId)).state, 'FACE_ACTIVE')
  assert.equal(await peopleOf(), people)
  const last = await send(page, { ...submission, events: [] })
  assert.equal(last.json().state, 'SUCCESS', `the good one after ${mutations.map(({ name }) => name)}: ${last.body}`)
}

const unreadable = { status: 400, code: 'INVALID_PAYLOAD' }
const saying = (name: string, change: object): Refused => ({
  name,
  body: async ({ sealKey, sessionId, payload }) => ({
    sealed: await sealPayload(sealKey, sessionId, { ...payload, ...change }),
  }),
  ...unreadable,
})
const vector = (name: string, text: unknown) => saying(`vector ${name}`, { face: { ...face, vector: text } })
const KEY = { kty: 'EC', crv: 'P-256', x: 'x'.repeat(43), y: 'y'.repeat(43) }

/** Mutations that exist only for payloads of area D. */
const FACE_MUTATIONS: readonly Refused[] = [
  saying('no face', { face: undefined }),
  saying('a face that is null', { face: null }),
  saying('another version', { face: { ...face, version: 'FACE3_1' } }),
  saying('a face with a picture', { face: { ...face, jpeg: '/9j/' } }),
  saying('a list of numbers', { face: { ...face, vector: [1, 2, 3] } }),
  vector('without a number', ''),
  vector('of 511 numbers', face.vector.slice(0, 682)),
  vector('of 513 numbers', `${face.vector}A`),
  vector('of zeros', 'A'.repeat(683)),
  vector('in another alphabet', `+/${face.vector.slice(2)}`),
  vector('with a line break', `${face.vector.slice(0, 682)}\n`),
  saying('a claim in an ENROLL', { local: { hit: true, proof: 'x' } }),
  saying('a claim and a key', { local: { key: KEY, hit: true, proof: 'x' } }),
  saying('a private key', { local: { key: { ...KEY, d: 'd'.repeat(43) } } }),
  saying('a key of another kind', { local: { key: { ...KEY, kty: 'RSA' } } }),
  saying('a short key', { local: { key: { ...KEY, x: 'x' } } }),
  saying('a selfie inside', { selfie: '/9j/' }),
  saying('a person', { puid: '079b6cd9-f993-81a6-95fd-000000000001' }),
  saying('a verdict', { state: 'SUCCESS' }),
  saying('no age where one was asked for', { estimate: { age: 0, spread: 0, frames: 0 } }),
]

for (const [what, mutations] of [
  ['sealed texts', SEALED_MUTATIONS],
  ['payloads', PAYLOAD_MUTATIONS],
  ['faces and keys', FACE_MUTATIONS],
] as const) {
  test(`${mutations.length} ${what} that cannot be right enrol nobody, and the good submission after them still counts`, async () => {
    for (let from = 0; from < mutations.length; from += PER_CHALLENGE) {
      await refuseAll(mutations.slice(from, from + PER_CHALLENGE))
    }
  })
}

/** A session with a challenge to which the change applies. */
async function openFor({ fits = () => true }: FalseSubmission) {
  for (let tries = 0; tries < 60; tries++) {
    const opened = await openSession()
    if (fits(opened.challenge)) return opened
  }
  throw new Error('no challenge of sixty fits')
}

test(`${JUDGED.length} submissions that are well formed but false enrol nobody, each with its code`, async () => {
  const people = await peopleOf()
  for (const mutation of JUDGED) {
    const { sessionId, page, challenge } = await openFor(mutation)
    fixture.harness.clock.advance(12_000)
    const reply = await send(page, await makeSubmission(page, challenge, withFace(mutation)))
    assert.equal(reply.statusCode, 200, `${mutation.name}: ${reply.body}`)
    const { errors, state } = reply.json()
    assert.ok(errors.length === 1 && mutation.codes.includes(errors[0]), `${mutation.name}: ${reply.body}`)
    assert.equal(state, errors[0] === 2 ? 'FAILED' : 'CONSENTED', mutation.name)
    if (errors[0] !== 2) continue
    const { status, puid, riskEvaluation } = await host.webhook(sessionId)
    assert.deepEqual([status, puid, riskEvaluation.signals.behavioral], ['FAILED', undefined, null])
  }
  assert.equal(await peopleOf(), people)
})

test('a submission of another session, and one that was sent before, are refused', async () => {
  const first = await openSession()
  const submission = await makeSubmission(first.page, first.challenge, withFace())
  const second = await openSession()
  const foreign = await second.page.call('submit', { sealed: submission.sealed })
  assert.deepEqual([foreign.statusCode, foreign.json().code], [400, 'INVALID_PAYLOAD'])
  assert.equal((await send(first.page, submission)).json().state, 'SUCCESS')
  const again = await first.page.call('submit', { sealed: submission.sealed })
  assert.deepEqual([again.statusCode, again.json().code], [409, 'SESSION_NOT_OPEN'])
})
