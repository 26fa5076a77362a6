import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Challenge, type Handoff, KIND_OF, type LaunchState, type MovementKind } from '@ostiary/contract'
import { assertError } from '../testing/harness.ts'
import { makeSubmission, reachChallenge, send } from './testing/capture.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage, okOf, type Page } from './testing/page.ts'

const fixture = await createLaunchFixture()

async function opened() {
  const created = await fixture.create()
  return { created, page: await createPage(fixture, created.sessionId) }
}

const ask = async (page: Page, body: object) => okOf<Challenge>(await page.call('challenge', body))
const kindsOf = ({ steps }: Challenge): MovementKind[] => [...new Set(steps.map(({ movement }) => KIND_OF[movement]))]

describe('who cannot make a movement', () => {
  test('gets another challenge in the same try, and a verdict whose assurance names the kinds that were left', async () => {
    const { created, page } = await opened()
    const first = await reachChallenge(page)
    const second = await ask(page, { attempt: 1, cannot: ['turn'] })
    assert.notEqual(second.nonce, first.nonce)
    const third = await ask(page, { attempt: 1, cannot: ['up'] })
    assert.deepEqual([second.attempt, third.attempt, third.steps.length], [1, 1, 4])
    assert.deepEqual(kindsOf(third).sort(), ['blink', 'closer'])
    // The reply was lost: the same call gets the same challenge.
    assert.deepEqual(await ask(page, { attempt: 1, cannot: ['turn', 'up'] }), third)
    const ended = okOf<LaunchState>(await send(page, await makeSubmission(page, third)))
    assert.equal(ended.flowStatus, 'COMPLETED')
    const { sessionStatus, assurance } = await fixture.result(created.token)
    assert.equal(sessionStatus, 'AGE_ABOVE_THRESHOLD')
    assert.deepEqual(assurance, {
      level: 'estimate',
      method: 'on-device face age estimation',
      movements: ['blink', 'closer'],
    })
  })

  test('is not forgotten: by a call that does not say it, a reload, or another device', async () => {
    const { page } = await opened()
    await reachChallenge(page)
    await ask(page, { attempt: 1, cannot: ['blink'] })
    const reloaded = await page.open()
    assert.deepEqual([reloaded.cannot, reloaded.pace], [['blink'], undefined])
    assert.ok(!kindsOf(await ask(page, {})).includes('blink'))
    const phone = await createPage(fixture, page.sessionId)
    const joined = await phone.takeOver(okOf<Handoff>(await page.call('handoff')))
    assert.deepEqual(joined.cannot, ['blink'])
    await phone.consent()
    assert.ok(!kindsOf(await ask(phone, {})).includes('blink'))
  })

  test('must leave two kinds, over all calls', async () => {
    const { page } = await opened()
    await reachChallenge(page)
    const refused = await page.call('challenge', { attempt: 1, cannot: ['turn', 'up', 'blink'] })
    assert.deepEqual([refused.statusCode, refused.json().code], [400, 'VALIDATION_FAILED'])
    await ask(page, { attempt: 1, cannot: ['turn', 'up'] })
    const more = await page.call('challenge', { attempt: 1, cannot: ['closer'] })
    assert.deepEqual([more.statusCode, more.json().code], [400, 'VALIDATION_FAILED'])
  })

  test('gets three challenges without a try at most; each further one costs a try, and the fourth try ends the flow', async () => {
    const { created, page } = await opened()
    const nonces = new Set([(await reachChallenge(page)).nonce])
    for (const needs of [{ cannot: ['turn'] }, { cannot: ['up'] }, { pace: 'slow' }])
      nonces.add((await ask(page, { attempt: 1, ...needs })).nonce)
    assert.equal(nonces.size, 4)
    for (const again of [{ cannot: ['turn', 'up'] }, { pace: 'slow' }, {}])
      nonces.add((await ask(page, { attempt: 1, ...again })).nonce)
    assert.equal(nonces.size, 4)
    for (const attempt of [2, 3]) assert.equal((await ask(page, { attempt })).attempt, attempt)
    assertError(await page.call('challenge', { attempt: 4 }), 409, 'SESSION_NOT_OPEN', 'All tries are used up')
    const { sessionStatus, assurance } = await fixture.result(created.token)
    assert.deepEqual([sessionStatus, assurance], ['AGE_UNKNOWN', { level: 'none', method: 'none' }])
  })
})

describe('who needs more time', () => {
  test('gets three times as long, in the same try, and `assurance` names it', async () => {
    const { created, page } = await opened()
    const usual = await reachChallenge(page)
    assert.equal(usual.answerMs, undefined)
    const slow = await ask(page, { attempt: 1, pace: 'slow' })
    assert.deepEqual([slow.attempt, slow.answerMs], [1, 7500])
    const [first, second] = slow.steps
    assert.ok(first && second && first.atMs >= 2400 && second.atMs - first.atMs >= 7600)
    fixture.harness.clock.advance(45_000)
    const ended = okOf<LaunchState>(await send(page, await makeSubmission(page, slow)))
    assert.equal(ended.flowStatus, 'COMPLETED')
    const { sessionStatus, assurance } = await fixture.result(created.token)
    assert.deepEqual([sessionStatus, assurance.pace, assurance.movements], ['AGE_ABOVE_THRESHOLD', 'slow', undefined])
  })
})

test('everybody else gets an assurance without movements and pace', async () => {
  const { created, page } = await opened()
  okOf(await send(page, await makeSubmission(page, await reachChallenge(page))))
  const { assurance } = await fixture.result(created.token)
  assert.deepEqual(assurance, { level: 'estimate', method: 'on-device face age estimation' })
})
