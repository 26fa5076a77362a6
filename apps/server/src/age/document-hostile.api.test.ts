import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentPayload, DocumentStep, LaunchState } from '@ostiary/contract'
import { seededRandom, simulateDocument } from '@ostiary/device/simulated'
import { createAgeHost, readyDevice, type UserDevice } from './testing/fixture.ts'

const { fixture, host } = await createAgeHost()

const REMOVED = Symbol('removed')
/** A place in the payload, and what is impossible there. */
const IMPOSSIBLE: readonly (readonly [string, readonly unknown[]])[] = [
  ['v', [REMOVED, 0, 2, '1']],
  ['kind', [REMOVED, 'capture', 1]],
  ['sessionId', [REMOVED, 'short', null]],
  ['attempt', [REMOVED, 0, 2, 11, 1.5, '1']],
  ['reader', [REMOVED, null, 'simulated-reader-1']],
  ['type', [REMOVED, 'library_card', 'visa', 7]],
  ['format', [REMOVED, 'TD4', 'MRV_A', 'AAMVA']],
  ['age', [null, { result: 'adult' }, { result: 'above', years: 40 }, { result: 'above', born: '1990-01-01' }, {}]],
  ['expiry', [REMOVED, '2030-01-01', 'grace', 'none']],
  [
    'checks',
    [REMOVED, null, {}, { number: 1 }, { number: true, birth: true, expiry: true, composite: true, sum: true }],
  ],
  ['frames', [REMOVED, 0, 1, 100, 2.5]],
  ['confidence', [REMOVED, -1, 1001, 0.9]],
  ['sides', [REMOVED, 0, 3]],
  ['match', [{ score: 900, capture: 'n' }, { score: 1001, capture: 'n' }, null]],
  ['hints', [REMOVED, null, ['forged'], ['screen', 'screen'], 'screen']],
  ['reuse', ['AAAAAAAAAAA', 'short', 7]],
  ['consent', [REMOVED, { version: '2', locale: 'en' }, { version: '1', locale: 'tlh' }, { version: '1' }]],
  ['indicators', ['0'.repeat(20), 0]],
  ['number', ['X1234567']],
  ['name', ['ERIKSSON<<ANNA']],
  ['picture', ['/9j/4AAQ']],
]

function payloadFor({ sessionId }: UserDevice['device'], step: DocumentStep): Omit<DocumentPayload, 'log'> {
  const facts = simulateDocument({}, { step, ageYears: 40, random: seededRandom(1), locale: 'en', capture: undefined })
  assert.ok(!('failure' in facts))
  return { v: 1, kind: 'document', sessionId, nonce: step.nonce, attempt: step.attempt, ...facts }
}

test('impossible facts, correctly sealed, are refused one by one; they cost no try, and the document counts afterwards', async () => {
  const created = await host.create({ requirements: ['identity_document'], documentAgeThreshold: 18 })
  const user = await fixture.newDevice(created.sessionId)
  const { device, clock } = user
  await readyDevice(user)
  await device.logEvent('document_shown', 1)
  await clock.pass(2_000)
  await device.logEvent('document_read', 1)
  let submits = 0
  let step = await device.documentStep()
  for (const [place, values] of IMPOSSIBLE) {
    for (const value of values) {
      if (++submits % 5 === 0) step = await device.documentStep()
      fixture.harness.clock.advance(6_000)
      const changed: Record<string, unknown> = { ...payloadFor(device, step), [place]: value }
      if (value === REMOVED) delete changed[place]
      const sent = changed as Parameters<typeof device.submitDocument>[0]
      const what = `${place}: ${value === REMOVED ? 'left out' : JSON.stringify(value)}`
      // What is left out the device would fill in again: such a payload is sealed here.
      const answer = value === REMOVED ? sealedAnswer(user, changed) : device.submitDocument(sent)
      await assert.rejects(answer, { code: 'INVALID_PAYLOAD' }, what)
    }
  }
  step = await device.documentStep()
  assert.deepEqual([step.attempt, step.attemptsLeft], [1, 3])
  const { state } = await device.submitDocument(payloadFor(device, step) as never)
  assert.equal(state, 'COMPLETED')
  assert.equal((await host.result(created.token)).sessionStatus, 'AGE_ABOVE_THRESHOLD')
})

/** `submitDocument` of facts that undo what the device fills in. */
function sealedAnswer({ device }: UserDevice, payload: Record<string, unknown>): Promise<LaunchState> {
  const names = ['v', 'kind', 'sessionId', 'attempt']
  const undone = Object.fromEntries(names.filter((name) => !(name in payload)).map((name) => [name, undefined]))
  return device.submitDocument({ ...payload, ...undone } as never)
}

test('the facts of a document take at most 2,048 bytes, sealed, with everything that a page may add', async () => {
  const created = await host.create({ requirements: ['identity_document'], documentAgeReturnFormat: 'both' })
  const user = await fixture.newDevice(created.sessionId)
  await readyDevice(user)
  const step = await user.device.documentStep()
  const whole: DocumentPayload = {
    ...payloadFor(user.device, step),
    match: { score: -1000, capture: 'n'.repeat(32) },
    checks: { number: true, birth: true, expiry: true, optional: true, composite: true },
    hints: ['screen', 'copy', 'pasted_portrait', 'sides_disagree', 'no_portrait'],
    reuse: 'AAAAAAAAAAA',
    log: { seq: 300, hash: 'h'.repeat(43) },
    indicators: '01-'.repeat(7),
    browser: { kind: 'ordinary', phoneCamera: true },
    metadata: { camera: { width: 1920, height: 1080 } },
  }
  assert.ok((await user.device.seal(whole)).length <= 2_048)
})
