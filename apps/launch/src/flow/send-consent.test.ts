import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFlowFixture } from './testing/fixture.ts'

const UNKNOWN_VERSION = { status: 400, code: 'VALIDATION_FAILED' }

const versionsOf = ({ service }: Awaited<ReturnType<typeof createFlowFixture>>) =>
  service.bodies('consent').map(({ version }) => version)

test('the page names the version of its text', async () => {
  const fixture = await createFlowFixture()
  await fixture.flow.start()
  fixture.flow.actions.consent(true)
  await fixture.reaches('done')
  assert.deepEqual(versionsOf(fixture), ['2'])
})

test('the record names the language in which the question was read, not one that comes after the press', async () => {
  const fixture = await createFlowFixture({ answers: { consent: [UNKNOWN_VERSION] } })
  await fixture.flow.start()
  fixture.flow.actions.consent(true)
  fixture.speak('de')
  await fixture.reaches('done')
  assert.deepEqual(
    fixture.service.bodies('consent').map(({ locale }) => locale),
    ['ar', 'ar'],
  )
})

test('during an upgrade it repeats the answer until a process knows the version', async () => {
  const fixture = await createFlowFixture({ answers: { consent: [UNKNOWN_VERSION, UNKNOWN_VERSION] } })
  await fixture.flow.start()
  fixture.flow.actions.consent(true)
  await fixture.reaches('done')
  assert.deepEqual(versionsOf(fixture), ['2', '2', '2'])
})

test('where it meets no other process, it names the version before: nobody is stuck', async () => {
  const fixture = await createFlowFixture({ answers: { consent: Array(8).fill(UNKNOWN_VERSION) } })
  await fixture.flow.start()
  fixture.flow.actions.consent(true)
  await fixture.reaches('done')
  assert.deepEqual(versionsOf(fixture), [...Array(8).fill('2'), '1'])
})

test('any other refusal is not repeated', async () => {
  const fixture = await createFlowFixture({ answers: { consent: [{ status: 409, code: 'SESSION_NOT_OPEN' }] } })
  await fixture.flow.start()
  fixture.flow.actions.consent(true)
  await fixture.until(() => fixture.service.paths().filter((path) => path === 'open').length === 2)
  assert.deepEqual(versionsOf(fixture), ['2'])
})
