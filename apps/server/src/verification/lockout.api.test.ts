import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Capture } from '@ostiary/device'
import { createFaces } from '../biometrics/testing/faces.ts'
import { isPurged } from '../sessions/index.ts'
import { purgeLockouts } from './jobs.ts'
import { type OwnProgress, verificationOf } from './progress.ts'
import { createVerificationFixture, type VerificationHost } from './testing/fixture.ts'
import { captureAgain, createToken, enrolled, failuresOf, from, reachCapture, visit } from './testing/people.ts'

const faces = createFaces(89)

const fixture = await createVerificationFixture({ TRUST_PROXY: '127.0.0.1' })

async function tryToSignIn(host: VerificationHost, face: readonly number[], address: string, body?: object) {
  const created = body ? await host.create('VERIFY', body) : await host.create('SIGN-IN')
  const state = await visit(fixture, created.sessionId, face, { spoof: 'nocapture' }, from(address))
  return { ...state, webhook: await host.webhook(created.sessionId) }
}

describe('five failed sign-ins', () => {
  test('[D-060] make the next ones of that network wait, longer every time, and the reply has the time', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    for (let failure = 1; failure <= 5; failure++) {
      const { errors, webhook } = await tryToSignIn(host, face, '192.0.2.7')
      assert.deepEqual([errors, webhook.retryAfter], [[2], failure < 5 ? undefined : 30], `failure ${failure}`)
    }
    for (const wait of [30, 60, 300, 900, 900]) {
      const refused = await tryToSignIn(host, face, '192.0.2.7')
      assert.deepEqual([refused.state, refused.errors, refused.attempt], ['FAILED', [-35], 0])
      const { retryAfter = 0, errorCodes, status } = refused.webhook
      assert.deepEqual([status, errorCodes], ['error', [-35]])
      // A few seconds have passed since the failure: the flow itself takes them.
      assert.ok(retryAfter <= wait && retryAfter > wait - 25, `${retryAfter} of ${wait}`)
      fixture.harness.clock.advance(retryAfter * 1000)
      assert.deepEqual((await tryToSignIn(host, face, '192.0.2.7')).errors, [2], 'after the wait it may be tried again')
    }
    assert.deepEqual((await tryToSignIn(host, face, '192.0.2.8')).errors, [2], 'another network is not concerned')
  })

  test('against one person count from every network, and a success clears them', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    const puid = await enrolled(fixture, host, face, { body: { customerId: 'kim' } })
    const who = { customerId: undefined, puid }
    for (let n = 1; n <= 4; n++) await tryToSignIn(host, face, `192.0.2.${10 + n}`, who)
    const good = await host.create('VERIFY', who)
    assert.equal((await visit(fixture, good.sessionId, face, {}, from('192.0.2.30'))).state, 'SUCCESS')
    for (let n = 1; n <= 5; n++) assert.deepEqual((await tryToSignIn(host, face, `192.0.2.${30 + n}`, who)).errors, [2])
    assert.deepEqual((await tryToSignIn(host, face, '192.0.2.60', who)).errors, [-35])
    const signIn = await host.create('SIGN-IN')
    const known = await visit(fixture, signIn.sessionId, face, {}, from('192.0.2.61'))
    assert.deepEqual([known.state, known.errors], ['FAILED', [-35]], 'also when the face tells who it is')
    const other = await tryToSignIn(host, faces.person(), '192.0.2.62', { customerId: 'somebody' })
    assert.deepEqual(other.errors, [2], 'another person is not concerned')
  })

  test('are found and forgotten by puid or customerId, with a key of its own scope', async () => {
    const host = await fixture.newHost()
    const support = await fixture.sibling(host, { scopes: ['verify:lockouts'] })
    const ask = async (who: VerificationHost, action: string, person: object) => {
      const { statusCode, ...answer } = await who.call('POST', `/v2/verification-lockout/${action}`, person)
      return [statusCode, statusCode === 200 ? answer.json() : answer.json().code]
    }
    const free = { locked: false, retryAfter: 0, failures: 0, livemode: false }
    const face = faces.person()
    const puid = await enrolled(fixture, host, face, { body: { customerId: 'robin' } })
    const [byId, byName] = [{ puid }, { customerId: 'robin' }]
    // The session names the person in one way, and support in the other.
    for (const [named, person] of [
      [byId, byName],
      [byName, byId],
    ] as const) {
      const who = { customerId: undefined, ...named }
      for (let n = 1; n <= 5; n++) await tryToSignIn(host, face, `198.51.100.${n}`, who)
      for (const one of [byId, byName]) {
        const refused = await tryToSignIn(host, face, '198.51.100.60', { customerId: undefined, ...one })
        assert.deepEqual(refused.errors, [-35], 'five tries, not five by each')
      }
      const [status, found] = await ask(support, 'find', person)
      assert.deepEqual([status, found.locked, found.failures], [200, true, 5])
      assert.ok(found.retryAfter > 0 && found.retryAfter <= 30)
      assert.deepEqual(await ask(host, 'clear', person), [403, 'SCOPE_DENIED'], 'no key of a host has the scope')
      const [, before] = await ask(support, 'clear', person)
      assert.deepEqual([before.locked, before.failures], [true, 5])
      assert.deepEqual(await ask(support, 'find', person), [200, free])
      assert.deepEqual((await tryToSignIn(host, face, '198.51.100.61', who)).errors, [2], 'compared again')
      await ask(support, 'clear', person)
      fixture.harness.clock.advance(3_600_000)
    }
    for (let n = 1; n <= 5; n++) await tryToSignIn(host, face, '198.51.100.70', { customerId: 'not enrolled' })
    const [, counted] = await ask(support, 'clear', { customerId: 'not enrolled' })
    assert.equal(counted.failures, 5, 'a name that nobody is enrolled under has a count too')
    assert.deepEqual(
      await ask(support, 'find', { customerId: 'nobody' }),
      [200, free],
      'and says nothing of who is enrolled',
    )
    for (const person of [{}, { customerId: '' }, { name: 'robin' }])
      assert.deepEqual(await ask(support, 'clear', person), [400, 'VALIDATION_FAILED'])
    const other = await fixture.sibling(await fixture.newHost(), { scopes: ['verify:lockouts'] })
    assert.deepEqual(await ask(other, 'find', { puid }), [200, free], 'of another tenant')
  })

  test('count from the first mismatch on: a cancel or an expiry after it changes nothing', async () => {
    const host = await fixture.newHost()
    const address = from('192.0.2.140')
    await enrolled(fixture, host, faces.person())
    for (let n = 1; n <= 5; n++) {
      const { sessionId } = await host.create('SIGN-IN')
      const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person(), options: address })
      assert.deepEqual((await user.device.submit(capture)).errors, [-9])
      if (n % 2 === 0) assert.equal((await user.device.cancel()).state, 'CANCELLED')
    }
    const { sessionId } = await host.create('SIGN-IN')
    assert.deepEqual((await visit(fixture, sessionId, faces.person(), {}, address)).errors, [-35])
  })

  /** Signs in with one face, and then with another. */
  async function atSecondTry(
    host: VerificationHost,
    first: readonly number[],
    then: readonly number[],
    address: string,
  ) {
    const { sessionId } = await host.create('SIGN-IN')
    const { user, capture } = await reachCapture(fixture, sessionId, { vector: first, options: from(address) })
    assert.deepEqual((await user.device.submit(capture)).errors, [-9])
    await user.device.logEvent('retake', 1)
    const second = await captureAgain(user, { vector: then })
    return user.device.submit(second.capture)
  }

  test('are not counted for people who are recognised at their second try', async () => {
    const host = await fixture.newHost()
    for (let n = 1; n <= 6; n++) {
      const face = faces.person()
      await enrolled(fixture, host, face)
      assert.equal((await atSecondTry(host, faces.person(), face, '192.0.2.150')).state, 'SUCCESS', `person ${n}`)
    }
  })

  test('are not counted for colleagues who use another person’s browser, either', async () => {
    const host = await fixture.newHost()
    const token = await createToken()
    await enrolled(fixture, host, faces.person(), { person: { ...token.enrols() } })
    for (let n = 1; n <= 6; n++) {
      const face = faces.person()
      await enrolled(fixture, host, face)
      const { sessionId } = await host.create('SIGN-IN')
      const options = from(`192.0.2.${210 + n}`)
      const withClaim = async ({ capture, nonce }: { capture: Capture; nonce: string }) => ({
        ...capture,
        local: { hit: false, proof: await token.prove(sessionId, nonce, false) },
      })
      const { user, ...first } = await reachCapture(fixture, sessionId, { vector: faces.person(), options })
      assert.deepEqual((await user.device.submit(await withClaim(first))).errors, [-9], `person ${n}`)
      await user.device.logEvent('retake', 1)
      const second = await captureAgain(user, { vector: face })
      assert.equal((await user.device.submit(await withClaim(second))).state, 'SUCCESS', `person ${n}`)
    }
  })

  test('cannot be avoided by trying other faces before one’s own', async () => {
    const host = await fixture.newHost()
    const own = faces.person()
    await enrolled(fixture, host, own)
    for (let n = 1; n <= 5; n++) {
      assert.equal((await atSecondTry(host, faces.person(), own, '192.0.2.160')).state, 'SUCCESS', `session ${n}`)
      const { sessionId } = await host.create('SIGN-IN')
      const clean = await visit(fixture, sessionId, own, {}, from('192.0.2.160'))
      assert.deepEqual(clean.errors, n < 5 ? [] : [-35], 'a sign-in without a miss takes nothing back')
    }
    const refused = await atSecondTry(host, faces.person(), own, '192.0.2.160')
    assert.deepEqual([refused.state, refused.errors], ['FAILED', [-35]])
  })

  test('make sessions wait whose user has consented before, without a word about the face', async () => {
    const host = await fixture.newHost()
    const own = faces.person()
    await enrolled(fixture, host, own)
    const address = '192.0.2.170'
    const begun = await Promise.all(
      [faces.person(), own].map(async (vector) => {
        const { sessionId } = await host.create('SIGN-IN')
        return reachCapture(fixture, sessionId, { vector, options: from(address) })
      }),
    )
    for (let n = 1; n <= 5; n++) await tryToSignIn(host, faces.person(), address)
    for (const { user, capture } of begun) {
      const { state, errors } = await user.device.submit(capture)
      assert.deepEqual([state, errors], ['FAILED', [-35]])
    }
  })

  test('are counted one after the other even if they come at once: five faces are compared, and no more', async () => {
    const host = await fixture.newHost()
    await enrolled(fixture, host, faces.person())
    const address = '192.0.2.175'
    for (let n = 1; n <= 3; n++) assert.deepEqual((await tryToSignIn(host, faces.person(), address)).errors, [2])
    const begun: Awaited<ReturnType<typeof reachCapture>>[] = []
    for (let n = 1; n <= 5; n++) {
      const { sessionId } = await host.create('SIGN-IN')
      begun.push(await reachCapture(fixture, sessionId, { vector: faces.person(), options: from(address) }))
    }
    const states = await Promise.all(begun.map(({ user, capture }) => user.device.submit(capture)))
    const codes = states.map(({ errors }) => errors[0] ?? 0).sort((a, b) => b - a)
    assert.deepEqual(codes, [-9, -9, -35, -35, -35])
  })

  test('against a person by the host’s own name are cleared by a success too', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    await enrolled(fixture, host, face, { body: { customerId: 'robin' } })
    for (let n = 1; n <= 6; n++) {
      const { sessionId } = await host.create('VERIFY', { customerId: 'robin' })
      const options = from(`192.0.2.${180 + n}`)
      const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person(), options })
      assert.deepEqual((await user.device.submit(capture)).errors, [-9], `session ${n}`)
      await user.device.logEvent('retake', 1)
      const second = await captureAgain(user, { vector: face })
      assert.equal((await user.device.submit(second.capture)).state, 'SUCCESS', `session ${n}`)
    }
  })

  test('that do not show who was there count against the network, and not against the named person', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    await enrolled(fixture, host, face, { body: { customerId: 'sascha' } })
    for (let n = 1; n <= 5; n++) {
      const { sessionId } = await host.create('VERIFY', { customerId: 'sascha' })
      const { user } = await reachCapture(fixture, sessionId, { vector: face, options: from('192.0.2.200') })
      for (let tries = 2; tries <= 3; tries++) await user.device.challenge()
      await assert.rejects(user.device.challenge())
      const { errors } = await host.webhook(sessionId)
      assert.deepEqual(
        errors?.map(({ code }: { code: number }) => code),
        [-19],
        `session ${n}`,
      )
    }
    const elsewhere = await host.create('VERIFY', { customerId: 'sascha' })
    assert.equal((await visit(fixture, elsewhere.sessionId, face, {}, from('192.0.2.201'))).state, 'SUCCESS')
    const there = await host.create('VERIFY', { customerId: 'sascha' })
    assert.deepEqual((await visit(fixture, there.sessionId, face, {}, from('192.0.2.200'))).errors, [-35])
  })

  test('expire after a quarter of an hour, and their rows are deleted', async () => {
    const host = await fixture.newHost()
    for (let n = 1; n <= 4; n++) await tryToSignIn(host, faces.person(), '192.0.2.99')
    fixture.harness.clock.advance(900_000)
    for (let n = 1; n <= 4; n++) assert.deepEqual((await tryToSignIn(host, faces.person(), '192.0.2.99')).errors, [2])
    const count = async () => {
      const text = 'select count(*)::int as count from sign_in_lockouts where tenant_id = $1'
      return (await fixture.harness.database.query(text, [host.tenantId])).rows[0]?.count
    }
    assert.equal(await count(), 1)
    fixture.harness.clock.advance(900_000)
    for (const { db } of fixture.harness.wire.platform.cells.all()) await purgeLockouts(db, fixture.harness.clock.now())
    assert.equal(await count(), 0)
  })

  test('a test tenant that advances its clock does not wait any more', async () => {
    const host = await fixture.newHost()
    for (let n = 1; n <= 5; n++) await tryToSignIn(host, faces.person(), '192.0.2.110')
    assert.deepEqual((await tryToSignIn(host, faces.person(), '192.0.2.110')).errors, [-35])
    assert.equal((await host.call('POST', '/test/clock/advance', { seconds: 30 })).statusCode, 204)
    assert.deepEqual((await tryToSignIn(host, faces.person(), '192.0.2.110')).errors, [2])
  })

  test('ENROLL sessions, cameras that fail and users who cancel are not counted', async () => {
    const host = await fixture.newHost()
    const address = from('192.0.2.120')
    for (let n = 1; n <= 6; n++) {
      const enrol = await host.create('ENROLL')
      await visit(fixture, enrol.sessionId, faces.person(), { spoof: 'nocapture' }, address)
      const signIn = await host.create('SIGN-IN')
      assert.equal(
        (await visit(fixture, signIn.sessionId, faces.person(), { declines: true }, address)).state,
        'CANCELLED',
      )
    }
    const { rows } = await fixture.harness.database.query('select * from sign_in_lockouts where tenant_id = $1', [
      host.tenantId,
    ])
    assert.deepEqual(rows, [])
  })
})

describe('an ENROLL with a name that an enrolled person has', () => {
  /** Shows a face once to an ENROLL with this name, and cancels if it is not that person's. */
  async function tryName(host: VerificationHost, face: readonly number[], customerId: string, address: string) {
    const { sessionId } = await host.create('ENROLL', { customerId })
    const options = from(address)
    const { user, capture } = await reachCapture(fixture, sessionId, { vector: face, options })
    const state = await user.device.submit(capture)
    if (state.flowStatus === null) await user.device.cancel()
    return state
  }

  test('is a comparison like VERIFY: after five wrong faces the right one has to wait too, from every network', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    const puid = await enrolled(fixture, host, face, { body: { customerId: 'alice' } })
    for (let n = 1; n <= 5; n++)
      assert.deepEqual((await tryName(host, faces.person(), 'alice', `198.51.100.${n}`)).errors, [-9], `face ${n}`)
    for (const [n, vector] of [face, faces.person()].entries()) {
      const { sessionId } = await host.create('ENROLL', { customerId: 'alice' })
      const refused = await visit(fixture, sessionId, vector, {}, from(`198.51.100.${10 + n}`))
      assert.deepEqual([refused.state, refused.errors, refused.attempt], ['FAILED', [-35], 0])
    }
    const named = await tryToSignIn(host, face, '198.51.100.20', { customerId: undefined, puid })
    assert.deepEqual(named.errors, [-35], 'a VERIFY of the same person waits as well')
  })

  test('counts against its network, also for sessions whose user has consented before', async () => {
    const host = await fixture.newHost()
    const address = '198.51.100.30'
    const own = faces.person()
    for (let n = 1; n <= 5; n++) await enrolled(fixture, host, faces.person(), { body: { customerId: `name-${n}` } })
    await enrolled(fixture, host, own, { body: { customerId: 'own' } })
    const { sessionId } = await host.create('ENROLL', { customerId: 'own' })
    const begun = await reachCapture(fixture, sessionId, { vector: own, options: from(address) })
    for (let n = 1; n <= 5; n++)
      assert.deepEqual((await tryName(host, faces.person(), `name-${n}`, address)).errors, [-9], `name ${n}`)
    const late = await begun.user.device.submit(begun.capture)
    assert.deepEqual([late.state, late.errors], ['FAILED', [-35]])
    const stranger = await host.create('ENROLL', { customerId: 'nobody-yet' })
    const made = await visit(fixture, stranger.sessionId, faces.person(), {}, from(address))
    assert.equal(made.state, 'SUCCESS', 'somebody new does not wait for others')
  })

  test('counts a session once, and a success clears the person', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    await enrolled(fixture, host, face, { body: { customerId: 'bo' } })
    for (let n = 1; n <= 6; n++) {
      const { sessionId } = await host.create('ENROLL', { customerId: 'bo' })
      const options = from('198.51.100.40')
      const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person(), options })
      assert.deepEqual((await user.device.submit(capture)).errors, [-9], `session ${n}`)
      await user.device.logEvent('retake', 1)
      const second = await captureAgain(user, { vector: face })
      assert.equal((await user.device.submit(second.capture)).state, 'SUCCESS', `session ${n}`)
    }
    const { sessionId } = await host.create('ENROLL', { customerId: 'bo' })
    const wrong = await visit(fixture, sessionId, faces.person(), {}, from('198.51.100.41'))
    assert.deepEqual([wrong.state, wrong.errors], ['FAILED', [-9]])
    assert.deepEqual(
      await failuresOf(fixture, host),
      [0, 1, 1],
      'six failures taken back; then network and person once each',
    )
  })

  test('that nobody has, or without a name, is not counted, whatever fails', async () => {
    const host = await fixture.newHost()
    const known = faces.person()
    await enrolled(fixture, host, known, { body: { customerId: 'known' } })
    for (let n = 1; n <= 6; n++) {
      const spoof = await host.create('ENROLL', { customerId: `new-${n}` })
      await visit(fixture, spoof.sessionId, faces.person(), { spoof: 'nocapture' }, from('198.51.100.50'))
      const under = await host.create('ENROLL', { customerId: `other-${n}` })
      assert.equal((await visit(fixture, under.sessionId, known, {}, from('198.51.100.50'))).state, 'SUCCESS')
    }
    assert.deepEqual(await failuresOf(fixture, host), [])
  })
})

describe('an IPv6 network', () => {
  const inNetwork = (subnet: number) => `2001:db8:77:${subnet.toString(16)}::1`

  test('waits as a whole: its sixth failure locks a /48, from whatever /64 each of them comes', async () => {
    const host = await fixture.newHost()
    for (let n = 1; n <= 6; n++) {
      const { errors, webhook } = await tryToSignIn(host, faces.person(), inNetwork(n * 256))
      assert.deepEqual([errors, webhook.retryAfter], [[2], n < 6 ? undefined : 30], `failure ${n}`)
    }
    assert.deepEqual((await tryToSignIn(host, faces.person(), inNetwork(0x4200))).errors, [-35])
    assert.deepEqual((await tryToSignIn(host, faces.person(), '2001:db8:78:1::1')).errors, [2], 'another /48')
  })

  test('of one subscriber, a /64 or a /56, waits from the fifth on', async () => {
    const host = await fixture.newHost()
    for (let n = 1; n <= 5; n++)
      assert.deepEqual((await tryToSignIn(host, faces.person(), inNetwork(n))).errors, [2], `failure ${n}`)
    assert.deepEqual((await tryToSignIn(host, faces.person(), inNetwork(0xff))).errors, [-35])
    assert.deepEqual(
      (await tryToSignIn(host, faces.person(), inNetwork(0x100))).errors,
      [2],
      'another /56 has one more',
    )
    assert.deepEqual((await tryToSignIn(host, faces.person(), inNetwork(0x200))).errors, [-35])
  })

  test('of a session that the last release began is the /64 alone, and its failures still count', async () => {
    const host = await fixture.newHost()
    await enrolled(fixture, host, faces.person())
    const address = inNetwork(0x300)
    for (let n = 1; n <= 5; n++) {
      const { sessionId } = await host.create('SIGN-IN')
      const { user, capture } = await reachCapture(fixture, sessionId, {
        vector: faces.person(),
        options: from(address),
      })
      await forgetWideNetworks(sessionId)
      assert.deepEqual((await user.device.submit(capture)).errors, [-9], `session ${n}`)
    }
    assert.deepEqual(await failuresOf(fixture, host), [5])
    assert.deepEqual((await tryToSignIn(host, faces.person(), address)).errors, [-35])
  })

  /** Leaves what the last release has in an open session: one network. */
  async function forgetWideNetworks(sessionId: string) {
    const { service } = fixture.harness.wire.sessions
    await service.whileLocked(sessionId, async (tx, session) => {
      assert.ok(!isPurged(session) && session.progress)
      const own = verificationOf(session.progress as OwnProgress)
      const subjects = own.subjects.filter(({ failures }) => failures === undefined).slice(0, 1)
      await service.save(tx, session, {
        state: session.state,
        progress: { ...session.progress, own: { ...own, subjects } },
      })
    })
  }
})

describe('a tenant’s budget of failed comparisons', () => {
  test('makes everybody wait who compares, over all networks, and raises an alarm', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    await enrolled(fixture, host, face, { body: { customerId: 'known' } })
    await fixture.harness.wire.settings.service.set(host.tenantId, { failedComparisonsPerHour: 10 })
    const missFrom = async (n: number) => {
      const { sessionId } = await host.create('SIGN-IN')
      const options = from(`203.0.113.${n}`)
      const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person(), options })
      return (await user.device.submit(capture)).errors
    }
    for (let n = 1; n <= 10; n++) assert.deepEqual(await missFrom(n), [-9], `comparison ${n}`)
    const { sessionId } = await host.create('VERIFY', { customerId: 'known' })
    const waiting = await visit(fixture, sessionId, face, {}, from('203.0.113.50'))
    assert.deepEqual([waiting.state, waiting.errors], ['FAILED', [-35]])
    const { retryAfter = 0 } = await host.webhook(sessionId)
    assert.ok(retryAfter > 0 && retryAfter <= 360, `${retryAfter}`)
    const lines = fixture.harness.logged().split('\n')
    const alarms = lines.filter((line) => line.includes('budget of failed comparisons') && line.includes(host.tenantId))
    assert.equal(alarms.length, 1)
    assert.match(await fixture.harness.wire.platform.metrics.text(), /failed_comparison_alarms_total{mode="test"} 1\n/)
    const made = await host.create('ENROLL')
    assert.equal((await visit(fixture, made.sessionId, faces.person(), {}, from('203.0.113.51'))).state, 'SUCCESS')
    const other = await fixture.newHost()
    assert.deepEqual((await tryToSignIn(other, faces.person(), '203.0.113.52')).errors, [2], 'another tenant')
    fixture.harness.clock.advance(3_600_000)
    const later = await host.create('VERIFY', { customerId: 'known' })
    assert.equal((await visit(fixture, later.sessionId, face, {}, from('203.0.113.53'))).state, 'SUCCESS')
  })
})

test('the database does not show any network', async () => {
  const host = await fixture.newHost()
  await tryToSignIn(host, faces.person(), '198.51.100.77')
  const dump = [...(await fixture.dump()).values()].join('\n')
  assert.ok(!dump.includes('198.51.100.77') && !dump.includes(Buffer.from('198.51.100.77').toString('hex')))
})
