import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Challenge, Handoff, LaunchState } from '@ostiary/contract'
import { assertError } from '../testing/harness.ts'
import { makeSubmission, reachChallenge, send } from './testing/capture.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage, okOf } from './testing/page.ts'

const fixture = await createLaunchFixture()

/** What the page of the last release sends: no `cannot`, no `pace`, no `extend`, and the consent version before. */
const OLD_CONSENT = { accepted: true, version: '1', locale: 'de' }

describe('a page of the last release with this service', () => {
  test('gets what it always got: three movements, its version in the record, and the end that the create call named', async () => {
    await fixture.withSettings({ userMayExtend: true }, async () => {
      const created = await fixture.create()
      const page = await createPage(fixture, created.sessionId)
      await page.open()
      okOf(await page.call('consent', OLD_CONSENT))
      const challenge = okOf<Challenge>(await page.call('challenge', { attempt: 1 }))
      assert.deepEqual([challenge.steps.length, challenge.answerMs], [3, undefined])
      assert.ok(challenge.sampleAtMs.length <= 24, 'as many frames as the last release takes')
      okOf(await send(page, await makeSubmission(page, challenge)))
      const { sessionStatus, consent, expiresAt, assurance } = await fixture.result(created.token)
      assert.deepEqual([sessionStatus, consent?.version, consent?.language], ['AGE_ABOVE_THRESHOLD', '1', 'de'])
      assert.equal(expiresAt, created.expiresAt)
      assert.deepEqual([assurance.movements, assurance.pace], [undefined, undefined])
    })
  })

  test('continues for a user who has said elsewhere what they need, although it does not know the fields', async () => {
    const created = await fixture.create()
    const first = await createPage(fixture, created.sessionId)
    await reachChallenge(first)
    okOf(await first.call('challenge', { attempt: 1, cannot: ['turn', 'up'], pace: 'slow' }))
    const old = await createPage(fixture, created.sessionId)
    await old.takeOver(okOf<Handoff>(await first.call('handoff')))
    okOf(await old.call('consent', OLD_CONSENT))
    const challenge = okOf<Challenge>(await old.call('challenge', { attempt: 2 }))
    assert.deepEqual([challenge.steps.length, challenge.answerMs], [4, 7500])
    // It does not know `answerMs` and notices nothing after 2.5 seconds, so its log may lack what the frames show.
    const unnoticed = await makeSubmission(old, challenge, {
      moments: (moments) => moments.filter(({ type }) => type !== 'movement_seen'),
    })
    assert.equal(okOf<LaunchState>(await send(old, unnoticed)).flowStatus, 'COMPLETED')
    const { sessionStatus, assurance } = await fixture.result(created.token)
    assert.deepEqual(
      [sessionStatus, assurance.movements, assurance.pace],
      ['AGE_ABOVE_THRESHOLD', ['blink', 'closer'], 'slow'],
    )
  })
})

test('consent in a language without texts is refused and not recorded, with each version', async () => {
  const created = await fixture.create()
  const page = await createPage(fixture, created.sessionId)
  await page.open()
  for (const version of ['1', '2']) {
    const refused = await page.call('consent', { ...OLD_CONSENT, version, locale: 'tlh' })
    assert.deepEqual([refused.statusCode, refused.json().code], [400, 'VALIDATION_FAILED'])
  }
  assertError(await page.call('challenge', { attempt: 1 }), 409, 'SESSION_NOT_OPEN', 'The session is not at this step')
  assert.equal((await fixture.result(created.token)).consent, null)
})
