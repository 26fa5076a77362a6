import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AgeResult, Challenge, Handoff, LaunchState } from '@ostiary/contract'
import { EVENTS_PER_CALL } from '@ostiary/contract/limits'
import { sealPayload } from '@ostiary/crypto'
import { assertError } from '../testing/harness.ts'
import {
  ARRIVAL,
  type Changes,
  chain,
  type Moment,
  makeSubmission,
  type Submission,
  sealWithLog,
  send,
  sendAtOnce,
} from './testing/capture.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { DOUBTFUL } from './testing/log-mutations.ts'
import { createPage, okOf, type Page } from './testing/page.ts'

const fixture = await createLaunchFixture()

const NOT_AT_STEP = [409, 'SESSION_NOT_OPEN', 'The session is not at this step'] as const
const UNREADABLE = [400, 'INVALID_PAYLOAD', 'The payload cannot be read'] as const

async function readyPage() {
  const created = await fixture.create()
  const page = await createPage(fixture, created.sessionId)
  const opened = await page.open()
  await page.consent()
  return { created, page, opened }
}

const arrival = () => chain(ARRIVAL)

/** Raises BH_TOO_FAST when it is taken. */
const hasty = () =>
  chain([
    { type: 'page_open', t: 120 },
    { type: 'consent_shown', t: 900 },
    { type: 'consent_given', t: 950 },
  ])

/** What the host learns of the log of a session that its user leaves now. */
async function logOf(page: Page, token: string): Promise<AgeResult['riskEvaluation']['signals']['behavioral']> {
  await page.cancel()
  return (await fixture.result(token)).riskEvaluation.signals.behavioral
}

const TOO_FAST = { score: 60, flags: ['BH_TOO_FAST'] }

describe('entries of the log that travel with a call', () => {
  test('make four calls of an age check, with the result of six', async () => {
    const results: [AgeResult, number][] = []
    for (const together of [true, false]) {
      const { created, page, opened } = await readyPage()
      assert.equal(opened.eventsTravel, true)
      const begun = await arrival()
      if (!together) okOf(await page.call('events', { events: begun }))
      const asked = await page.call('challenge', { attempt: 1, ...(together && { events: begun }) })
      const submission = await makeSubmission(page, okOf<Challenge>(asked))
      const rest = { ...submission, events: submission.events.slice(begun.length) }
      okOf(await (together ? sendAtOnce : send)(page, rest))
      results.push([await fixture.result(created.token), page.counter()])
    }
    const [[atOnce, four], [alone, six]] = results as [[AgeResult, number], [AgeResult, number]]
    assert.deepEqual([four, six], [4, 6])
    assert.equal(atOnce.sessionStatus, 'AGE_ABOVE_THRESHOLD')
    assert.deepEqual(atOnce.riskEvaluation, alone.riskEvaluation)
    assert.deepEqual([atOnce.assurance, atOnce.result], [alone.assurance, alone.result])
  })

  for (const [name, body] of [
    ['challenge', { attempt: 1 }],
    ['failure', { code: -10 }],
  ] as const) {
    test(`are taken by ${name}, whatever comes of the call itself`, async () => {
      const { created, page } = await readyPage()
      await page.call(name, { ...body, events: await hasty() })
      assert.deepEqual(await logOf(page, created.token), TOO_FAST)
    })

    test(`are not taken by ${name} without the holder’s signature`, async () => {
      const { created, page } = await readyPage()
      const events = await hasty()
      for (const tweak of [{ proof: null }, { claims: { counter: 1 } }, { claims: { bodyHash: 'x'.repeat(43) } }])
        assert.equal((await page.call(name, { ...body, events }, tweak)).statusCode, 401)
      assert.equal(await logOf(page, created.token), null)
    })

    test(`are refused by ${name}, and with them the call, when they are none, too many or no entries`, async () => {
      const { created, page } = await readyPage()
      const [first] = await hasty()
      for (const events of [[], Array(EVENTS_PER_CALL + 1).fill(first), [{ ...first, type: 'verdict' }], [{}], 'all']) {
        const reply = await page.call(name, { ...body, events })
        assert.deepEqual([reply.statusCode, reply.json().code], [400, 'VALIDATION_FAILED'])
      }
      assert.equal((await fixture.result(created.token)).progress?.attempt, 0, 'no try was begun or counted')
      assert.equal(await logOf(page, created.token), null)
    })
  }

  test('are refused by a call that takes none', async () => {
    const { created, page } = await readyPage()
    const events = await hasty()
    for (const name of ['submit', 'document/submit', 'document', 'cancel', 'extend', 'handoff', 'passkey/options']) {
      const sealed = name.endsWith('submit') && { sealed: 'nothing' }
      const reply = await page.call(name, { ...sealed, events })
      assert.deepEqual([reply.statusCode, reply.json().code], [400, 'VALIDATION_FAILED'], name)
    }
    assert.equal(await logOf(page, created.token), null)
  })

  test('change nothing when they come again, with the same call or alone', async () => {
    const { created, page } = await readyPage()
    const events = await arrival()
    const first = okOf<Challenge>(await page.call('challenge', { attempt: 1, events }))
    assert.deepEqual(okOf<Challenge>(await page.call('challenge', { attempt: 1, events })), first)
    okOf(await page.call('events', { events }))
    const submission = await makeSubmission(page, first)
    // The page cannot know whether they arrived when a reply was lost, and sends them all again inside the payload.
    okOf(await page.call('events', { events: submission.events }))
    assert.equal(okOf<LaunchState>(await sendAtOnce(page, submission)).state, 'COMPLETED')
    const { sessionStatus, riskEvaluation } = await fixture.result(created.token)
    assert.deepEqual([sessionStatus, riskEvaluation.flags], ['AGE_ABOVE_THRESHOLD', []])
  })

  test('that were changed meanwhile break the chain', async () => {
    const { created, page } = await readyPage()
    const challenge = okOf<Challenge>(await page.call('challenge', { attempt: 1, events: await arrival() }))
    const sooner: Changes = {
      moments: (all) => all.map((one) => (one.type === 'camera_ready' ? { ...one, t: one.t - 1 } : one)),
    }
    const reply = okOf<LaunchState>(await sendAtOnce(page, await makeSubmission(page, challenge, sooner)))
    assert.deepEqual([reply.state, reply.errors], ['COMPLETED', [2]])
    assert.ok((await fixture.result(created.token)).riskEvaluation.flags.includes('BH_CHAIN_BROKEN'))
  })

  test('count towards the 300 of a session', async () => {
    for (const [count, flags] of [
      [300, []],
      [301, ['BH_LOG_GAP']],
    ] as const) {
      const { created, page } = await readyPage()
      const glances = Array.from({ length: count - 1 }, (_one, at) => ({ type: 'tab_visible' as const, t: at }))
      const all = await chain([{ type: 'page_open', t: 0 }, ...glances])
      for (let from = 0; from < count; from += EVENTS_PER_CALL) {
        const events = all.slice(from, from + EVENTS_PER_CALL)
        okOf(await page.call('challenge', { attempt: 1, events }))
      }
      assert.deepEqual((await logOf(page, created.token))?.flags, flags)
    }
  })

  test('of a device that holds the session no more are refused with its call', async () => {
    const { created, page } = await readyPage()
    const other = await createPage(fixture, created.sessionId)
    await other.takeOver(okOf<Handoff>(await page.call('handoff')))
    const refused = await page.call('challenge', { attempt: 1, events: await hasty() })
    assert.deepEqual([refused.statusCode, refused.json().code], [403, 'DEVICE_MISMATCH'])
    assert.equal(await logOf(other, created.token), null)
  })

  test('are not taken before the number of the first screen was typed', async () => {
    const { created, page } = await readyPage()
    const { code } = okOf<Handoff>(await page.call('handoff'))
    const other = await createPage(fixture, created.sessionId)
    await other.open({ handoffCode: code })
    assertError(await other.call('challenge', { attempt: 1, events: await hasty() }), ...NOT_AT_STEP)
    assert.equal(await logOf(other, created.token), null)
  })
})

/** A page with a challenge, and a submission with the rest of its log. */
async function challenged(changes: Changes = {}) {
  const { created, page } = await readyPage()
  const begun = await arrival()
  const challenge = okOf<Challenge>(await page.call('challenge', { attempt: 1, events: begun }))
  const submission = await makeSubmission(page, challenge, changes)
  return { created, page, submission: { ...submission, events: submission.events.slice(begun.length) } }
}

/** A submission whose log goes on after these entries. */
async function goingOn(page: Page, challenge: Challenge, before: readonly Moment[]): Promise<Submission> {
  const startMs = before.at(-1)?.t ?? 0
  const moments = (lived: Moment[]) => [
    ...before,
    ...lived.slice(ARRIVAL.length).map(({ t, ...moment }) => ({ ...moment, t: startMs + t })),
  ]
  const submission = await makeSubmission(page, challenge, { moments })
  return { ...submission, events: submission.events.slice(before.length) }
}

const momentOf = ({ type, t, n }: Moment): Moment => (n === undefined ? { type, t } : { type, t, n })

/** Raises BH_TOO_FAST when it is taken. */
const hastily: Changes = {
  moments: (all) => all.map((one) => (one.type === 'consent_given' ? { ...one, t: 950 } : one)),
}

describe('entries of the log inside a sealed payload', () => {
  test('are not taken with a payload that cannot be opened, has another form or answers something else', async () => {
    const { created, page } = await readyPage()
    const challenge = okOf<Challenge>(await page.call('challenge', { attempt: 1 }))
    const { payload, events } = await makeSubmission(page, challenge, hastily)
    const inside = events.map(({ t, type, n }) => (n === undefined ? [t, type] : [t, type, n]))
    const sealed = (log: object, more: object = {}) =>
      sealPayload(page.sealKey(), page.sessionId, { ...payload, ...more, log: { ...payload.log, ...log } })
    const body = await sealed({ events: inside })
    for (const [text, status, code] of [
      [`${body.slice(0, -4)}AAAA`, 400, 'INVALID_PAYLOAD'],
      [await sealed({ events: inside }, { live: -1 }), 400, 'INVALID_PAYLOAD'],
      [await sealed({ events: inside }, { attempt: 2 }), 400, 'INVALID_PAYLOAD'],
      [await sealed({ events: inside }, { nonce: 'another' }), 409, 'CHALLENGE_NOT_VALID'],
      [
        await sealed({ events: inside }, { face: { version: 'FACE3_3', vector: 'A'.repeat(683) } }),
        400,
        'INVALID_PAYLOAD',
      ],
    ] as const) {
      const reply = await page.call('submit', { sealed: text })
      assert.deepEqual([reply.statusCode, reply.json().code], [status, code])
    }
    assert.equal(await logOf(page, created.token), null)
  })

  test('are refused, and with them the payload, when they are none, too many, no entries or more than the log has', async () => {
    const { created, page, submission } = await challenged()
    const { payload } = submission
    const glance = [9_000, 'tab_visible']
    for (const events of [
      [],
      Array(EVENTS_PER_CALL + 1).fill(glance),
      Array(payload.log.seq + 1).fill(glance),
      [[9_000, 'verdict']],
      [['9000', 'submit']],
      [[9_000]],
      [[9_000, 'submit', 1, 2]],
      [{ t: 9_000, type: 'submit' }],
    ]) {
      const { page: other, submission: theirs } = await challenged()
      const log = { ...theirs.payload.log, events }
      const sealed = await sealPayload(other.sealKey(), other.sessionId, { ...theirs.payload, log })
      assertError(await other.call('submit', { sealed }), ...UNREADABLE)
      assert.equal(okOf<LaunchState>(await sendAtOnce(other, theirs)).state, 'COMPLETED', 'the right one still counts')
    }
    assert.equal(okOf<LaunchState>(await sendAtOnce(page, submission)).state, 'COMPLETED')
    assert.deepEqual((await fixture.result(created.token)).riskEvaluation.flags, [])
  })

  test('stay when the capture is judged and not accepted, as when they had come before it, and the log goes on after them', async () => {
    const results: AgeResult[] = []
    for (const by of [sendAtOnce, send]) {
      const { created, page, submission } = await challenged(DOUBTFUL)
      assert.deepEqual(okOf<LaunchState>(await by(page, submission)).errors, [-32])
      // The reply was lost, and the same comes again: nothing of it counts.
      assertError(await page.call('submit', { sealed: await sealWithLog(page, submission) }), ...NOT_AT_STEP)
      const again = okOf<Challenge>(await page.call('challenge', { attempt: 2 }))
      const next = await goingOn(page, again, [...ARRIVAL, ...submission.events.map(momentOf)])
      assert.equal(okOf<LaunchState>(await by(page, next)).state, 'COMPLETED')
      results.push(await fixture.result(created.token))
    }
    const [atOnce, alone] = results
    assert.equal(atOnce?.sessionStatus, 'AGE_ABOVE_THRESHOLD')
    assert.deepEqual(atOnce?.riskEvaluation, alone?.riskEvaluation)
    assert.deepEqual(atOnce?.errors, alone?.errors)
  })

  test('raise the flags that they raise alone', async () => {
    for (const by of [sendAtOnce, send]) {
      const { created, page } = await readyPage()
      const challenge = okOf<Challenge>(await page.call('challenge', { attempt: 1 }))
      const reply = okOf<LaunchState>(await by(page, await makeSubmission(page, challenge, hastily)))
      assert.deepEqual(reply.errors, [-32])
      assert.deepEqual((await logOf(page, created.token))?.flags, TOO_FAST.flags)
    }
  })

  test('count towards the 300 of a session', async () => {
    for (const [count, errors] of [
      [300, []],
      [301, [2]],
    ] as const) {
      const { page } = await readyPage()
      const challenge = okOf<Challenge>(await page.call('challenge', { attempt: 1 }))
      const { events } = await goingOn(page, challenge, ARRIVAL)
      const glances = Array(count - ARRIVAL.length - events.length).fill({ type: 'tab_visible', t: 8_000 })
      const before = await chain([...ARRIVAL, ...glances])
      for (let from = 0; from < before.length; from += EVENTS_PER_CALL)
        okOf(await page.call('events', { events: before.slice(from, from + EVENTS_PER_CALL) }))
      const reply = okOf<LaunchState>(await sendAtOnce(page, await goingOn(page, challenge, before.map(momentOf))))
      assert.deepEqual([reply.state, reply.errors], ['COMPLETED', errors], `${count}`)
    }
  })

  test('of a payload of the last release are none, and it counts as before', async () => {
    const { page, submission } = await challenged()
    okOf(await page.call('events', { events: submission.events }))
    assert.equal(okOf<LaunchState>(await page.call('submit', { sealed: submission.sealed })).state, 'COMPLETED')
  })
})
