import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Handoff, LaunchState } from '@ostiary/contract'
import { assertError } from '../testing/harness.ts'
import { makeSubmission, reachChallenge, send } from './testing/capture.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage, okOf } from './testing/page.ts'

const fixture = await createLaunchFixture()

const TEN_MINUTES_MS = 600_000
const REFUSED = [409, 'SESSION_NOT_OPEN', 'The time of this session cannot be extended'] as const
const allowed = <T>(work: () => Promise<T>, more: object = {}) =>
  fixture.withSettings({ userMayExtend: true, ...more }, work)
const after10 = (expiresAt: string) => new Date(Date.parse(expiresAt) + TEN_MINUTES_MS).toISOString()

async function opened(body: object = {}) {
  const created = await fixture.create(body)
  const page = await createPage(fixture, created.sessionId)
  const session = await page.open()
  return { created, page, session }
}

describe('a user who needs more time', () => {
  test('gets ten minutes once where the tenant allows it; reads, state and result have the new `expiresAt`', async () => {
    await allowed(async () => {
      const { created, page, session } = await opened()
      assert.equal(session.mayExtend, true)
      const later = after10(created.expiresAt)
      assert.equal(okOf<LaunchState>(await page.call('extend')).expiresAt, later)
      // The reply was lost, and the page asks again.
      assert.equal(okOf<LaunchState>(await page.call('extend')).expiresAt, later)
      const reloaded = await page.open()
      assert.deepEqual([reloaded.expiresAt, reloaded.mayExtend], [later, false])
      assert.equal((await fixture.result(created.token)).expiresAt, later)
      await page.consent()
      fixture.harness.clock.advance(900_000 + 500_000)
      okOf(await send(page, await makeSubmission(page, await page.challenge())))
      const result = await fixture.result(created.token)
      assert.deepEqual([result.sessionStatus, result.expiresAt], ['AGE_ABOVE_THRESHOLD', later])
    })
  })

  test('is ended by the sweeper at the new time and not at the old one', async () => {
    await allowed(async () => {
      const { created, page } = await opened({ callback: { url: 'http://127.0.0.1:49999/hook' } })
      okOf(await page.call('extend'))
      const { wire, clock } = fixture.harness
      const sweep = () => wire.age.ending.expireDue(wire.platform.cells.forId(fixture.tenantId))
      clock.advance(901_000)
      await sweep()
      assert.equal((await fixture.result(created.token)).flowStatus, null)
      clock.advance(TEN_MINUTES_MS)
      await sweep()
      const { flowStatus, expiresAt } = await fixture.result(created.token)
      assert.deepEqual([flowStatus, expiresAt], ['EXPIRED', after10(created.expiresAt)])
      assert.deepEqual(await fixture.webhooksOf(created.sessionId), ['age.session.expired'])
    })
  })

  test('gets no second extension on another device', async () => {
    await allowed(async () => {
      const { created, page } = await opened()
      okOf(await page.call('extend'))
      const phone = await createPage(fixture, page.sessionId)
      await phone.takeOver(okOf<Handoff>(await page.call('handoff')))
      assert.equal(okOf<LaunchState>(await phone.call('extend')).expiresAt, after10(created.expiresAt))
    })
  })

  test('keeps the challenge under way', async () => {
    await allowed(async () => {
      const { created, page } = await opened()
      const submission = await makeSubmission(page, await reachChallenge(page))
      okOf(await page.call('extend'))
      okOf(await send(page, submission))
      assert.equal((await fixture.result(created.token)).flowStatus, 'COMPLETED')
    })
  })
})

describe('the host’s word', () => {
  test('is kept by default: `expiresAt` stays as the create call said', async () => {
    const { created, page, session } = await opened()
    assert.equal(session.mayExtend, false)
    assertError(await page.call('extend'), ...REFUSED)
    assert.equal((await fixture.result(created.token)).expiresAt, created.expiresAt)
  })

  test('no session lives longer than the tenant’s longest', async () => {
    await allowed(
      async () => {
        const { created, page } = await opened({ sessionExpiry: 900 })
        const { expiresAt } = okOf<LaunchState>(await page.call('extend'))
        assert.equal(Date.parse(expiresAt) - Date.parse(created.expiresAt), 100_000)
        const full = await opened({ sessionExpiry: 1000 })
        assert.equal(full.session.mayExtend, false)
        assertError(await full.page.call('extend'), ...REFUSED)
      },
      { sessionSecondsMax: 1000 },
    )
  })
})
