import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import type { LaunchState } from '@ostiary/contract'
import { eventually } from '@ostiary/testkit/eventually'
import { agreeOn, type UserDevice } from '../age/testing/fixture.ts'
import { createFaces } from '../biometrics/testing/faces.ts'
import { isPurged } from '../sessions/index.ts'
import { openPart, sealPart } from '../sessions/sealing.ts'
import { assertError } from '../testing/harness.ts'
import { createVerificationHost, PATH, type VerificationHost } from './testing/fixture.ts'
import { captureAgain, enrolled, reachCapture } from './testing/people.ts'

const faces = createFaces(43)
const { fixture, host } = await createVerificationHost()

const DESKTOP = { platform: 'desktop', userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)' } as const
const REFUSED = { status: 409, code: 'HANDOFF_REFUSED' }

const hashOf = (code: string) => createHash('sha256').update(code).digest('hex')
const codeIn = (url: string | null) => (url === null ? null : new URL(url).searchParams.get('code'))

/** Does the face step on a device that has opened the session. */
async function finish(user: UserDevice, vector: readonly number[]): Promise<LaunchState> {
  await user.device.logEvent('page_open')
  await user.clock.pass(300)
  await agreeOn(user)
  const { capture } = await captureAgain(user, { vector })
  return user.device.submit(capture)
}

async function handedOver(type: 'ENROLL' | 'SIGN-IN' = 'ENROLL', of: VerificationHost = host) {
  fixture.harness.clock.advance(10_000)
  const created = await of.create(type)
  const desktop = await fixture.newDevice(created.sessionId, DESKTOP)
  await desktop.device.open()
  const { code, number = assert.fail('no number') } = await desktop.device.handoff()
  const phone = await fixture.newDevice(created.sessionId)
  return { ...created, desktop, phone, code, number }
}

const otherNumber = (number: string) => String((Number(number) + 1) % 100).padStart(2, '0')

describe('the code of the return', () => {
  test('goes to the browser that finished, in the redirect and beside it; the webhook has its hash and not the code', async () => {
    for (const type of ['ENROLL', 'SIGN-IN'] as const) {
      const face = faces.person()
      if (type === 'SIGN-IN') await enrolled(fixture, host, face)
      const { sessionId } = await host.create(type)
      const { user, capture } = await reachCapture(fixture, sessionId, { vector: face })
      const ended = await user.device.submit(capture)
      const code = ended.code ?? assert.fail('no code')
      assert.match(code, /^[A-Za-z0-9_-]{43}$/)
      assert.equal(
        ended.redirectUrl,
        `https://shop.example/back?state=7&sessionId=${sessionId}&status=SUCCESS&code=${code}`,
      )
      const { body } = await fixture.delivered(sessionId)
      assert.equal(JSON.parse(body.toString()).codeHash, hashOf(code))
      assert.ok(!body.includes(code))
      assert.equal((await host.webhook(sessionId)).codeHash, hashOf(code))
    }
  })

  test('goes again to that browser when it loads the page again, and to no other', async () => {
    const { sessionId } = await host.create('ENROLL')
    const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person() })
    const { code } = await user.device.submit(capture)
    const again = await user.device.open()
    assert.deepEqual([again.code, codeIn(again.redirectUrl)], [code, code])
    const stranger = await fixture.newDevice(sessionId)
    const seen = await stranger.device.open()
    assert.deepEqual([seen.state, seen.redirectUrl, seen.code], ['SUCCESS', null, undefined])
    const watched: LaunchState[] = []
    for (const { device } of [stranger, user]) {
      await device.watch((state) => watched.push(state), new AbortController().signal)
    }
    assert.deepEqual(
      watched.map((state) => [state.redirectUrl === null, state.code]),
      [
        [true, undefined],
        [false, code],
      ],
    )
  })

  test('does not go out for an open call that is sent a second time', async () => {
    const { sessionId } = await host.create('ENROLL')
    const recorded: [string, RequestInit][] = []
    const record: typeof fetch = (url, init = {}) => {
      if (String(url).endsWith('/open')) recorded.push([String(url), init])
      return fetch(url, init)
    }
    const { user, capture } = await reachCapture(fixture, sessionId, {
      vector: faces.person(),
      options: { fetch: record },
    })
    await user.device.submit(capture)
    await user.device.open()
    for (const [url, init] of recorded) assert.equal((await fetch(url, init)).status, 401)
    assert.equal(recorded.length, 2)
  })

  test('is null where no browser has ended the session: cancelled by the host, expired, never opened', async () => {
    const cancelled = await host.create('ENROLL')
    const { user } = await reachCapture(fixture, cancelled.sessionId, { vector: faces.person() })
    await host.call('POST', `${PATH}/${cancelled.sessionId}/cancel`)
    assert.equal((await host.webhook(cancelled.sessionId)).codeHash, null)
    const reply = await user.device.open()
    assert.deepEqual(
      [reply.redirectUrl, reply.code],
      [`https://shop.example/back?state=7&sessionId=${cancelled.sessionId}&status=CANCELLED`, undefined],
    )
    const unopened = await host.create('ENROLL')
    await host.outcome(unopened.sessionId)
    assert.equal((await host.webhook(unopened.sessionId)).codeHash, null)
  })

  test('leaves a parameter `code` of the host’s own alone', async () => {
    const { sessionId } = await host.create('ENROLL', { redirectURL: 'https://shop.example/back?code=summer' })
    const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person() })
    const ended = await user.device.submit(capture)
    assert.equal(codeIn(ended.redirectUrl), 'summer')
    assert.equal((await host.webhook(sessionId)).codeHash, hashOf(ended.code ?? ''))
  })
})

describe('a handoff', () => {
  test('with the number of the first screen gives the code to the first device, and not to the phone', async () => {
    const { sessionId, desktop, phone, code: handoffCode, number } = await handedOver()
    assert.match(number, /^\d\d$/)
    const seen: LaunchState[] = []
    const watching = desktop.device.watch((state) => seen.push(state), new AbortController().signal)
    assert.equal((await phone.device.open(handoffCode)).numberNeeded, true)
    assert.equal((await phone.device.number(number)).numberNeeded, undefined)
    const ended = await finish(phone, faces.person())
    assert.deepEqual([ended.state, ended.code, codeIn(ended.redirectUrl)], ['SUCCESS', undefined, null])
    await watching
    const reply = seen.at(-1) ?? assert.fail()
    assert.equal(reply.state, 'SUCCESS')
    assert.equal(codeIn(reply.redirectUrl), reply.code)
    assert.equal((await host.webhook(sessionId)).codeHash, hashOf(reply.code ?? ''))
    const reloaded = [await desktop.device.open(), await phone.device.open()]
    assert.deepEqual(
      reloaded.map(({ code }) => code),
      [reply.code, undefined],
    )
  })

  test('is nothing before the number: no consent, no report, no handoff to a third device', async () => {
    const { phone, code, number } = await handedOver()
    const { device } = phone
    await device.open(code)
    const calls = [
      () => device.consent(true),
      () => device.handoff(),
      () => device.takeBack(),
      () => device.failure(-21),
    ]
    for (const call of calls) await assert.rejects(call, { status: 409, code: 'SESSION_NOT_OPEN' })
    assert.equal((await phone.device.open()).numberNeeded, true, 'also after a reload')
    await phone.device.number(number)
    assert.equal((await phone.device.number(number)).state, 'OPENED', 'sent again because the reply was lost')
    assert.equal((await phone.device.consent(true)).state, 'CONSENTED')
  })

  test('with a wrong number is void: the phone has no part in it, the first device learns it, two are all there are', async () => {
    const { desktop, phone, code, number } = await handedOver()
    const seen: LaunchState[] = []
    const stop = new AbortController()
    const watching = desktop.device.watch((state) => {
      seen.push(state)
      if (state.errors.includes(-33)) stop.abort()
    }, stop.signal)
    await phone.device.open(code)
    await eventually(() => seen.at(-1)?.state === 'OPENED', 'the first device sees the phone')
    await assert.rejects(phone.device.number(otherNumber(number)), REFUSED)
    await watching
    assert.deepEqual([seen.at(-1)?.state, seen.at(-1)?.errors], ['HANDOFF_WAIT', [-33, -5]])
    await assert.rejects(phone.device.consent(true), { status: 401 })
    await assert.rejects(phone.device.number(number), { status: 401 })
    await assert.rejects(phone.device.open(code), REFUSED, 'the code is void')
    const second = await desktop.device.handoff()
    const other = await fixture.newDevice(phone.device.sessionId)
    await other.device.open(second.code)
    await assert.rejects(other.device.number(otherNumber(second.number ?? '')), REFUSED)
    await assert.rejects(desktop.device.handoff(), REFUSED)
  })

  test('can be taken back before the number; the session belongs to the first device again', async () => {
    fixture.harness.clock.advance(10_000)
    const { sessionId } = await host.create('ENROLL', { enableDesktop: true })
    const desktop = await fixture.newDevice(sessionId, DESKTOP)
    await desktop.device.open()
    const { code } = await desktop.device.handoff()
    const phone = await fixture.newDevice(sessionId)
    await phone.device.open(code)
    assert.equal((await desktop.device.takeBack()).numberNeeded, undefined)
    const ended = await finish(desktop, faces.person())
    assert.equal((await host.webhook(sessionId)).codeHash, hashOf(ended.code ?? assert.fail('no code')))
  })

  test('of a SIGN-IN can be forbidden by the tenant: a desktop is not bound, and a phone still opens the link', async () => {
    const strict = await fixture.newHost({ settings: { signInHandoff: false } })
    fixture.harness.clock.advance(10_000)
    const { sessionId } = await strict.create('SIGN-IN')
    const desktop = await fixture.newDevice(sessionId, DESKTOP)
    await assert.rejects(desktop.device.open(), REFUSED)
    const phone = await fixture.newDevice(sessionId)
    const opened = await phone.device.open()
    assert.deepEqual([opened.role, opened.handoff], ['holder', false])
    await assert.rejects(phone.device.handoff(), REFUSED)
    const enrol = await strict.create('ENROLL')
    const free = await fixture.newDevice(enrol.sessionId)
    assert.equal((await free.device.open()).handoff, true)
  })

  test('of a session that the last release has created needs no number, and gives the first device no code', async () => {
    fixture.harness.clock.advance(10_000)
    const { sessionId } = await host.create('ENROLL')
    await forgetHandoff(sessionId)
    const desktop = await fixture.newDevice(sessionId, DESKTOP)
    await desktop.device.open()
    const { code, number } = await desktop.device.handoff()
    assert.equal(number, undefined)
    const phone = await fixture.newDevice(sessionId)
    assert.equal((await phone.device.open(code)).numberNeeded, undefined)
    const ended = await finish(phone, faces.person())
    assert.equal(ended.state, 'SUCCESS')
    assert.equal((await host.webhook(sessionId)).codeHash, hashOf(ended.code ?? assert.fail('no code')))
    const first = await desktop.device.open()
    assert.equal(first.code, undefined)
    assert.equal(first.redirectUrl, `https://shop.example/back?state=7&sessionId=${sessionId}&status=SUCCESS`)
  })
})

/** Takes what this release has added out of a stored request, so that it is one of the last release. */
async function forgetHandoff(sessionId: string): Promise<void> {
  const { wire, database } = fixture.harness
  const session = await wire.sessions.service.find(sessionId)
  assert.ok(session && !isPurged(session))
  const { rows } = await database.query('select request from session_secrets where session_id = $1', [sessionId])
  const { handoff, ...request } = JSON.parse(
    openPart(session.dataKey, sessionId, 'request', rows[0].request).toString(),
  )
  assert.equal(handoff, 'number')
  const sealed = sealPart(session.dataKey, sessionId, 'request', Buffer.from(JSON.stringify(request)))
  await database.query('update session_secrets set request = $2 where session_id = $1', [sessionId, sealed])
}

describe('confirm', () => {
  async function ended() {
    const { sessionId } = await host.create('ENROLL')
    const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person() })
    const { code } = await user.device.submit(capture)
    return { sessionId, code: code ?? assert.fail('no code') }
  }
  const confirm = (sessionId: string, code: string, headers = {}, by = host) =>
    by.call('POST', `${PATH}/${sessionId}/confirm`, { code }, headers)

  test('200 once, then 409 CODE_USED; the same Idempotency-Key gets the first answer', async () => {
    const { sessionId, code } = await ended()
    const first = await confirm(sessionId, code, { 'idempotency-key': 'return-1' })
    const confirmedAt = fixture.harness.clock.now().toISOString()
    assert.deepEqual(
      [first.statusCode, first.json()],
      [200, { sessionId, flowStatus: 'COMPLETED', outcome: 'SUCCEEDED', confirmedAt, livemode: false }],
    )
    const again = await confirm(sessionId, code, { 'idempotency-key': 'return-1' })
    assert.deepEqual([again.json(), again.headers['idempotency-replayed']], [first.json(), 'true'])
    assertError(await confirm(sessionId, code), 409, 'CODE_USED', 'This code was confirmed before')
    assertError(
      await confirm(sessionId, 'x', { 'idempotency-key': 'return-1' }),
      409,
      'IDEMPOTENCY_MISMATCH',
      'This Idempotency-Key was used with another request',
    )
  })

  test('says whose browser it is, not that the check succeeded: a failed one is confirmed too', async () => {
    const { sessionId } = await host.create('ENROLL')
    const { user } = await reachCapture(fixture, sessionId, { vector: faces.person() })
    const { code = assert.fail('no code') } = await user.device.cancel()
    assert.equal((await confirm(sessionId, code)).json().outcome, 'CANCELLED')
  })

  test('409 CODE_WRONG five times, and then for the right code too', async () => {
    const { sessionId, code } = await ended()
    const other = await ended()
    for (const wrong of [other.code, `${code}x`, code.slice(1), code.toUpperCase(), 'a']) {
      assertError(await confirm(sessionId, wrong), 409, 'CODE_WRONG', 'This is not the code of the session')
    }
    assertError(await confirm(sessionId, code), 409, 'CODE_WRONG', 'This is not the code of the session')
    assert.equal((await confirm(other.sessionId, other.code)).statusCode, 200)
  })

  test('sent ten times at once, one is confirmed', async () => {
    const { sessionId, code } = await ended()
    const answers = await Promise.all(Array.from({ length: 10 }, () => confirm(sessionId, code)))
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, ...Array(9).fill(409)])
  })

  test('409 while the session is open, 404 for another tenant and mode, 400 without a code', async () => {
    const open = await host.create('ENROLL')
    assert.equal((await confirm(open.sessionId, 'x')).json().code, 'SESSION_OPEN')
    const { sessionId, code } = await ended()
    const stranger = await fixture.newHost()
    assert.equal((await confirm(sessionId, code, {}, stranger)).statusCode, 404)
    assert.equal((await host.call('POST', `${PATH}/${sessionId}/confirm`, {})).statusCode, 400)
    assert.equal((await confirm(sessionId, code)).statusCode, 200)
  })
})

test('neither the code nor its ticket is readable in the database, and both go with the session', async () => {
  const { sessionId } = await host.create('ENROLL')
  const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person() })
  const { code = assert.fail('no code') } = await user.device.submit(capture)
  const hex = Buffer.from(code).toString('hex')
  for (const [table, content] of await fixture.dump()) {
    assert.ok(!content.includes(code) && !content.includes(hex), table)
  }
  await host.call('DELETE', `${PATH}/${sessionId}`)
  const { rows } = await fixture.harness.database.query('select 1 from session_secrets where session_id = $1', [
    sessionId,
  ])
  assert.equal(rows.length, 0)
})
