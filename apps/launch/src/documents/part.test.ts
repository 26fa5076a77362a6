import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CapturePayload } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { goodCapture } from '../flow/testing/fixture.ts'
import { ended } from '../flow/testing/service.ts'
import { AT, createDocumentFixture, documentFirst, faceFirst, faceOf, PASTED_WIDTH, READ } from './testing/fixture.ts'

test('after the face, a passport is read in one picture side, shown value by value, and sent when the user agrees', async () => {
  const { flow, toDocument, show, reaches, payloads, service, seen, read, openPictures } = await createDocumentFixture({
    answers: faceFirst(),
  })
  await toDocument()
  assert.deepEqual(read.loaded, [], 'nothing is loaded before the choice')
  await show()
  await reaches('document', { stage: 'review' })
  assert.equal((await payloads()).length, 0, 'nothing is sent before the user agrees')
  assert.equal(seen.running, 0, 'the camera is off')
  flow.actions.document({ do: 'send' })
  await reaches('done')
  const [payload] = await payloads()
  const { nonce, attempt, log: _log, ...sent } = payload ?? assert.fail()
  assert.deepEqual([nonce, attempt], ['d1', 1])
  const { unusable: _unusable, expiredLately: _expiredLately, ...facts } = READ
  assert.deepEqual(sent, {
    v: 1,
    kind: 'document',
    sessionId: sent.sessionId,
    ...facts,
    sides: 1,
    match: { score: 700, capture: 'n' },
    consent: { version: '1', locale: 'ar' },
    indicators: '0'.repeat(21),
    browser: { kind: 'ordinary' },
    metadata: { camera: { width: 640, height: 480 } },
  })
  const events = service.events()
  assert.deepEqual(events.slice(events.lastIndexOf('camera_requested')), [
    'camera_requested',
    'camera_ready',
    'document_shown 1',
    'document_read 1',
    'document_confirmed',
  ])
  assert.equal(openPictures.size, 0, 'every picture is closed')
  assert.equal(read.closed, 1, 'the reader forgets what it read')
})

test('the screen stays on while the document is held before the camera, and no longer than its step', async () => {
  const { flow, toDocument, reaches, seen } = await createDocumentFixture({ answers: faceFirst() })
  await toDocument('passport')
  await reaches('document', { stage: 'review' })
  assert.equal(seen.awake.at(-1), true)
  flow.actions.document({ do: 'send' })
  await reaches('done')
  assert.equal(seen.awake.at(-1), false)
})

test('the document step asks for the rear camera in full HD, and the face step for its own', async () => {
  const { toDocument, reaches, seen } = await createDocumentFixture({ answers: faceFirst() })
  await toDocument('passport')
  await reaches('document', { stage: 'review' })
  assert.deepEqual(seen.wanted, [
    undefined,
    { facingMode: { ideal: 'environment' }, width: { ideal: 1920 }, height: { ideal: 1080 } },
  ])
})

test('a card is shown from both sides, front first', async () => {
  const { flow, toDocument, reaches, payloads, service, send } = await createDocumentFixture({
    answers: faceFirst(),
  })
  const sides: string[] = []
  flow.onChange(({ state, document }) => {
    if (state.at === 'document' && state.stage === 'show' && document?.side !== sides.at(-1))
      sides.push(document?.side ?? '')
  })
  await toDocument('card')
  await send()
  await reaches('done')
  assert.deepEqual(sides.slice(-2), ['front', 'back'])
  assert.equal((await payloads())[0]?.sides, 2)
  const logged = service.events().filter((event) => event.startsWith('document_'))
  assert.deepEqual(logged, [
    'document_shown 1',
    'document_read 1',
    'document_shown 2',
    'document_read 2',
    'document_confirmed',
  ])
})

test('an older card with portrait and lines on one side needs only that side', async () => {
  const old = { ...READ, type: 'national_id', format: 'TD2' } as const
  const { toDocument, reaches, payloads, send } = await createDocumentFixture({
    answers: faceFirst(),
    looks: {
      front: [
        { hasText: true, portrait: AT },
        { hasText: true, portrait: AT, read: old },
      ],
    },
  })
  await toDocument('card')
  await send()
  await reaches('done')
  const [payload] = await payloads()
  assert.deepEqual([payload?.format, payload?.sides], ['TD2', 1])
})

test('a back that is shown first is not read twice: the page asks for the front, and sends two sides', async () => {
  const card = { ...READ, type: 'national_id', format: 'TD1' } as const
  const { flow, toDocument, reaches, until, payloads, service } = await createDocumentFixture({
    answers: faceFirst(),
    looks: {
      front: [
        { hasText: true, read: card },
        { hasText: false, read: card, portrait: AT },
      ],
      back: [{}],
    },
  })
  const guidance = new Set<string>()
  flow.onChange(({ document }) => guidance.add(document?.guidance ?? ''))
  await toDocument('card')
  await reaches('document', { stage: 'review' })
  await until(() => guidance.has('doc_wrong_side'))
  flow.actions.document({ do: 'send' })
  await reaches('done')
  assert.equal((await payloads())[0]?.sides, 2)
  assert.ok(service.events().includes('document_shown 2'))
})

test('a portrait that cannot be found keeps the camera on and says so', async () => {
  const { flow, toDocument, reaches } = await createDocumentFixture({
    answers: faceFirst(),
    portraits: [{ is: 'none' }, { is: 'too_small', face: faceOf(30) }, { is: 'found', face: faceOf(90) }],
  })
  const guidance: string[] = []
  flow.onChange(({ document }) => {
    if (document && document.guidance !== guidance.at(-1)) guidance.push(document.guidance)
  })
  await toDocument('passport')
  await reaches('document', { stage: 'review' })
  assert.deepEqual(guidance.slice(-4), ['doc_find', 'doc_portrait', 'doc_too_far', 'doc_hold'])
})

test('the face of the person who holds the card is not taken for its portrait', async () => {
  const { flow, toDocument, reaches } = await createDocumentFixture({
    answers: faceFirst(),
    portraits: [
      { is: 'found', face: faceOf(300) },
      { is: 'found', face: faceOf(90) },
    ],
  })
  const guidance = new Set<string>()
  flow.onChange(({ document }) => guidance.add(document?.guidance ?? ''))
  await toDocument('card')
  await reaches('document', { stage: 'review' })
  assert.ok(guidance.has('doc_portrait'))
})

for (const choice of ['passport', 'card'] as const)
  test(`a ${choice} whose portrait looks pasted is sent with that hint`, async () => {
    const { toDocument, reaches, payloads, send } = await createDocumentFixture({
      answers: faceFirst(),
      portraits: [{ is: 'found', face: faceOf(PASTED_WIDTH) }],
    })
    await toDocument(choice)
    await send()
    await reaches('done')
    assert.deepEqual((await payloads())[0]?.hints, ['pasted_portrait'])
  })

test('document first: no face is compared yet, and the capture that follows names the document', async () => {
  const { flow, toDocument, reaches, payloads, service, send } = await createDocumentFixture({
    requirements: ['identity_document', 'face'],
    answers: { ...documentFirst(), 'document/submit': [{ state: 'DOC_DONE' }] },
  })
  service.ask({ match: null })
  await toDocument('passport')
  await send()
  await reaches('camera', { status: 'prime' })
  assert.equal((await payloads())[0]?.match, undefined)
  flow.actions.startCamera()
  await reaches('done')
  const [capture] = (await service.opened()) as CapturePayload[]
  assert.deepEqual(capture?.match, { score: 700, document: 'd1' })
})

test('document first, after a reload before the face: the capture has no match, and the document is asked for again', async () => {
  const { flow, reaches, payloads, show, service, send } = await createDocumentFixture({
    requirements: ['identity_document', 'face'],
    answers: { open: [{ state: 'DOC_DONE' }], submit: [{ state: 'DOC_ACTIVE' }] },
  })
  await flow.start()
  await reaches('camera', { status: 'prime' })
  flow.actions.startCamera()
  await reaches('document', { stage: 'intro' })
  const [capture] = (await service.opened()) as CapturePayload[]
  assert.equal(capture?.match, undefined)
  await show()
  await send()
  await reaches('done')
  assert.deepEqual((await payloads())[0]?.match, { score: 700, capture: 'n' })
})

test('a document alone needs no face, no portrait and only one side of a card', async () => {
  let loads = 0
  const { flow, toDocument, reaches, payloads, service, send } = await createDocumentFixture({
    requirements: ['identity_document'],
    answers: documentFirst(),
    engine: {
      findPortrait: () => assert.fail('no portrait is wanted'),
      load: () => {
        loads++
        return Promise.reject(new Error('no face is looked at'))
      },
    },
  })
  service.ask({ match: null })
  await toDocument('card')
  await send()
  await reaches('done')
  const [payload] = await payloads()
  assert.deepEqual([payload?.sides, payload?.match], [1, undefined])
  assert.equal(flow.view().document?.alone, true)
  assert.equal(loads, 0)
})

test('after a reload or on another device, the face is looked at once more: no age, and no try of the face step', async () => {
  const outputs: unknown[] = []
  const match = (capture: string) => ({ match: { threshold: 0.42, betterLightFrom: 0.35, capture } })
  const { flow, reaches, show, service, payloads, send } = await createDocumentFixture({
    answers: { open: [{ state: 'DOC_ACTIVE' }], submit: [{ state: 'DOC_ACTIVE' }] },
    captures: [
      async (deps) => {
        outputs.push(deps.outputs)
        // The service will accept this look, and from then on it is the one to compare with.
        service.ask(match('look1'))
        return goodCapture(deps)
      },
    ],
  })
  service.ask(match('of the other device'))
  await flow.start()
  await reaches('document', { stage: 'look' })
  flow.actions.startCamera()
  await reaches('document', { stage: 'intro' })
  assert.deepEqual(
    service.bodies('challenge').map((body) => body.for),
    ['match'],
  )
  assert.deepEqual(outputs, [{ ages: false, selfie: false }])
  await show()
  await send()
  await reaches('done')
  assert.deepEqual((await payloads())[0]?.match, { score: 700, capture: 'look1' })
})

test('a look that was not accepted is asked for again, and costs nothing', async () => {
  const { flow, reaches, service } = await createDocumentFixture({
    answers: {
      open: [{ state: 'DOC_ACTIVE', attemptsLeft: 0 }],
      submit: [{ state: 'DOC_ACTIVE', errors: [codes.LIVENESS_INCONCLUSIVE] }],
    },
  })
  service.ask({ match: { threshold: 0.42, betterLightFrom: 0.35, capture: 'of the other device' } })
  await flow.start()
  await reaches('document', { stage: 'look' })
  flow.actions.startCamera()
  await reaches('document', { stage: 'look_again' })
  assert.deepEqual(
    service.paths().filter((path) => path === 'failure'),
    [],
  )
})

test('a desktop offers the phone first, once', async () => {
  const { flow, toDocument, reaches } = await createDocumentFixture({
    answers: faceFirst(),
    browser: { platform: 'desktop' },
  })
  await toDocument('passport')
  await reaches('document', { stage: 'device' })
  flow.actions.document({ do: 'use_camera' })
  await reaches('document', { stage: 'review' })
  flow.actions.document({ do: 'other' })
  await reaches('document', { stage: 'choose' })
  flow.actions.document({ do: 'choose', choice: 'passport' })
  await reaches('document', { stage: 'review' })
})

test('a document that moves to another device leaves nothing here', async () => {
  const { flow, toDocument, reaches, read, seen } = await createDocumentFixture({ answers: faceFirst() })
  await toDocument('passport')
  await reaches('document', { stage: 'review' })
  flow.actions.askHandoff()
  await reaches('handoff', { status: 'ready' })
  assert.equal(flow.view().document?.toSend, null)
  assert.deepEqual([read.closed, seen.running], [1, 0])
})

test('where only passports count, there is nothing to choose', async () => {
  const { flow, toDocument, reaches } = await createDocumentFixture({
    answers: faceFirst(),
    asked: { acceptedTypes: ['passport'] },
  })
  await toDocument()
  flow.actions.document({ do: 'begin' })
  await reaches('document', { stage: 'review' })
  assert.equal(flow.view().document?.choice, 'passport')
})

test('tries that are used up end the flow', async () => {
  const { toDocument, reaches, send } = await createDocumentFixture({
    answers: { ...faceFirst(), 'document/submit': [ended('COMPLETED', [codes.FACE_NOT_MATCH])] },
    score: 0.1,
  })
  await toDocument('passport')
  await send()
  await reaches('ended')
})
