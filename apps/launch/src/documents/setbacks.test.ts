/** The document step when time runs out, replies are lost, or a process of the last release answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenedSession } from '@ostiary/contract'
import type { LoadedModels } from '../engine/engine.ts'
import { ended } from '../flow/testing/service.ts'
import { ASKED, createDocumentFixture, documentFirst, faceFirst } from './testing/fixture.ts'

const GONE = { status: 409, code: 'SESSION_NOT_OPEN' } as const
const usedUp = () => [{}, ended('COMPLETED')]

async function atReview(options: Parameters<typeof createDocumentFixture>[0]) {
  const fixture = await createDocumentFixture(options)
  await fixture.toDocument()
  await fixture.show()
  await fixture.reaches('document', { stage: 'review' })
  return fixture
}

test('time that the models take to load does not count as a document that cannot be read', async () => {
  const { promise: models, resolve: loaded } = Promise.withResolvers<LoadedModels>()
  const { toDocument, reaches, letPass, service } = await createDocumentFixture({
    requirements: ['identity_document', 'face'],
    answers: documentFirst(),
    loadModels: () => models,
  })
  service.ask({ match: null })
  await toDocument('passport')
  await reaches('document', { stage: 'show' })
  letPass(121_000)
  loaded({ id: 'faces-1', hash: 'A'.repeat(43), backend: 'wasm', threads: 1 })
  await reaches('document', { stage: 'review' })
  assert.deepEqual(service.bodies('failure'), [])
})

test('a session that ended because the step began too often is not shown as done', async () => {
  const { flow, until, agree } = await createDocumentFixture({
    answers: { ...faceFirst(), document: [GONE], open: usedUp() },
  })
  await agree()
  await until(() => ['done', 'ended'].includes(flow.view().state.at))
  assert.equal(flow.view().state.at, 'ended')
})

test('a session that ended with a report whose reply was lost is not shown as done', async () => {
  const { flow, toDocument, reaches, until } = await createDocumentFixture({
    answers: { ...faceFirst(), failure: ['no network', GONE], open: usedUp() },
    looks: { page: [{ guidance: 'doc_find' }] },
  })
  await toDocument('passport')
  await reaches('document', { stage: 'show' })
  flow.actions.document({ do: 'give_up' })
  await until(() => ['done', 'ended'].includes(flow.view().state.at))
  assert.equal(flow.view().state.at, 'ended')
})

test('facts whose reply was lost are in the list of what left the device', async () => {
  const { flow, until, payloads } = await atReview({
    answers: { ...faceFirst(), 'document/submit': ['no network', GONE], open: usedUp() },
  })
  flow.actions.document({ do: 'send' })
  await until(() => ['done', 'ended'].includes(flow.view().state.at))
  assert.ok((await payloads()).length > 0)
  assert.equal(flow.view().document?.sent.length, 1)
})

test('a session that a process of the last release opened is opened again, until one says what the step needs', async () => {
  const opens: Partial<OpenedSession>[] = [{ document: null }, { document: null }, { document: ASKED }]
  const { reaches, service, agree } = await createDocumentFixture({ answers: { ...faceFirst(), open: opens } })
  await agree()
  await reaches('document', { stage: 'look' })
  assert.equal(service.paths().filter((path) => path === 'open').length, 3)
})
