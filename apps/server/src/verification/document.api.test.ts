// spec-kind: webhook
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PasskeyOptions, VerificationWebhook } from '@ostiary/contract'
import {
  runFlow,
  type SimulatedDocument,
  type SimulatedPerson,
  seededRandom,
  simulateCapture,
} from '@ostiary/device/simulated'
import { sendDocument } from '../age/testing/document-steps.ts'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createAuthenticator } from '../passkeys/testing/authenticator.ts'
import { createVerificationHost } from './testing/fixture.ts'
import { reachCapture, visit } from './testing/people.ts'

const faces = createFaces(91)
const { fixture, host } = await createVerificationHost()

const WITH_DOCUMENT = { requirements: ['face', 'identity_document'] } as const

async function enrol(document: SimulatedDocument, body: object = WITH_DOCUMENT, person: Partial<SimulatedPerson> = {}) {
  const { sessionId } = await host.create('ENROLL', body)
  const state = await visit(fixture, sessionId, faces.person(), { document, ...person })
  return { sessionId, state, webhook: await host.webhook(sessionId) }
}
const codesOf = ({ status, errors }: VerificationWebhook) => [status, errors.map(({ code }) => code)]

describe('an ENROLL with an identity document', () => {
  test('[D-003] [D-027] [D-037] succeeds, and its webhook names the type of the document and what the device said', async () => {
    const contactInformation = { email: 'someone@shop.example' }
    const { sessionId, webhook: kept } = await enrol({ format: 'TD1' }, { ...WITH_DOCUMENT, contactInformation })
    const webhook: VerificationWebhook = JSON.parse((await fixture.delivered(sessionId)).body.toString())
    assert.deepEqual(webhook, kept, 'the receiver got what the service answers')
    assert.deepEqual(codesOf(webhook), ['SUCCESS', []])
    const { documentType, verificationDate } = webhook.identityInformation ?? {}
    assert.equal(documentType, 'national_id')
    assert.match(verificationDate ?? '', /^\d{13}$/)
    assert.deepEqual(webhook.contactInformation, contactInformation)
    assert.ok(webhook.document)
    const { equalFrames, confidence, consent, ...facts } = webhook.document
    assert.deepEqual(facts, {
      type: 'national_id',
      format: 'TD1',
      expiry: 'valid',
      checksHeld: ['number', 'birth', 'expiry', 'composite'],
    })
    assert.ok(equalFrames >= 2 && confidence > 0.9 && consent.version === '1')
  })

  test('[D-003] takes face, document and passkey in this order, however the host names them', async () => {
    const steps: string[] = []
    const { hostname, origin } = new URL(fixture.harness.wire.config.launch.url)
    const own = createAuthenticator({ origin, rpId: hostname, counts: false })
    const { webhook } = await enrol(
      {},
      { requirements: ['passkey', 'identity_document', 'face'] },
      {
        onStep: (step) => steps.push(step),
        passkey: async (asked: PasskeyOptions) => own.create(asked.options),
      },
    )
    assert.deepEqual(codesOf(webhook), ['SUCCESS', []])
    const places = ['try 1', 'sends facts', 'is asked for a passkey'].map((words) =>
      steps.findIndex((step) => step.includes(words)),
    )
    assert.ok(
      places.every((place, at) => place > (places[at - 1] ?? 0)),
      steps.join('; '),
    )
    assert.equal(own.credentials.length, 1)
  })

  test('is asked for no age', async () => {
    const { sessionId } = await host.create('ENROLL', WITH_DOCUMENT)
    const { device } = await fixture.newDevice(sessionId)
    const { document, requirements } = await device.open()
    assert.deepEqual(requirements, ['face', 'identity_document'])
    assert.deepEqual([document?.when, document?.ageFormat, document?.reuseCheck], ['always', null, false])
  })

  for (const [fault, code] of [
    ['expired', -26],
    ['unreadable', -27],
    ['unsupported', -28],
    ['tampered', -29],
    ['wrong-person', -9],
  ] as const) {
    test(`${fault}: fails with ${code}, and nobody is enrolled`, async () => {
      const { webhook, state } = await enrol({ fault })
      assert.deepEqual([state.state, ...codesOf(webhook)], ['FAILED', 'FAILED', [code]])
      assert.ok(!('puid' in webhook) && !('document' in webhook) && !('identityInformation' in webhook))
    })
  }

  test('a portrait of somebody else, however often, locks nobody out: it was not compared with the named person', async () => {
    const own = await fixture.newHost()
    const vector = faces.person()
    const customerId = 'customer-7'
    const first = await own.create('ENROLL', { customerId })
    assert.equal((await visit(fixture, first.sessionId, vector)).state, 'SUCCESS')
    for (let times = 0; times < 6; times++) {
      fixture.harness.clock.advance(8_000)
      const { sessionId } = await own.create('ENROLL', { ...WITH_DOCUMENT, customerId })
      await visit(fixture, sessionId, vector, { document: { fault: 'wrong-person' } })
      const webhook = await own.webhook(sessionId)
      assert.deepEqual([...codesOf(webhook), webhook.retryAfter], ['FAILED', [-9], undefined])
    }
    const { sessionId } = await own.create('VERIFY', { customerId })
    assert.equal((await visit(fixture, sessionId, vector)).state, 'SUCCESS')
  })

  test('a capture that comes again gets its reply again, and the face in the repeat does not count', async () => {
    const [own, other] = [faces.person(), faces.person()]
    const customerId = 'customer-8'
    const { sessionId } = await host.create('ENROLL', { ...WITH_DOCUMENT, customerId })
    const { user, capture, challenge } = await reachCapture(fixture, sessionId, { vector: own })
    assert.equal((await user.device.submit(capture)).state, 'DOC_ACTIVE')
    const { face: swapped } = simulateCapture({
      challenge,
      random: seededRandom(4),
      ageYears: null,
      vector: other,
    }).capture
    assert.ok(swapped && capture.face && swapped.vector !== capture.face.vector)
    assert.equal((await user.device.submit({ ...capture, face: swapped })).state, 'DOC_ACTIVE')
    assert.equal((await sendDocument(user)).state, 'SUCCESS')
    for (const [vector, state] of [
      [own, 'SUCCESS'],
      [other, 'FAILED'],
    ] as const) {
      const verified = await host.create('VERIFY', { customerId })
      assert.equal((await visit(fixture, verified.sessionId, vector)).state, state)
    }
  })

  test('a hint raises a flag and does not refuse the person', async () => {
    const { webhook } = await enrol({ fault: 'screen' })
    assert.deepEqual([webhook.status, webhook.riskEvaluation.flags], ['SUCCESS', ['DO_SCREEN']])
  })

  test('after a reload, or on another device, the face comes again: the enrolled face is the one that was compared', async () => {
    const vector = faces.person()
    const { sessionId } = await host.create('ENROLL', WITH_DOCUMENT)
    fixture.harness.clock.advance(8_000)
    const { device, clock } = await fixture.newDevice(sessionId)
    const person = { clock, random: seededRandom(5), ageYears: null, vector }
    const atDocument = await runFlow(device, person)
    assert.deepEqual([atDocument.state, atDocument.documentAttemptsLeft], ['DOC_ACTIVE', 3])
    await assert.rejects(device.challenge('match'), { code: 'SESSION_NOT_OPEN' })
    await device.logEvent('page_open')
    assert.equal((await device.open()).state, 'CONSENTED')
    fixture.harness.clock.advance(8_000)
    const { code, number = assert.fail('no number') } = await device.handoff()
    const done = await visit(fixture, sessionId, vector, { document: {}, handoffCode: code, number })
    assert.equal(done.state, 'SUCCESS')
  })
})
