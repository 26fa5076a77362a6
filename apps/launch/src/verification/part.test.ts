import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CapturePayload } from '@ostiary/contract'
import { ended } from '../flow/testing/service.ts'
import { faceOf } from '../local-token/testing/faces.ts'
import { JPEG, rehearse } from './testing/rehearsal.ts'

const payloads = async (service: Awaited<ReturnType<typeof rehearse>>['service']) =>
  (await service.opened()) as CapturePayload[]

test('[D-006] after a capture the engine forgets it, and no vector stays in memory as it was', async () => {
  for (const type of ['ENROLL', 'SIGN-IN', 'VERIFY'] as const) {
    const { capture, reaches, given, begun } = await rehearse({ type })
    await capture()
    await reaches('done')
    assert.equal(given.length, 1)
    assert.ok(given.every((vector) => vector.every((value) => value === 0)))
    assert.deepEqual(begun, [undefined, undefined], 'when the vector is taken, and when the try is over')
  }
})

test('an enrolment that succeeded leaves a token in this browser, and a sign-in finds it', async () => {
  const { capture, reaches, tokens, until } = await rehearse({ type: 'ENROLL' })
  await capture()
  await reaches('done')
  await until(() => tokens.kept.size === 1)
  const signIn = await rehearse({ tokens, facts: { matching: 'local_first' } })
  await signIn.capture()
  await signIn.reaches('done')
  const [payload] = await payloads(signIn.service)
  assert.ok(payload?.local && 'hit' in payload.local && payload.local.hit)
  assert.equal(payload.face, undefined)
})

test('an enrolment that was cancelled or failed leaves none', async () => {
  const failed = { ...ended('COMPLETED', [1]), state: 'FAILED' }
  const { capture, reaches, tokens } = await rehearse({ type: 'ENROLL', answers: { submit: [failed] } })
  await capture()
  await reaches('ended')
  assert.equal(tokens.kept.size, 0)
})

test('a claim that was not believed is followed by a try with the vector', async () => {
  const { capture, reaches, tokens, until } = await rehearse({ type: 'ENROLL' })
  await capture()
  await reaches('done')
  await until(() => tokens.kept.size === 1)
  const again = await rehearse({
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

test('a token of somebody who is not enrolled any more is dropped', async () => {
  const { capture, reaches, tokens, until } = await rehearse({ type: 'ENROLL' })
  await capture()
  await reaches('done')
  await until(() => tokens.kept.size === 1)
  const gone = { ...ended('COMPLETED', [-36]), state: 'FAILED' }
  const signIn = await rehearse({ tokens, answers: { submit: [gone] } })
  await signIn.capture()
  await signIn.reaches('ended')
  await signIn.until(() => tokens.kept.size === 0)
})

test('[D-005] [D-021] a picture is sent, sealed, exactly where the host gets it', async () => {
  const without = await rehearse()
  await without.capture()
  await without.reaches('done')
  assert.deepEqual(await without.service.opened('selfie'), [])
  const { capture, reaches, service } = await rehearse({ facts: { sendImages: true } })
  await capture()
  await reaches('done')
  assert.deepEqual(await service.opened('selfie'), [{ jpeg: Buffer.from(JPEG).toString('base64') }])
})

test('a selfie is not lost with the connection: the same sealed text is sent again', async () => {
  const { capture, reaches, service } = await rehearse({
    facts: { sendImages: true },
    answers: { submit: ['no network', 'no network'] },
  })
  await capture()
  await reaches('done')
  const selfies = service.bodies('submit').map(({ selfie }) => selfie)
  assert.equal(selfies.length, 3)
  assert.equal(new Set(selfies).size, 1)
})

test('while the service still works, the page asks again until it knows what came of it', async () => {
  const { capture, reaches, service } = await rehearse({
    answers: {
      submit: [{ state: 'SERVER_COMPARE' }],
      open: [{}, { state: 'SERVER_COMPARE' }, { ...ended('COMPLETED'), state: 'SUCCESS' }],
    },
  })
  await capture()
  await reaches('done')
  assert.deepEqual(service.paths().slice(-3), ['submit', 'open', 'open'])
})

test('a page that is loaded while the service works goes on with what came of it', async () => {
  const { flow, reaches, seen } = await rehearse({
    answers: { open: [{ state: 'FINALIZING' }, { ...ended('COMPLETED'), state: 'SUCCESS' }] },
  })
  await flow.start()
  await reaches('done')
  assert.deepEqual(seen.screens, ['loading', 'sending', 'done'])
})

test('an engine that fails to embed costs the try like any other fault of the device', async () => {
  const { flow, capture, reaches, service, until } = await rehearse({ face: faceOf(1).subarray(0, 3) })
  await capture()
  await reaches('retry')
  await until(() => service.bodies('failure')[0]?.code === -22)
  assert.equal(flow.view().session?.flowStatus, null)
})
