import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SESSION } from './testing/service.ts'
import { createStage } from './testing/stage.ts'

test('after a reload the page is the same device and goes on after the consent', async () => {
  const { flow, shelf, service } = await createStage()
  await flow.start()
  flow.actions.consent(true)
  const kept = new Map(shelf)
  const again = await createStage({ shelf: kept, answers: { open: [{ state: 'READY' }] } })
  await again.flow.start()
  assert.deepEqual(again.flow.view().state, { at: 'camera', status: 'prime' })
  assert.deepEqual(again.service.bodies('open')[0].deviceKey, service.bodies('open')[0].deviceKey)
  again.flow.actions.startCamera()
  await again.reaches('done')
  assert.deepEqual(again.service.events().slice(-9)[0], 'page_open')
})

test('what the server has of the log is never ahead of what a reload would go on with', async () => {
  const { flow, shelf, service, reaches } = await createStage({
    answers: { submit: [{ state: 'READY', errors: [-32] }] },
  })
  await flow.start()
  flow.actions.consent(true)
  await reaches('retry')
  const sent = service
    .bodies('events')
    .flatMap(({ events }) => events)
    .at(-1)
  const { saved } = shelf.get(SESSION.sessionId) ?? { saved: null }
  assert.ok(saved && saved.log.seq >= sent.seq)
})

test('a link that is unknown, gone or open elsewhere says so; a network that is away is waited for', async () => {
  for (const [status, problem] of [
    [404, 'unknown_link'],
    [410, 'gone'],
    [403, 'other_device'],
  ] as const) {
    const { flow } = await createStage({ answers: { open: [{ status, code: 'ANY' }] } })
    await flow.start()
    assert.deepEqual(flow.view().state, { at: 'problem', problem })
  }
  const { flow, seen } = await createStage({ answers: { open: ['no network', 'no network'] } })
  await flow.start()
  assert.deepEqual(seen.screens, ['loading', 'problem', 'welcome'])
})
