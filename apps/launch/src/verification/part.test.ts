import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CapturePayload } from '@ostiary/contract'
import { ended } from '../flow/testing/service.ts'
import { faceOf } from '../local-token/testing/faces.ts'
import { createVerificationFixture, JPEG } from './testing/fixture.ts'

const payloads = async (service: Awaited<ReturnType<typeof createVerificationFixture>>['service']) =>
  (await service.opened()) as CapturePayload[]

/** A browser in which a person has enrolled. */
async function enrolledHere() {
  const { capture, reaches, tokens, until } = await createVerificationFixture({ type: 'ENROLL' })
  await capture()
  await reaches('done')
  await until(() => tokens.kept.size === 1)
  return tokens
}

test('[D-006] after a capture the engine forgets its samples, and every vector in memory is wiped', async () => {
  for (const type of ['ENROLL', 'SIGN-IN', 'VERIFY'] as const) {
    const { capture, reaches, given, begun } = await createVerificationFixture({ type })
    await capture()
    await reaches('done')
    assert.equal(given.length, 1)
    assert.ok(given.every((vector) => vector.every((value) => value === 0)))
    assert.deepEqual(begun, [undefined, undefined], 'when the vector is taken, and when the try is over')
  }
})

test('[D-006] a withheld vector stays in memory only until the service has answered', async () => {
  const tokens = await enrolledHere()
  const copies: Float32Array[] = []
  const watched = (vector: Float32Array): Float32Array =>
    Object.assign(vector, {
      slice: () => {
        const copy = watched(Float32Array.from(vector))
        copies.push(copy)
        return copy
      },
    })
  const { capture, reaches } = await createVerificationFixture({
    tokens,
    face: watched(faceOf(1)),
    facts: { matching: 'local_first' },
    requirements: ['face', 'passkey'],
    answers: { submit: [{ state: 'PASSKEY_ACTIVE' }] },
  })
  await capture()
  await reaches('passkey')
  assert.equal(copies.length, 2, 'the engine’s vector and the withheld copy')
  assert.ok(copies.every((vector) => vector.every((value) => value === 0)))
})

test('a successful enrolment stores a token in this browser, and a sign-in finds it', async () => {
  const tokens = await enrolledHere()
  const signIn = await createVerificationFixture({ tokens, facts: { matching: 'local_first' } })
  await signIn.capture()
  await signIn.reaches('done')
  const [payload] = await payloads(signIn.service)
  assert.ok(payload?.local && 'hit' in payload.local && payload.local.hit)
  assert.equal(payload.face, undefined)
})

test('a cancelled or failed enrolment stores no token', async () => {
  const failed = { ...ended('COMPLETED', [1]), state: 'FAILED' }
  const { capture, reaches, tokens } = await createVerificationFixture({
    type: 'ENROLL',
    answers: { submit: [failed] },
  })
  await capture()
  await reaches('ended')
  assert.equal(tokens.kept.size, 0)
})

test('an enrolment whose key was not recorded stores no token and keeps the old one', async () => {
  const success = { ...ended('COMPLETED'), state: 'SUCCESS' }
  for (const answer of [{ ...success, localKeyBound: false }, success]) {
    const { capture, tokens, until, seen } = await createVerificationFixture({
      type: 'ENROLL',
      answers: { submit: [answer] },
    })
    await capture()
    await until(() => seen.left.length === 1)
    assert.equal(tokens.kept.size, 0)
  }
  const first = await enrolledHere()
  const kept = first.kept.get('shop')
  const bound = { ...success, localKeyBound: false }
  const again = await createVerificationFixture({ type: 'ENROLL', tokens: first, answers: { submit: [bound] } })
  await again.capture()
  await again.until(() => again.seen.left.length === 1)
  assert.equal(first.kept.get('shop'), kept)
})

test('a second enrolment in the same browser stores a token with the new key', async () => {
  const tokens = await enrolledHere()
  const old = tokens.kept.get('shop')
  const again = await createVerificationFixture({ type: 'ENROLL', tokens })
  await again.capture()
  await again.reaches('done')
  await again.until(() => tokens.kept.get('shop') !== old)
  const [payload] = await payloads(again.service)
  assert.deepEqual(payload?.local, { key: tokens.kept.get('shop')?.keys.publicKey })
})

test('[D-050] if the service does not know the key of a claim, the vector follows without another capture', async () => {
  const tokens = await enrolledHere()
  const again = await createVerificationFixture({
    tokens,
    facts: { matching: 'local_first', sendImages: true },
    answers: { submit: [{ state: 'FACE_ACTIVE' }] },
  })
  await again.capture()
  await again.reaches('done')
  assert.equal(tokens.kept.size, 0, 'the token is deleted')
  assert.deepEqual([again.seen.cameras, again.given.length], [1, 1])
  assert.deepEqual(again.seen.screens.slice(-3), ['capture', 'sending', 'done'])
  const [claim, vector, ...more] = await payloads(again.service)
  assert.ok(claim && vector)
  assert.deepEqual([Object.hasOwn(claim, 'local'), Object.hasOwn(claim, 'face')], [true, false])
  assert.deepEqual([Object.hasOwn(vector, 'local'), Object.hasOwn(vector, 'face')], [false, true])
  assert.deepEqual([vector.nonce, vector.attempt, more], [claim.nonce, claim.attempt, []])
  assert.equal((await again.service.opened('selfie')).length, 2)
  assert.deepEqual(again.service.events().slice(-3), ['capture_done', 'submit', 'submit'])
})

test('a service that keeps asking for the vector gets it once; then the user tries again', async () => {
  const tokens = await enrolledHere()
  const again = await createVerificationFixture({
    tokens,
    facts: { matching: 'local_first' },
    answers: { submit: [{ state: 'FACE_ACTIVE' }, { state: 'FACE_ACTIVE' }] },
  })
  await again.capture()
  await again.reaches('camera', { status: 'prime' })
  assert.equal(again.service.bodies('submit').length, 2)
})

test('a face that the vector does not match either is an ordinary miss, and the next try sends the vector', async () => {
  const tokens = await enrolledHere()
  const again = await createVerificationFixture({
    tokens,
    facts: { matching: 'local_first' },
    answers: { submit: [{ state: 'FACE_ACTIVE' }, { state: 'CONSENTED', errors: [-9] }] },
  })
  await again.capture()
  await again.reaches('retry', { tip: 'neutral' })
  again.flow.actions.startCamera()
  await again.reaches('done')
  const sent = await payloads(again.service)
  assert.deepEqual(
    sent.map(({ face }) => face !== undefined),
    [false, true, true],
  )
})

test('after a claim that was not accepted, the next try sends the vector', async () => {
  const tokens = await enrolledHere()
  const again = await createVerificationFixture({
    tokens,
    facts: { matching: 'local_first' },
    answers: { submit: [{ state: 'CONSENTED', errors: [-9] }] },
  })
  await again.capture()
  await again.reaches('retry', { tip: 'neutral' })
  again.flow.actions.startCamera()
  await again.reaches('done')
  const sent = await payloads(again.service)
  assert.deepEqual(
    sent.map(({ face, local }) => [face !== undefined, local !== undefined]),
    [
      [false, true],
      [true, false],
    ],
  )
})

test('the token of a person who is no longer enrolled is deleted', async () => {
  const tokens = await enrolledHere()
  const gone = { ...ended('COMPLETED', [-36]), state: 'FAILED' }
  const signIn = await createVerificationFixture({ tokens, answers: { submit: [gone] } })
  await signIn.capture()
  await signIn.reaches('ended')
  await signIn.until(() => tokens.kept.size === 0)
})

test('[D-005] [D-021] a sealed picture is sent exactly if the host gets it', async () => {
  const without = await createVerificationFixture()
  await without.capture()
  await without.reaches('done')
  assert.deepEqual(await without.service.opened('selfie'), [])
  const { capture, reaches, service } = await createVerificationFixture({ facts: { sendImages: true } })
  await capture()
  await reaches('done')
  assert.deepEqual(await service.opened('selfie'), [{ jpeg: Buffer.from(JPEG).toString('base64') }])
})

test('a lost connection does not lose a selfie: the same sealed text is sent again', async () => {
  const { capture, reaches, service } = await createVerificationFixture({
    facts: { sendImages: true },
    answers: { submit: ['no network', 'no network'] },
  })
  await capture()
  await reaches('done')
  const selfies = service.bodies('submit').map(({ selfie }) => selfie)
  assert.equal(selfies.length, 3)
  assert.equal(new Set(selfies).size, 1)
})

test('while the service is still processing, the page asks again until there is an outcome', async () => {
  const { capture, reaches, service } = await createVerificationFixture({
    answers: {
      submit: [{ state: 'SERVER_COMPARE' }],
      open: [{}, { state: 'SERVER_COMPARE' }, { ...ended('COMPLETED'), state: 'SUCCESS' }],
    },
  })
  await capture()
  await reaches('done')
  assert.deepEqual(service.paths().slice(-3), ['submit', 'open', 'open'])
})

test('a page loaded while the service is processing continues with the outcome', async () => {
  const { flow, reaches, seen } = await createVerificationFixture({
    answers: { open: [{ state: 'FINALIZING' }, { ...ended('COMPLETED'), state: 'SUCCESS' }] },
  })
  await flow.start()
  await reaches('done')
  assert.deepEqual(seen.screens, ['loading', 'sending', 'done'])
})

test('an engine that fails to embed fails the try, like any other error of the device', async () => {
  const { flow, capture, reaches, service, until } = await createVerificationFixture({ face: faceOf(1).subarray(0, 3) })
  await capture()
  await reaches('retry')
  await until(() => service.bodies('failure')[0]?.code === -22)
  assert.equal(flow.view().session?.flowStatus, null)
})
