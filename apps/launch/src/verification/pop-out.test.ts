import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVerificationFixture } from './testing/fixture.ts'

const requirements = ['face', 'passkey']

test('only a framed session that requires a passkey needs a separate window', async () => {
  for (const [isFramed, wanted, mustPopOut] of [
    [true, requirements, true],
    [false, requirements, false],
    [true, ['face'], false],
  ] as const) {
    const { flow } = await createVerificationFixture({ requirements: [...wanted], apis: { isFramed } })
    await flow.start()
    assert.equal(flow.view().verification?.mustPopOut, mustPopOut)
  }
})

test('a window opens at the tap, navigates to the handoff URL, and the frame watches', async () => {
  const { flow, service, windows, reaches } = await createVerificationFixture({
    requirements,
    apis: { isFramed: true },
  })
  await flow.start()
  flow.actions.popOut()
  await reaches('handoff', { status: 'ready' })
  assert.deepEqual(windows, [flow.view().handoff?.url])
  service.change({ state: 'PASSKEY_ACTIVE' })
  await reaches('viewer', { stage: 'passkey' })
  assert.equal(windows.length, 1)
})

test('if no code can be made, the window is closed again', async () => {
  const { flow, windows, reaches } = await createVerificationFixture({
    requirements,
    answers: { handoff: [{ status: 409, code: 'HANDOFF_REFUSED' }] },
  })
  await flow.start()
  flow.actions.popOut()
  await reaches('handoff', { status: 'refused' })
  assert.deepEqual(windows, ['closed'])
})

test('if the browser opens no window, the code is shown on the screen', async () => {
  const { flow, reaches } = await createVerificationFixture({ requirements, apis: { openWindow: () => null } })
  await flow.start()
  flow.actions.popOut()
  await reaches('handoff', { status: 'ready' })
})
