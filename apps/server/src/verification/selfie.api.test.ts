import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { VerificationWebhook } from '@ostiary/contract'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createVerificationHost } from './testing/fixture.ts'
import { jpegOf, reachCapture, visit } from './testing/people.ts'

const faces = createFaces(101)

const { fixture, host } = await createVerificationHost()

describe('sendImages', () => {
  test('[D-020] the webhook has the selfie, once, and nothing that is stored has it', async () => {
    const selfie = jpegOf(60_000)
    const { sessionId } = await host.create('ENROLL', { sendImages: true })
    const opened = await (await fixture.newDevice(sessionId)).device.open()
    assert.equal(opened.verification?.sendImages, true)
    const next = await host.create('ENROLL', { sendImages: true })
    assert.equal((await visit(fixture, next.sessionId, faces.person(), { selfie })).state, 'SUCCESS')
    assert.deepEqual((await host.webhook(next.sessionId)).images, [])
    const body: VerificationWebhook = JSON.parse((await fixture.delivered(next.sessionId)).body.toString())
    assert.deepEqual(body.images, [{ type: 'portrait', data: Buffer.from(selfie).toString('base64') }])
    const dump = [...(await fixture.dump()).values()].join('\n')
    assert.ok(!dump.includes(Buffer.from(selfie).subarray(100, 160).toString('hex')))
    assert.ok(!dump.includes(Buffer.from(Buffer.from(selfie).toString('base64').slice(100, 180)).toString('hex')))
  })

  test('[D-020] [D-053] without it there is no image, and the comparison works', async () => {
    const { sessionId } = await host.create('ENROLL')
    await visit(fixture, sessionId, faces.person())
    const body = JSON.parse((await fixture.delivered(sessionId)).body.toString())
    assert.equal('images' in body, false)
    const other = await host.create('ENROLL')
    const sent = visit(fixture, other.sessionId, faces.person(), { selfie: jpegOf(500) })
    await assert.rejects(sent, { code: 'INVALID_PAYLOAD' }, 'an image that the host did not ask for is refused')
  })

  test('[D-053] a SIGN-IN may share one too', async () => {
    const face = faces.person()
    const enrol = await host.create('ENROLL')
    await visit(fixture, enrol.sessionId, face)
    const selfie = jpegOf(2_000)
    const { sessionId } = await host.create('SIGN-IN', { sendImages: true })
    assert.equal((await visit(fixture, sessionId, face, { selfie })).state, 'SUCCESS')
    const body: VerificationWebhook = JSON.parse((await fixture.delivered(sessionId)).body.toString())
    assert.equal(body.images?.[0]?.data, Buffer.from(selfie).toString('base64'))
  })

  test('[D-041] a failure has an empty array, like an abandoned session', async () => {
    const { sessionId } = await host.create('SIGN-IN', { sendImages: true })
    assert.equal((await visit(fixture, sessionId, faces.person(), { selfie: jpegOf(900) })).state, 'FAILED')
    assert.deepEqual(JSON.parse((await fixture.delivered(sessionId)).body.toString()).images, [])
    const left = await host.create('ENROLL', { sendImages: true })
    await host.call('POST', `/v2/verification-session/${left.sessionId}/cancel`)
    assert.deepEqual((await host.webhook(left.sessionId)).images, [])
  })

  test('a selfie that is missing, too large or not a JPEG is refused, and a good one after it still counts', async () => {
    const { sessionId } = await host.create('ENROLL', { sendImages: true })
    const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person() })
    const { device } = user
    await device.logEvent('submit')
    await device.flushEvents()
    const sealed = await device.seal(await device.payloadOf(capture))
    await assert.rejects(device.submitSealed(sealed), { code: 'INVALID_PAYLOAD' }, 'none')
    const png = jpegOf(400)
    png.set([0x89, 0x50, 0x4e, 0x47])
    await assert.rejects(device.submitSealed(sealed, await device.sealSelfie(png)), { code: 'INVALID_PAYLOAD' })
    const large = await device.sealSelfie(jpegOf(200 * 1024 + 1))
    await assert.rejects(device.submitSealed(sealed, large), { status: 400 })
    const open = Buffer.from(jpegOf(400)).toString('base64')
    await assert.rejects(device.submitSealed(sealed, open), { code: 'INVALID_PAYLOAD' }, 'not sealed')
    const state = await device.submitSealed(sealed, await device.sealSelfie(jpegOf(200 * 1024)))
    assert.equal(state.state, 'SUCCESS')
  })
})
