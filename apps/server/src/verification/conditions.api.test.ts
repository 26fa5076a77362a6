import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CaptureConditions, LAUNCH_LIMITS } from '@ostiary/contract'
import { agreeOn } from '../age/testing/fixture.ts'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createVerificationHost } from './testing/fixture.ts'
import { captureAgain, createToken, enrolled, jpegOf, reachCapture, visit } from './testing/people.ts'

const faces = createFaces(53)
const { fixture, host } = await createVerificationHost()

const INDOORS: CaptureConditions = {
  light: { brightness: 120, lux: 300 },
  motion: 0.25,
  camera: { width: 640, height: 480, frameRate: 30 },
}
const DARK: CaptureConditions = {
  light: { brightness: 0, lux: null },
  motion: null,
  camera: { width: 8192, height: 1, frameRate: null },
}
const webhookOf = async (sessionId: string) => {
  const { body } = await fixture.delivered(sessionId)
  const { images, ...kept } = JSON.parse(body.toString())
  const read = images ? { ...kept, images: [] } : kept
  assert.deepEqual(await host.webhook(sessionId), read, 'read again, it is the same without the picture')
  return kept
}

describe('light, movement and camera of a capture', () => {
  test('[D-053] come to the host with ENROLL and SIGN-IN, with a selfie and without one', async () => {
    const face = faces.person()
    for (const [type, sendImages] of [
      ['ENROLL', true],
      ['ENROLL', false],
      ['SIGN-IN', true],
      ['SIGN-IN', false],
    ] as const) {
      const { sessionId } = await host.create(type, { sendImages })
      const selfie = sendImages ? { selfie: jpegOf(500) } : {}
      const state = await visit(fixture, sessionId, face, { conditions: INDOORS, ...selfie })
      assert.equal(state.state, 'SUCCESS', `${type} ${sendImages}`)
      assert.deepEqual((await webhookOf(sessionId)).captureConditions, INDOORS)
    }
  })

  test('[D-053] the match works without them, with a selfie and without one, and is the same with any', async () => {
    const face = faces.person()
    const puid = await enrolled(fixture, host, face)
    for (const sendImages of [true, false]) {
      const found = []
      for (const conditions of [undefined, INDOORS, DARK]) {
        const { sessionId } = await host.create('SIGN-IN', { sendImages })
        const selfie = sendImages ? { selfie: jpegOf(500) } : {}
        await visit(fixture, sessionId, face, { ...(conditions && { conditions }), ...selfie })
        const webhook = await webhookOf(sessionId)
        assert.deepEqual(webhook.captureConditions, conditions)
        assert.equal('captureConditions' in webhook, conditions !== undefined)
        found.push([webhook.status, webhook.puid, webhook.matchedBy, webhook.riskEvaluation])
      }
      assert.deepEqual(found[1], found[0])
      assert.deepEqual(found[2], found[0])
      assert.deepEqual(found[0]?.slice(0, 2), ['SUCCESS', puid])
    }
  })

  test('[D-053] of a failed match are those of the last capture', async () => {
    await enrolled(fixture, host, faces.person())
    const { sessionId } = await host.create('SIGN-IN')
    const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person() })
    const sending = (conditions: CaptureConditions) => ({ metadata: { captureConditions: conditions } })
    await user.device.submit({ ...capture, ...sending(INDOORS) })
    for (const _try of [2, 3]) {
      await user.device.logEvent('retake', 1)
      const again = await captureAgain(user, { vector: faces.person() })
      await user.device.submit({ ...again.capture, ...sending(DARK) })
    }
    const webhook = await webhookOf(sessionId)
    assert.deepEqual([webhook.outcome, webhook.captureConditions], ['FAILED', DARK])
    const masked = await host.create('SIGN-IN')
    await visit(fixture, masked.sessionId, faces.person(), { spoof: 'mask', conditions: INDOORS })
    assert.deepEqual((await webhookOf(masked.sessionId)).captureConditions, INDOORS, 'also where no match was made')
  })

  test('a local hit without a vector has them too', async () => {
    const local = await fixture.newHost({ settings: { signInMatching: 'local' } })
    const [face, token] = [faces.person(), await createToken()]
    await enrolled(fixture, local, face, { person: token.enrols() })
    const { sessionId } = await local.create('SIGN-IN')
    fixture.harness.clock.advance(8_000)
    const person = { ageYears: null, claim: token.claims(sessionId), conditions: INDOORS }
    assert.equal((await fixture.visit(sessionId, person)).state, 'SUCCESS')
    const { matchedBy, captureConditions } = await local.webhook(sessionId)
    assert.deepEqual([matchedBy, captureConditions], ['local', INDOORS])
  })
})

describe('without a consent that names them', () => {
  test('[D-053] they are dropped, even if they are malformed: a page of the last release has shown another text', async () => {
    for (const sent of [INDOORS, { light: 'bright' }]) {
      const { sessionId } = await host.create('ENROLL')
      const user = await fixture.newDevice(sessionId)
      await user.device.open()
      const { device } = user
      const asBefore = { ...device, consent: (accepted: boolean) => device.consent(accepted, 'en', '1') }
      fixture.harness.clock.advance(8_000)
      await device.logEvent('page_open')
      await agreeOn({ ...user, device: asBefore })
      const { capture } = await captureAgain(user, { vector: faces.person() })
      const state = await device.submit({ ...capture, metadata: { captureConditions: sent } })
      assert.equal(state.state, 'SUCCESS')
      const webhook = await webhookOf(sessionId)
      assert.equal('captureConditions' in webhook, false)
      assert.deepEqual([webhook.consent.version, webhook.consent.accepted], ['1', true])
    }
  })

  test('[D-053] those of the first device are gone after a handoff', async () => {
    const { sessionId } = await host.create('SIGN-IN')
    const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person() })
    await user.device.submit({ ...capture, metadata: { captureConditions: INDOORS } })
    const { code, number = assert.fail('no number') } = await user.device.handoff()
    const second = await fixture.newDevice(sessionId)
    await second.device.open(code)
    await second.device.number(number)
    await second.device.cancel()
    assert.equal('captureConditions' in (await webhookOf(sessionId)), false)
  })

  test('an age check never has them', async () => {
    const ages = await fixture.age.newHost()
    const { sessionId, token } = await ages.create()
    await fixture.visit(sessionId, { ageYears: 42, conditions: INDOORS })
    const result = await ages.result(token)
    assert.deepEqual([result.flowStatus, 'captureConditions' in result], ['COMPLETED', false])
    assert.equal(result.consent?.version, '2')
  })
})

const { light, motion, camera } = INDOORS
const REFUSED: [string, unknown][] = [
  ['no object', 7],
  ['null', null],
  ['nothing in it', {}],
  ['an unknown member', { ...INDOORS, place: 'Berlin' }],
  ['an unknown member inside', { ...INDOORS, camera: { ...camera, label: 'Front camera' } }],
  ['brightness above 255', { ...INDOORS, light: { ...light, brightness: 260 } }],
  ['negative brightness', { ...INDOORS, light: { ...light, brightness: -5 } }],
  ['brightness in finer steps', { ...INDOORS, light: { ...light, brightness: 121 } }],
  ['too much lux', { ...INDOORS, light: { ...light, lux: 200_050 } }],
  ['lux in finer steps', { ...INDOORS, light: { ...light, lux: 310 } }],
  ['motion above 100', { ...INDOORS, motion: 100.25 }],
  ['motion in finer steps', { ...INDOORS, motion: 0.3 }],
  ['motion as text', { ...INDOORS, motion: '0.25' }],
  ['a picture without width', { light, motion, camera: { ...camera, width: 0 } }],
  ['a picture that is too wide', { light, motion, camera: { ...camera, width: 8_193 } }],
  ['a frame rate above 240', { light, motion, camera: { ...camera, frameRate: 245 } }],
  ['a frame rate in finer steps', { light, motion, camera: { ...camera, frameRate: 29 } }],
]

test('[D-053] what is malformed, out of range or finer than the steps is refused with 400, and the try goes on', async () => {
  const limit = LAUNCH_LIMITS.submitsPerAttempt - 1
  for (let from = 0; from < REFUSED.length; from += limit) {
    const { sessionId } = await host.create('ENROLL')
    const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person() })
    for (const [what, sent] of REFUSED.slice(from, from + limit)) {
      const submitted = user.device.submit({ ...capture, metadata: { captureConditions: sent } })
      await assert.rejects(submitted, { status: 400, code: 'INVALID_PAYLOAD' }, what)
    }
    const highest = {
      light: { brightness: 255, lux: 200_000 },
      motion: 100,
      camera: { width: 8_192, height: 8_192, frameRate: 240 },
    }
    const accepted = await user.device.submit({ ...capture, metadata: { captureConditions: highest } })
    assert.equal(accepted.state, 'SUCCESS')
    assert.deepEqual((await webhookOf(sessionId)).captureConditions, highest)
  }
})

test('[D-053] they are sealed until the end of the retention, and cost the payload little', async () => {
  const marked: CaptureConditions = { ...INDOORS, light: { brightness: 235, lux: 123_450 } }
  const { sessionId } = await host.create('ENROLL')
  const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person() })
  const plain = await user.device.seal(await user.device.payloadOf(capture))
  const sent = { ...capture, metadata: { captureConditions: marked } }
  const sealed = await user.device.seal(await user.device.payloadOf(sent))
  assert.ok(sealed.length - plain.length < 200, `${plain.length} and then ${sealed.length} characters`)
  assert.ok(sealed.length <= LAUNCH_LIMITS.sealedBytes)
  await user.device.submit(sent)
  assert.deepEqual((await webhookOf(sessionId)).captureConditions, marked)
  const dump = [...(await fixture.dump()).values()].join('\n')
  assert.ok(!dump.includes('123450') && !dump.includes(Buffer.from('123450').toString('hex')))
})
