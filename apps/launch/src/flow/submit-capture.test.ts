import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFlowFixture } from './testing/fixture.ts'
import { ended } from './testing/service.ts'

test('a lost connection does not lose a finished capture: the same sealed text is sent until it is accepted', async () => {
  const { flow, service, hide, reaches, agree } = await createFlowFixture({
    answers: { submit: ['no network', 'no network', { status: 503, code: 'DEPENDENCY_DOWN' }] },
  })
  const offline: boolean[] = []
  flow.onChange((view) => {
    if (view.offline !== offline.at(-1)) offline.push(view.offline)
    // A tab_hidden event must not be logged between the last entry and the seal that names it.
    if (view.offline) hide()
  })
  await agree()
  await reaches('done')
  const sealed = service.bodies('submit').map((body) => body.sealed)
  assert.equal(sealed.length, 4)
  assert.equal(new Set(sealed).size, 1)
  assert.deepEqual(offline, [false, true, false])
  assert.equal(service.events().at(-1), 'submit')
})

test('after a submit whose answer was lost, the page opens the session again', async () => {
  const refused = { status: 409, code: 'SESSION_NOT_OPEN' }
  const judged = await createFlowFixture({
    answers: { submit: ['no network', refused], open: [{}, ended('COMPLETED')] },
  })
  await judged.flow.start()
  judged.flow.actions.consent(true)
  await judged.reaches('done')
  assert.deepEqual(judged.service.paths().slice(-3), ['submit', 'submit', 'open'])
  const tooLate = await createFlowFixture({
    answers: { submit: ['no network', refused], open: [{}, { state: 'READY' }] },
  })
  await tooLate.flow.start()
  tooLate.flow.actions.consent(true)
  await tooLate.reaches('retry', { tip: 'connection' })
})

test('every capture has the 21 indicators and the size of the camera’s pictures', async () => {
  const { service, reaches, agree } = await createFlowFixture()
  await agree()
  await reaches('done')
  const [payload] = await service.opened()
  assert.ok(typeof payload === 'object' && payload && 'indicators' in payload && 'metadata' in payload)
  assert.match(String(payload.indicators), /^[01-]{21}$/)
  assert.deepEqual(payload.metadata, { camera: { width: 640, height: 480 } })
})
