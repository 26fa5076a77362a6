import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CapturePayload } from '@ostiary/contract'
import { sessionAt } from '../launch/testing/session.ts'
import { newProgress, type Progress } from '../sessions/index.ts'
import { ageRules, captured, consented } from './flow.ts'
import type { AgeProgress } from './session.ts'

const PAYLOAD: CapturePayload = {
  v: 1,
  sessionId: 's',
  nonce: 'n',
  attempt: 1,
  model: { id: 'm', hash: 'h' },
  estimate: { age: 400, spread: 10, frames: 6 },
  live: 950,
  frames: [],
  log: { seq: 1, hash: 'h' },
}
const accepted = (more: object = {}) => ({
  payload: PAYLOAD,
  challenge: { nonce: 'n', steps: [], sampleAtMs: [], expiresAtMs: 1, submits: 1 },
  selfie: null,
  estimateYears: 40,
  unstable: false,
  unfit: false,
  now: new Date(0),
  ...more,
})
const known = (more: Partial<Progress<AgeProgress>> = {}): Progress<AgeProgress> => ({
  ...newProgress('en'),
  attempt: 1,
  ...more,
})

describe('a good capture of an age check', () => {
  test('ends the flow when no other step is required', () => {
    const step = captured({ ...sessionAt('FACE_ACTIVE'), progress: known() }, accepted())
    assert.deepEqual([step.state, step.end], ['FACE_DONE', { how: 'reached' }])
    assert.deepEqual(step.progress.own, { estimateYears: 40, doubtful: false })
  })

  test('leads to the document step when a document is required, or when the face is below the threshold and step-up is on', () => {
    const both = sessionAt('FACE_ACTIVE', { requirements: ['face', 'identity_document'] })
    assert.equal(captured({ ...both, progress: known() }, accepted()).state, 'DOC_ACTIVE')
    const stepUp = sessionAt('FACE_ACTIVE', { stepUpEnabled: true })
    assert.equal(captured({ ...stepUp, progress: known() }, accepted({ estimateYears: 20 })).state, 'DOC_ACTIVE')
    assert.equal(captured({ ...stepUp, progress: known() }, accepted()).state, 'FACE_DONE')
  })

  test('is doubtful when the frames disagree, the log is faulty, a strong flag is raised, or the session was sent to the document step before', () => {
    const before = { estimateYears: 20, doubtful: false }
    for (const [progress, facts] of [
      [known(), { unstable: true }],
      [known(), { unfit: true }],
      [known({ flags: [{ code: 'BH_PAYLOAD_REPLAY' }] }), {}],
      [known({ own: before }), {}],
    ] as const) {
      const step = captured({ ...sessionAt('FACE_ACTIVE'), progress }, accepted(facts))
      assert.equal(step.progress.own?.doubtful, true)
    }
  })

  test('[C-025] in doubt leads to the document only where it is asked for, and in sessions of the last release', () => {
    for (const [documentInDoubt, state] of [
      [true, 'DOC_ACTIVE'],
      [false, 'FACE_DONE'],
      [undefined, 'DOC_ACTIVE'],
    ] as const) {
      const asked = { stepUpEnabled: true, ...(documentInDoubt !== undefined && { documentInDoubt }) }
      const session = { ...sessionAt('FACE_ACTIVE', asked), progress: known() }
      assert.equal(captured(session, accepted({ unstable: true })).state, state)
      assert.equal(ageRules(session).hasOtherWay, state === 'DOC_ACTIVE')
    }
  })

  test('leads to the document again in a session that was sent there, whatever the second estimate', () => {
    const session = sessionAt('FACE_ACTIVE', { stepUpEnabled: true, documentInDoubt: false })
    const own = { estimateYears: 20, doubtful: false }
    assert.equal(captured({ ...session, progress: known({ own }) }, accepted()).state, 'DOC_ACTIVE')
  })
})

describe('an age check', () => {
  test('accepts no vector, no key, no selfie, and no estimate without a frame', () => {
    const { payloadFault } = ageRules(sessionAt('FACE_ACTIVE'))
    assert.equal(payloadFault(PAYLOAD, false), undefined)
    assert.equal(payloadFault(PAYLOAD, true), 'selfie')
    const none = { ...PAYLOAD, estimate: { age: 0, spread: 0, frames: 0 } }
    const face = { ...PAYLOAD, face: { version: 'FACE3_3' as const, vector: 'A'.repeat(683) } }
    const local = { ...PAYLOAD, local: { hit: true, proof: 'p' } }
    for (const payload of [none, face, local]) assert.equal(payloadFault(payload, false), 'schema')
  })

  test('begins with the document when it is the first requirement', () => {
    const first = sessionAt('OPENED', { requirements: ['identity_document', 'face'] })
    assert.equal(consented({ ...first, progress: known() }).state, 'DOC_ACTIVE')
    assert.equal(consented({ ...sessionAt('OPENED'), progress: known() }).state, 'READY')
  })

  test('reports its type to the page, and its end to the host', () => {
    const session = sessionAt('COMPLETED')
    const rules = ageRules(session)
    assert.deepEqual(rules.describe(), {
      type: 'AGE',
      requirements: ['face'],
      verification: null,
      ages: { age: 30, estimate: null },
    })
    assert.deepEqual(rules.endReply('COMPLETED'), {
      redirectUrl: `https://shop.example/back?sessionId=${session.sessionId}&flowStatus=COMPLETED`,
    })
    assert.deepEqual(rules.failuresOf('SPOOF', true), ['SPOOF', 'ATTEMPTS_EXCEEDED'])
    assert.deepEqual(rules.failuresOf('VIDEO_SPOOF', false), ['VIDEO_SPOOF'])
  })
})
