import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as codes from '@ostiary/contract/codes'
import { AT, createDocumentFixture, documentFirst, faceFirst, READ } from './testing/fixture.ts'

const page = (read: Partial<typeof READ>) => ({ page: [{ read: { ...READ, ...read }, portrait: AT }] })

test('an expired document is named before it is sent, and the user may take another one without losing a try', async () => {
  const { flow, toDocument, reaches, payloads } = await createDocumentFixture({
    answers: faceFirst(),
    looks: page({ expiry: 'expired' }),
  })
  await toDocument('passport')
  await reaches('document', { stage: 'review' })
  assert.equal(flow.view().document?.doubt, 'expired')
  flow.actions.document({ do: 'other' })
  await reaches('document', { stage: 'choose' })
  assert.equal((await payloads()).length, 0)
})

for (const [code, problem, read] of [
  [codes.DOCUMENT_EXPIRED, 'expired', { expiry: 'expired' }],
  [codes.DOCUMENT_EXPIRED, 'expired_lately', { expiry: 'expired', expiredLately: true }],
  [codes.FACE_NOT_MATCH, 'other_face', {}],
  [codes.DOCUMENT_UNSUPPORTED, 'unsupported', {}],
  [codes.DOB_NOT_FOUND, 'no_birth_date', {}],
  [codes.QUALITY_LOW, 'neutral', {}],
] as const) {
  test(`a document that the service refuses with ${code} has its own words: ${problem}`, async () => {
    const { flow, toDocument, reaches, service, send } = await createDocumentFixture({
      answers: { ...faceFirst(), 'document/submit': [{ state: 'DOC_ACTIVE', errors: [code] }] },
      looks: page(read),
    })
    await toDocument('passport')
    await reaches('document', { stage: 'review' })
    service.ask({ nonce: 'd2', attempt: 2, attemptsLeft: 2 })
    flow.actions.document({ do: 'send' })
    await reaches('document', { stage: 'problem' })
    const { document } = flow.view()
    assert.deepEqual([document?.problem, document?.step?.attemptsLeft], [problem, 2])
    flow.actions.document({ do: 'again' })
    await send()
    await reaches('done')
  })
}

for (const [unusable, code] of [
  ['unsupported', codes.DOCUMENT_UNSUPPORTED],
  ['no_birth_date', codes.DOB_NOT_FOUND],
] as const) {
  test(`a document that gives nothing to send is reported with ${code}, without its facts`, async () => {
    const { flow, toDocument, reaches, service, payloads } = await createDocumentFixture({
      answers: faceFirst(),
      looks: page({ unusable }),
    })
    await toDocument('passport')
    await reaches('document', { stage: 'problem' })
    assert.equal(flow.view().document?.problem, unusable)
    assert.deepEqual(
      service.bodies('failure').map((body) => body.code),
      [code],
    )
    assert.equal((await payloads()).length, 0)
  })
}

test('a user may say that the document cannot be read, after a while: that costs a try of the document and none of the face', async () => {
  const { flow, toDocument, show, reaches, until, letPass, service, seen } = await createDocumentFixture({
    answers: faceFirst(),
    looks: { page: [{ guidance: 'doc_blurry' }] },
  })
  await toDocument()
  const { attemptsLeft } = flow.view().session ?? assert.fail()
  await show()
  await reaches('document', { stage: 'show' })
  assert.equal(flow.view().document?.mayGiveUp, false)
  letPass(15_000)
  // The other long pause, after which the page gives up by itself, has passed too.
  await until(() => service.paths().includes('failure'))
  await reaches('document', { stage: 'problem' })
  assert.equal(flow.view().document?.problem, 'unreadable')
  assert.equal(service.bodies('failure')[0]?.code, codes.DOCUMENT_UNREADABLE)
  assert.equal(flow.view().session?.attemptsLeft, attemptsLeft)
  assert.equal(seen.running, 0)
})

test('a face and a portrait that are almost alike get better light before the try counts', async () => {
  const { flow, toDocument, reaches, payloads } = await createDocumentFixture({
    answers: faceFirst(),
    score: 0.38,
  })
  await toDocument('passport')
  await reaches('document', { stage: 'light' })
  flow.actions.document({ do: 'go_on' })
  await reaches('document', { stage: 'review' })
  assert.equal(flow.view().document?.doubt, 'other_face')
  flow.actions.document({ do: 'send' })
  await reaches('done')
  assert.deepEqual((await payloads())[0]?.match, { score: 380, capture: 'n' })
})

test('at the threshold a face matches, and far below it nothing is gained by light', async () => {
  for (const [score, doubt] of [
    [0.42, null],
    [0.1, 'other_face'],
  ] as const) {
    const { flow, toDocument, reaches } = await createDocumentFixture({ answers: faceFirst(), score })
    await toDocument('passport')
    await reaches('document', { stage: 'review' })
    assert.equal(flow.view().document?.doubt, doubt)
  }
})

test('a picture on a screen is asked for the real document once, and is never refused', async () => {
  const { flow, toDocument, reaches, payloads, send } = await createDocumentFixture({
    answers: faceFirst(),
    looks: page({ hints: ['screen'] }),
  })
  await toDocument('passport')
  await reaches('document', { stage: 'problem' })
  assert.equal(flow.view().document?.problem, 'screen')
  flow.actions.document({ do: 'again' })
  await send()
  await reaches('done')
  assert.deepEqual((await payloads())[0]?.hints, ['screen'])
})

test('a check digit that fails is shown and sent, and the service ends the flow', async () => {
  const { toDocument, reaches, payloads, send } = await createDocumentFixture({
    answers: {
      ...faceFirst(),
      'document/submit': [{ state: 'COMPLETED', flowStatus: 'COMPLETED', errors: [codes.DOCUMENT_TAMPERED] }],
    },
    looks: page({ checks: { number: true, birth: false, expiry: true, composite: false } }),
  })
  await toDocument('passport')
  await send()
  await reaches('ended')
  assert.equal((await payloads())[0]?.checks.birth, false)
})

test('a reader that cannot be loaded is reported without a try, and is loaded again', async () => {
  const { flow, toDocument, reaches, service, seen } = await createDocumentFixture({
    answers: faceFirst(),
    loadFailures: [true],
  })
  await toDocument('passport')
  await reaches('document', { stage: 'problem' })
  assert.equal(flow.view().document?.problem, 'not_loaded')
  assert.equal(seen.running, 0)
  flow.actions.document({ do: 'again' })
  await reaches('document', { stage: 'review' })
  // The page does not wait for the answer to its report, so the report may arrive after the review is there.
  while (service.bodies('failure').length === 0) await new Promise((resolve) => setImmediate(resolve))
  const reported = service.bodies('failure').map(({ code }) => code)
  assert.deepEqual(reported, [codes.DOCUMENT_SCAN_ERROR], 'which the service only notes')
})

test('a camera that does not start costs no try, and says why', async () => {
  const { flow, toDocument, reaches, service } = await createDocumentFixture({
    requirements: ['identity_document'],
    answers: documentFirst(),
    cameras: ['permission_denied'],
  })
  service.ask({ match: null })
  await toDocument('passport')
  await reaches('document', { stage: 'no_camera' })
  assert.equal(flow.view().document?.cameraProblem, 'permission_denied')
  flow.actions.document({ do: 'again' })
  await reaches('document', { stage: 'review' })
  assert.deepEqual(service.bodies('failure'), [])
})

test('a user who leaves the page for a while finds the camera off', async () => {
  const { flow, toDocument, reaches, hide, seen } = await createDocumentFixture({
    answers: faceFirst(),
    looks: { page: [{ guidance: 'doc_find' }] },
  })
  await toDocument('passport')
  await reaches('document', { stage: 'show' })
  hide()
  await reaches('document', { stage: 'no_camera' })
  assert.deepEqual([flow.view().document?.cameraProblem, seen.running], ['track_ended', 0])
})

test('the user may choose a camera and turn on its light', async () => {
  const { flow, toDocument, reaches, until, seen } = await createDocumentFixture({
    answers: faceFirst(),
    looks: { page: [{ guidance: 'doc_find' }] },
    controls: { torchOf: () => false },
  })
  await toDocument('passport')
  await reaches('document', { stage: 'show' })
  flow.actions.document({ do: 'torch' })
  await until(() => flow.view().document?.torch === true)
  flow.actions.document({ do: 'camera', id: 'c2' })
  await until(() => seen.wanted.length === 3)
  assert.deepEqual(seen.wanted[2]?.deviceId, { exact: 'c2' })
  await reaches('document', { stage: 'show' })
  flow.actions.cancel()
  await reaches('cancelled')
  assert.equal(seen.running, 0)
})

test('a face engine that was started again holds no face: the page looks once more and sends nothing without a comparison', async () => {
  const { toDocument, reaches, payloads, service } = await createDocumentFixture({
    answers: faceFirst(),
    engine: { comparePortrait: async () => undefined },
  })
  await toDocument('passport')
  await reaches('document', { stage: 'look' })
  assert.equal((await payloads()).length, 0)
  assert.deepEqual(service.bodies('failure'), [])
})
