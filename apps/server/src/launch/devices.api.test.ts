import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Handoff } from '@ostiary/contract'
import { runFlow, seededRandom } from '@ostiary/device/simulated'
import { assertError } from '../testing/harness.ts'
import { makeSubmission, reachChallenge, send } from './testing/capture.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage, okOf, type Page, type PageOptions, stateBody } from './testing/page.ts'
import { IPHONE, LAPTOP } from './testing/user-agents.ts'

// An address with a query: the session's id must be added after it.
const fixture = await createLaunchFixture({ LAUNCH_URL: 'https://page.example/check?brand=7' })

const BAD_PROOF = [401, 'INVALID_DEVICE_PROOF', 'The device’s signature is not valid'] as const
const NOT_HOLDER = [403, 'DEVICE_MISMATCH', 'Another device holds the session'] as const
const REFUSED = [409, 'HANDOFF_REFUSED'] as const
const NOT_AT_STEP = [409, 'SESSION_NOT_OPEN', 'The session is not at this step'] as const
const MAC_CHROME = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36'
const ANDROID = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36'

const handoffOf = async (page: Page) => okOf<Handoff>(await page.call('handoff'))

/** A phone holds the session and has made a code for another device. */
async function handedOver(body?: object) {
  const created = await fixture.create(body)
  const first = await createPage(fixture, created.sessionId)
  await first.open()
  const handoff = await handoffOf(first)
  const second = await createPage(fixture, created.sessionId)
  return { created, first, second, handoff, code: handoff.code }
}

describe('a session that is not for desktops', () => {
  const desktops: [string, PageOptions][] = [
    ['says that it is one', { platform: 'desktop', userAgent: LAPTOP }],
    ['says that it is a phone', { platform: 'mobile', userAgent: LAPTOP }],
    ['says that it is a phone, in the client hint too', { platform: 'mobile', userAgent: LAPTOP, mobileHint: '?1' }],
    ['is a Mac with Chrome that says it is a phone', { platform: 'mobile', userAgent: MAC_CHROME, mobileHint: '?0' }],
    ['has a phone’s name and a desktop’s client hint', { platform: 'mobile', userAgent: ANDROID, mobileHint: '?0' }],
    ['names no browser', { platform: 'mobile', userAgent: '' }],
  ]
  for (const [what, options] of desktops) {
    test(`waits for a phone when the device ${what}`, async () => {
      const created = await fixture.create({ enableDesktop: false })
      const page = await createPage(fixture, created.sessionId, options)
      const { requirements: _r, locale: _l, consentVersion: _c, sealKey: _k, ...opened } = await page.open()
      const { type: _t, verification: _v, ...looked } = opened
      const {
        brand: _b,
        embedOrigins: _e,
        host: _h,
        handoff: _o,
        document: _d,
        alternativeUrl: _a,
        links: _links,
        ages: _ages,
        mayExtend: _m,
        eventsTravel: _travel,
        ...state
      } = looked
      assert.deepEqual(state, stateBody(created, { state: 'HANDOFF_WAIT', role: 'viewer', errors: [-5] }))
      for (const [name, body] of [
        ['consent', { accepted: true, version: '1', locale: 'en' }],
        ['challenge', {}],
        ['submit', { sealed: 'sealed' }],
        ['failure', { code: -7 }],
      ] as const) {
        assertError(await page.call(name, body), ...NOT_HOLDER)
      }
      assertError(await page.call('take-back'), ...REFUSED, 'This device may not run the flow')
    })
  }

  test('[C-051] a desktop that never moves to a phone ends with -5 and -8', async () => {
    const { token, sessionId } = await fixture.create()
    const { device } = await fixture.device(sessionId, { platform: 'mobile', userAgent: LAPTOP })
    assert.deepEqual((await device.open()).errors, [-5])
    assert.deepEqual((await device.open()).errors, [-5], 'and a reload changes nothing')
    fixture.harness.clock.advance(900_001)
    const { sessionStatus, flowStatus, errors, errorDetails } = await fixture.result(token)
    assert.deepEqual([sessionStatus, flowStatus, errors], ['AGE_UNKNOWN', 'EXPIRED', [-5, -8]])
    assert.deepEqual(errorDetails, [
      { code: -5, name: 'DESKTOP' },
      { code: -8, name: 'SESSION_EXPIRED' },
    ])
  })

  test('is not returned to the desktop by the phone that took it over, whatever was reported meanwhile', async () => {
    const created = await fixture.create()
    const desktop = await createPage(fixture, created.sessionId, { platform: 'desktop', userAgent: LAPTOP })
    await desktop.open()
    const handoff = await handoffOf(desktop)
    const phone = await createPage(fixture, created.sessionId)
    assert.equal((await phone.takeOver(handoff)).role, 'holder')
    for (let times = 0; times < 25; times++) await phone.failure(-21)
    assertError(await desktop.call('take-back'), ...REFUSED, 'This device may not run the flow')
    assert.deepEqual(await phone.consent(), stateBody(created, { state: 'READY' }), 'the phone still holds it')
  })

  test('cannot be opened on a second desktop with the code for the phone, and the code stays valid', async () => {
    const { sessionId } = await fixture.create()
    const desktop = await createPage(fixture, sessionId, { platform: 'desktop', userAgent: LAPTOP })
    await desktop.open()
    const { code } = await handoffOf(desktop)
    const other = await createPage(fixture, sessionId, { platform: 'mobile', userAgent: MAC_CHROME })
    assertError(await other.tryOpen({ handoffCode: code }), ...REFUSED, 'Desktops are not allowed; use a phone')
    const phone = await createPage(fixture, sessionId)
    assert.equal((await phone.open({ handoffCode: code })).role, 'holder')
  })

  test('that moved to a phone and then expired has only -8', async () => {
    const { token, sessionId } = await fixture.create()
    const desktop = await createPage(fixture, sessionId, { platform: 'desktop', userAgent: LAPTOP })
    await desktop.open()
    const { code } = await handoffOf(desktop)
    await (await createPage(fixture, sessionId)).open({ handoffCode: code })
    fixture.harness.clock.advance(900_001)
    assert.deepEqual((await fixture.result(token)).errors, [-8])
  })
})

test('[C-016] with enableDesktop true a desktop runs the flow to its verdict', async () => {
  const { token, sessionId } = await fixture.create({ enableDesktop: true })
  const { device, clock } = await fixture.device(sessionId, { platform: 'desktop', userAgent: LAPTOP })
  const { flowStatus, role } = await runFlow(device, { clock, random: seededRandom(11), ageYears: 44 })
  assert.deepEqual([flowStatus, role], ['COMPLETED', 'holder'])
  assert.equal((await fixture.result(token)).sessionStatus, 'AGE_ABOVE_THRESHOLD')
})

describe('a handoff', () => {
  test('[C-011] goes on under the same token, while the first device watches', async () => {
    const { token, sessionId, launchUrl } = await fixture.create()
    const desktop = await fixture.device(sessionId, { platform: 'desktop', userAgent: LAPTOP })
    await desktop.device.open()
    const { code, url, expiresAt, number = assert.fail('no number') } = await desktop.device.handoff()
    assert.equal(launchUrl, `https://page.example/check?brand=7&sessionId=${sessionId}`)
    assert.equal(url, `${launchUrl}#h=${code}`)
    assert.equal(Date.parse(expiresAt) - fixture.harness.clock.now().getTime(), 300_000)
    assert.match(code, /^[A-Za-z0-9_-]{32}$/)
    const phone = await fixture.device(sessionId, { userAgent: IPHONE })
    const person = { clock: phone.clock, random: seededRandom(5), ageYears: 44, handoffCode: code, number }
    const { flowStatus } = await runFlow(phone.device, person)
    assert.equal(flowStatus, 'COMPLETED')
    const { sessionStatus, sessionId: returned, errors } = await fixture.result(token)
    assert.deepEqual([sessionStatus, returned, errors], ['AGE_ABOVE_THRESHOLD', sessionId, []])
    const watched = await desktop.device.open()
    assert.deepEqual([watched.flowStatus, watched.role], ['COMPLETED', 'viewer'])
  })

  test('makes the requesting device a viewer immediately, and no device can run the flow until the code is used', async () => {
    const { created, first } = await handedOver()
    assertError(await first.call('consent', { accepted: true, version: '1', locale: 'en' }), ...NOT_HOLDER)
    assert.equal((await fixture.result(created.token)).progress?.state, 'HANDOFF_WAIT')
    const { state, role } = await first.open()
    assert.deepEqual([state, role], ['HANDOFF_WAIT', 'viewer'])
  })

  test('invalidates the challenge of the old holder: its capture is refused', async () => {
    const created = await fixture.create()
    const first = await createPage(fixture, created.sessionId)
    const submission = await makeSubmission(first, await reachChallenge(first))
    const handoff = await handoffOf(first)
    assertError(await first.call('submit', { sealed: submission.sealed }), ...NOT_HOLDER)
    const second = await createPage(fixture, created.sessionId)
    await second.takeOver(handoff)
    assertError(await first.call('submit', { sealed: submission.sealed }), ...NOT_HOLDER)
    await second.consent()
    const next = await second.challenge()
    assert.equal(next.attempt, 2, 'tries are counted for the session, not for the device')
    const stolen = await second.call('submit', { sealed: submission.sealed })
    assertError(stolen, 409, 'CHALLENGE_NOT_VALID', 'The payload answers another challenge')
    const done = await send(second, await makeSubmission(second, next))
    assert.equal(done.json().flowStatus, 'COMPLETED', done.body)
    assert.equal((await fixture.result(created.token)).sessionStatus, 'AGE_ABOVE_THRESHOLD')
  })

  test('code works for one device: a third device is refused, which raises a flag', async () => {
    await fixture.withSettings({ risk: { sources: ['handoff'] } }, async () => {
      const { created, second, code } = await handedOver()
      assert.equal((await second.open({ handoffCode: code })).role, 'holder')
      const third = await createPage(fixture, created.sessionId)
      assertError(await third.tryOpen({ handoffCode: code }), ...REFUSED, 'This handoff code is not valid')
      await second.cancel()
      const { signals } = (await fixture.result(created.token)).riskEvaluation
      assert.deepEqual(signals.handoff, { score: 40, flags: ['HO_LINK_SHARED'] })
    })
  })

  test('code that is wrong, or that was never made, is refused', async () => {
    const { created, second, code } = await handedOver()
    for (const wrong of [`${code}A`, code.slice(1), code.toLowerCase(), 'x']) {
      assertError(await second.tryOpen({ handoffCode: wrong }), ...REFUSED, 'This handoff code is not valid')
    }
    assert.equal((await second.tryOpen({ handoffCode: '' })).statusCode, 400)
    const { sessionId } = await fixture.create()
    const alone = await createPage(fixture, sessionId)
    assertError(await alone.tryOpen({ handoffCode: code }), ...REFUSED, 'This handoff code is not valid')
    assert.equal((await alone.open()).role, 'holder', 'and the session is still free')
    assert.equal((await second.open({ handoffCode: code })).sessionId, created.sessionId)
  })

  test('code that is wrong twenty times in ten minutes makes its network wait, with the right code too', async () => {
    const TEN_MINUTES_MS = 600_000
    fixture.harness.clock.advance(TEN_MINUTES_MS)
    const { second, code } = await handedOver()
    const statuses: number[] = []
    for (let n = 1; n <= 22; n++) statuses.push((await second.tryOpen({ handoffCode: `wrong-${n}` })).statusCode)
    assert.deepEqual(statuses, [...Array(20).fill(409), 429, 429])
    const refused = await second.tryOpen({ handoffCode: code })
    assertError(refused, 429, 'RATE_LIMITED', 'Too many wrong handoff codes', { retryAfter: 30 })
    fixture.harness.clock.advance(30_000)
    assert.equal((await second.open({ handoffCode: code })).role, 'holder')
    fixture.harness.clock.advance(TEN_MINUTES_MS)
  })

  test('code is valid for five minutes', async () => {
    const inTime = await handedOver()
    fixture.harness.clock.advance(300_000)
    assert.equal((await inTime.second.open({ handoffCode: inTime.code })).role, 'holder')
    const late = await handedOver()
    fixture.harness.clock.advance(300_001)
    const refused = await late.second.tryOpen({ handoffCode: late.code })
    assertError(refused, ...REFUSED, 'This handoff code has expired')
    assertError(await late.second.tryOpen({ handoffCode: late.code }), ...REFUSED, 'This handoff code is not valid')
    const { code } = await handoffOf(late.first)
    assert.equal((await late.second.open({ handoffCode: code })).role, 'holder', 'a new code is made for it')
  })

  test('code is invalid once another one is made; ten codes are made and no more', async () => {
    const { first, second, code } = await handedOver()
    let newest = code
    for (let made = 2; made <= 10; made++) newest = (await handoffOf(first)).code
    assertError(await first.call('handoff'), ...REFUSED, 'Too many handoff codes')
    assertError(await second.tryOpen({ handoffCode: code }), ...REFUSED, 'This handoff code is not valid')
    assert.equal((await second.open({ handoffCode: newest })).role, 'holder')
  })

  test('from the second device to a third removes the second from the session, and a fourth device is refused', async () => {
    const { created, first, second, handoff } = await handedOver()
    await second.takeOver(handoff)
    const { code: next } = await handoffOf(second)
    const third = await createPage(fixture, created.sessionId)
    assert.equal((await third.open({ handoffCode: next })).role, 'holder')
    assertError(await second.call('cancel'), ...BAD_PROOF)
    assertError(await second.tryOpen(), 403, 'DEVICE_MISMATCH', 'The session is open on another device')
    assert.equal((await first.open()).role, 'viewer', 'the first one watches on')
    assertError(await third.call('handoff'), ...NOT_AT_STEP)
    assertError(await first.call('handoff'), ...REFUSED, 'The session was handed over twice already')
  })
})

describe('take-back', () => {
  test('returns the session to the first device, which starts again; the second device loses it', async () => {
    const { created, first, second, handoff } = await handedOver()
    await second.takeOver(handoff)
    await second.consent()
    const back = okOf(await first.call('take-back'))
    assert.deepEqual(back, stateBody(created, { state: 'OPENED', role: 'holder' }))
    assertError(await second.call('challenge'), ...BAD_PROOF)
    await first.consent()
    const done = await send(first, await makeSubmission(first, await first.challenge()))
    assert.equal(done.json().flowStatus, 'COMPLETED', done.body)
    const { sessionStatus, riskEvaluation } = await fixture.result(created.token)
    assert.deepEqual([sessionStatus, riskEvaluation.flags], ['AGE_ABOVE_THRESHOLD', []])
  })

  test('before the code is used makes the code invalid', async () => {
    const { created, first, second, code } = await handedOver()
    okOf(await first.call('take-back'))
    const refused = await second.tryOpen({ handoffCode: code })
    assertError(refused, ...REFUSED, 'This handoff code is not valid')
    assert.deepEqual(await first.consent(), stateBody(created, { state: 'READY' }))
  })

  test('can be repeated when its reply was lost', async () => {
    const { created, first } = await handedOver()
    const answers = [okOf(await first.call('take-back')), okOf(await first.call('take-back'))]
    const expected = stateBody(created, { state: 'OPENED', role: 'holder' })
    assert.deepEqual(answers, [expected, expected])
    await first.consent()
    const done = await send(first, await makeSubmission(first, await first.challenge()))
    assert.equal(done.json().flowStatus, 'COMPLETED', done.body)
    assert.deepEqual((await fixture.result(created.token)).riskEvaluation.flags, [])
  })

  test('is refused for the device that holds the session', async () => {
    const { sessionId } = await fixture.create()
    const page = await createPage(fixture, sessionId)
    await page.open()
    assertError(await page.call('take-back'), ...NOT_HOLDER)
  })
})

test('the viewer may cancel, and both devices get the new state', async () => {
  const { created, first, second, code } = await handedOver()
  await second.open({ handoffCode: code })
  const reply = await first.cancel()
  const ended = { state: 'CANCELLED', flowStatus: 'CANCELLED', role: 'viewer', errors: [-17] } as const
  assert.deepEqual(reply, stateBody(created, { ...ended, errors: [-17] }))
  assertError(await second.call('challenge'), 409, 'SESSION_NOT_OPEN', 'The session has ended')
})

test('a device that has only the launch URL is refused while another holds the session, and raises the risk', async () => {
  const created = await fixture.create()
  const page = await createPage(fixture, created.sessionId)
  const challenge = await reachChallenge(page)
  const stranger = await createPage(fixture, created.sessionId)
  assertError(await stranger.tryOpen(), 403, 'DEVICE_MISMATCH', 'The session is open on another device')
  assertError(await stranger.call('cancel'), ...BAD_PROOF)
  await send(page, await makeSubmission(page, challenge))
  const { sessionStatus, riskEvaluation } = await fixture.result(created.token)
  assert.equal(sessionStatus, 'AGE_ABOVE_THRESHOLD')
  assert.deepEqual(riskEvaluation.signals.behavioral, { score: 60, flags: ['BH_DEVICE_SWITCH'] })
})
