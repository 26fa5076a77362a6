import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { encodeVector } from '@ostiary/crypto'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '../app.ts'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createLaunchRoom } from '../launch/index.ts'
import { createMetrics } from '../platform/metrics.ts'
import { type Flow, isPurged, type RunningSession, type Sessions, type WorkResult } from '../sessions/index.ts'
import { untilBlocked } from '../testing/locks.ts'
import { discardOrphanedEnrolments } from './provisional-persons.ts'
import { verificationStore } from './store.ts'
import { createVerificationHost, type VerificationHost } from './testing/fixture.ts'
import { createToken, enrolled, reachCapture, visit } from './testing/people.ts'

const faces = createFaces(79)
const apps: FastifyInstance[] = []

const { fixture, host } = await createVerificationHost()
after(async () => {
  for (const app of apps) await app.close()
})

/** Starts another process on the same database, with the given slow work. Returns its address. */
async function otherProcess(work: (doIt: () => Promise<WorkResult>) => Promise<WorkResult>): Promise<string> {
  const { wire } = fixture.harness
  const flow: Flow = {
    ...wire.verification.flow,
    work: (session) => work(() => wire.verification.flow.work?.(session) ?? assert.fail('there is no work')),
  }
  const { launch: page, networkListsDir } = wire.config
  const deps = { ...wire, ...page, networkListsDir, verification: { ...wire.verification, flow } }
  // Each process has metrics of its own.
  const platform = { ...wire.platform, metrics: createMetrics('0', { processMetrics: false }) }
  const launch = createLaunchRoom(platform, deps)
  const app = buildApp({ ...wire, launch })
  apps.push(app)
  return app.listen({ port: 0, host: '127.0.0.1' })
}

function running(session: Awaited<ReturnType<Sessions['find']>>): RunningSession {
  assert.ok(session && !isPurged(session) && session.progress)
  return { ...session, progress: session.progress }
}

/** Another process that deletes this person at the end of its slow work. */
const deletesMeanwhile = ({ tenantId }: VerificationHost, personId: string): Promise<string> =>
  otherProcess(async (doIt) => {
    const done = await doIt()
    await fixture.harness.wire.biometrics.recognition.delete({ tenantId, livemode: false }, personId)
    return done
  })

const endsHere = () => Promise.reject(new Error('the process ends here'))

/** Sends submits to another process. */
const submitsTo =
  (address: string): typeof globalThis.fetch =>
  (url, init) => {
    const target = new URL(String(url))
    const isSubmit = target.pathname.endsWith('/submit')
    return fetch(isSubmit ? `${address}${target.pathname}` : target, init)
  }

/** An ENROLL or SIGN-IN whose process ended between the capture and the work. */
async function leftInTheMiddle(type: 'ENROLL' | 'SIGN-IN', vector: readonly number[]) {
  const created = await host.create(type)
  let dead: string | undefined = await otherProcess(endsHere)
  const toDead = submitsTo(dead)
  const route: typeof globalThis.fetch = (url, init) => (dead === undefined ? fetch(url, init) : toDead(url, init))
  const { user, capture } = await reachCapture(fixture, created.sessionId, { vector, options: { fetch: route } })
  await user.device.logEvent('submit')
  await user.device.flushEvents()
  const payload = await user.device.payloadOf(capture)
  const sealed = await user.device.seal(payload)
  await assert.rejects(user.device.submitSealed(sealed), { status: 500 })
  dead = undefined
  return { created, user, payload, sealed }
}

const webhooksOf = async (sessionId: string) => {
  const text = 'select event from webhook_deliveries where subject_id = $1'
  return (await fixture.harness.database.query(text, [sessionId])).rows.map(({ event }) => event)
}

describe('a process that ends between the capture and the work', () => {
  test('loses nothing: the page sends the same capture again, and there is one person and one webhook', async () => {
    const { created, user, sealed } = await leftInTheMiddle('ENROLL', faces.person())
    assert.equal((await host.get(created.sessionId)).state, 'FINALIZING')
    assert.deepEqual(await webhooksOf(created.sessionId), [])
    assert.equal((await user.device.submitSealed(sealed)).state, 'SUCCESS')
    assert.deepEqual(await webhooksOf(created.sessionId), ['verification.succeeded'])
    assert.deepEqual((await host.webhook(created.sessionId)).errors, [])
    await assert.rejects(user.device.submitSealed(sealed), { status: 409 })
  })

  test('loses nothing when the work was done but its result was lost: it is the same person, and still new', async () => {
    const own = await fixture.newHost()
    const created = await own.create('ENROLL')
    const dead = await otherProcess(async (doIt) => {
      await doIt()
      return endsHere()
    })
    const options = { fetch: submitsTo(dead) }
    const { user, capture } = await reachCapture(fixture, created.sessionId, { vector: faces.person(), options })
    await assert.rejects(user.device.submit(capture), { status: 500 })
    assert.equal((await user.device.open()).state, 'SUCCESS')
    assert.deepEqual((await own.webhook(created.sessionId)).errors, [], 'not -37')
    const text = 'select count(*)::int as count from face_persons where tenant_id = $1'
    assert.deepEqual((await fixture.harness.database.query(text, [own.tenantId])).rows, [{ count: 1 }])
  })

  test('loses nothing: a reloaded page finds the work done', async () => {
    const face = faces.person()
    const puid = await enrolled(fixture, host, face)
    const { created, user } = await leftInTheMiddle('SIGN-IN', face)
    assert.equal((await host.get(created.sessionId)).state, 'SERVER_COMPARE')
    const opened = await user.device.open()
    assert.deepEqual([opened.state, opened.flowStatus], ['SUCCESS', 'COMPLETED'])
    assert.equal((await host.webhook(created.sessionId)).puid, puid)
    assert.deepEqual(await webhooksOf(created.sessionId), ['verification.succeeded'])
  })

  test('another capture that is sent meanwhile is not used', async () => {
    const [judged, swapped] = [faces.person(), faces.person()]
    const { created, user, payload } = await leftInTheMiddle('ENROLL', judged)
    const other = { ...payload, nonce: 'n'.repeat(32) }
    await assert.rejects(user.device.submitSealed(await user.device.seal(other)), { code: 'CHALLENGE_NOT_VALID' })
    await assert.rejects(user.device.submitSealed('rubbish'), { code: 'INVALID_PAYLOAD' })
    await assert.rejects(user.device.challenge(), { code: 'SESSION_NOT_OPEN' })
    await assert.rejects(user.device.failure(-7), { code: 'SESSION_NOT_OPEN' })
    await assert.rejects(user.device.handoff(), { code: 'SESSION_NOT_OPEN' })
    // The right nonce with another face: the work continues with the face that was judged.
    const face = { version: 'FACE3_3', vector: encodeVector(swapped) }
    assert.equal((await user.device.submitSealed(await user.device.seal({ ...payload, face }))).state, 'SUCCESS')
    const { puid } = await host.webhook(created.sessionId)
    for (const [vector, expected] of [
      [judged, puid],
      [swapped, undefined],
    ] as const) {
      const { sessionId } = await host.create('SIGN-IN')
      await visit(fixture, sessionId, vector)
      assert.equal((await host.webhook(sessionId)).puid, expected)
    }
  })

  test('a person who is enrolled while the host cancels is deleted', async () => {
    const face = faces.person()
    const own = await fixture.newHost()
    const created = await own.create('ENROLL')
    const slow = await otherProcess(async (doIt) => {
      const done = await doIt()
      const cancelled = await own.call('POST', `/v2/verification-session/${created.sessionId}/cancel`)
      assert.equal(cancelled.statusCode, 200, cancelled.body)
      return done
    })
    const options = { fetch: submitsTo(slow) }
    const state = await visit(fixture, created.sessionId, face, {}, options)
    assert.deepEqual([state.state, state.flowStatus], ['CANCELLED', 'CANCELLED'])
    const { sessionId } = await own.create('SIGN-IN')
    assert.deepEqual((await visit(fixture, sessionId, face)).errors, [-36])
  })

  test('a person created by a process that died is discarded when the session fails, unless another session has reported them to the host', async () => {
    const own = await fixture.newHost()
    const dying = await otherProcess(async (doIt) => {
      await doIt()
      return endsHere()
    })
    const options = { fetch: submitsTo(dying) }
    const persons = async () => {
      const text = 'select person_id from face_persons where tenant_id = $1'
      return (await fixture.harness.database.query(text, [own.tenantId])).rows.length
    }
    const discardAll = async () => {
      fixture.harness.clock.advance(60_000)
      const { wire, clock } = fixture.harness
      for (const { db } of wire.platform.cells.all())
        await discardOrphanedEnrolments(db, wire.biometrics.recognition, clock.now())
    }
    const face = faces.person()
    const lost = await own.create('ENROLL')
    const first = await reachCapture(fixture, lost.sessionId, { vector: face, options })
    await assert.rejects(first.user.device.submit(first.capture), { status: 500 })
    assert.equal(await persons(), 1)
    assert.equal((await own.call('POST', `/v2/verification-session/${lost.sessionId}/cancel`)).statusCode, 200)
    await discardAll()
    assert.equal(await persons(), 0)
    const again = await own.create('ENROLL')
    const second = await reachCapture(fixture, again.sessionId, { vector: face, options })
    await assert.rejects(second.user.device.submit(second.capture), { status: 500 })
    const cancelled = await own.call('POST', `/v2/verification-session/${again.sessionId}/cancel`)
    assert.equal(cancelled.statusCode, 200)
    const adopting = await own.create('ENROLL')
    assert.equal((await visit(fixture, adopting.sessionId, face)).state, 'SUCCESS')
    await discardAll()
    assert.equal(await persons(), 1)
    // The other way round: a person who was reported to the host first stays when the session that created them fails.
    for (const [index, type] of (['ENROLL', 'SIGN-IN'] as const).entries()) {
      const other = faces.person()
      const open = await own.create('ENROLL')
      const third = await reachCapture(fixture, open.sessionId, { vector: other, options })
      await assert.rejects(third.user.device.submit(third.capture), { status: 500 })
      const meeting = await own.create(type)
      assert.equal((await visit(fixture, meeting.sessionId, other)).state, 'SUCCESS')
      const { puid } = await own.webhook(meeting.sessionId)
      assert.equal((await own.call('POST', `/v2/verification-session/${open.sessionId}/cancel`)).statusCode, 200)
      await discardAll()
      assert.equal(await persons(), 2 + index)
      const again = await own.create('SIGN-IN')
      await visit(fixture, again.sessionId, other)
      assert.equal((await own.webhook(again.sessionId)).puid, puid)
    }
    const noted = async () =>
      (await fixture.harness.database.query('select from provisional_persons where tenant_id = $1', [own.tenantId]))
        .rows.length
    assert.equal(await noted(), 3)
    fixture.harness.clock.advance(70 * 86_400_000)
    await discardAll()
    assert.deepEqual([await noted(), await persons()], [0, 3], 'what was noted goes when it is of no more use')
  })

  test('an ENROLL that finds a person who is deleted at that moment takes another try, and enrols them again', async () => {
    const face = faces.person()
    const own = await fixture.newHost()
    const gone = await enrolled(fixture, own, face)
    const slow = await deletesMeanwhile(own, gone)
    const { sessionId } = await own.create('ENROLL')
    const { user, capture } = await reachCapture(fixture, sessionId, {
      vector: face,
      options: { fetch: submitsTo(slow) },
    })
    const state = await user.device.submit(capture)
    assert.deepEqual([state.state, state.errors, state.attemptsLeft], ['CONSENTED', [-100], 2])
    assert.equal((await visit(fixture, (await own.create('ENROLL')).sessionId, face)).state, 'SUCCESS')
  })

  test('a SIGN-IN of a person who is deleted while they are recognised fails', async () => {
    const face = faces.person()
    const own = await fixture.newHost()
    const gone = await enrolled(fixture, own, face)
    const slow = await deletesMeanwhile(own, gone)
    const { sessionId } = await own.create('SIGN-IN')
    const state = await visit(fixture, sessionId, face, {}, { fetch: submitsTo(slow) })
    assert.deepEqual([state.state, state.errors], ['FAILED', [-36]])
    const { status, puid, errorCodes } = await own.webhook(sessionId)
    assert.deepEqual([status, puid, errorCodes], ['error', undefined, [-36]])
  })

  test('a person that an ENROLL finds at the moment when they are discarded stays', async () => {
    const own = await fixture.newHost()
    const personId = await enrolled(fixture, own, faces.person())
    const owner = { tenantId: own.tenantId, livemode: false }
    const { wire } = fixture.harness
    const { recognition } = wire.biometrics
    const db = wire.platform.cells.forId(own.tenantId)
    await verificationStore.markForDiscard(db, [{ ...owner, personId }], fixture.harness.clock.now())
    const isHeld = Promise.withResolvers<void>()
    const confirming = db.transaction(async (tx) => {
      assert.ok(await recognition.hold(owner, personId, tx))
      isHeld.resolve()
      await untilBlocked(fixture.harness.database)
      const until = new Date(fixture.harness.clock.now().getTime() + 60_000)
      assert.equal(await verificationStore.confirmPerson(tx, owner, personId, until), 1)
    })
    await isHeld.promise
    await discardOrphanedEnrolments(db, recognition, fixture.harness.clock.now())
    await confirming
    assert.ok(await recognition.find(owner, { puid: personId }))
  })

  test('the confirmation of a person is deleted when the host deletes the person', async () => {
    const own = await fixture.newHost()
    const [face, other] = [faces.person(), faces.person()]
    const [personId, stays] = [await enrolled(fixture, own, face), await enrolled(fixture, own, other)]
    for (const vector of [face, other]) {
      const { sessionId } = await own.create('SIGN-IN')
      assert.equal((await visit(fixture, sessionId, vector)).state, 'SUCCESS')
    }
    const noted = async () => {
      const text = 'select person_id from provisional_persons where tenant_id = $1 order by person_id'
      return (await fixture.harness.database.query(text, [own.tenantId])).rows.map((row) => row.person_id)
    }
    assert.deepEqual(await noted(), [personId, stays])
    const { recognition } = fixture.harness.wire.biometrics
    assert.ok(await recognition.delete({ tenantId: own.tenantId, livemode: false }, personId))
    assert.deepEqual(await noted(), [stays])
  })

  test('the result for a claim alone is not applied to the vector that follows it', async () => {
    const own = await fixture.newHost({ settings: { signInMatching: 'local' } })
    const face = faces.person()
    const puid = await enrolled(fixture, own, face)
    const { sessionId } = await own.create('SIGN-IN')
    const { wire } = fixture.harness
    const toDead = submitsTo(await otherProcess(endsHere))
    let isDead = true
    const route: typeof globalThis.fetch = (url, init) => (isDead ? toDead(url, init) : fetch(url, init))
    const { user, capture, nonce } = await reachCapture(fixture, sessionId, { options: { fetch: route } })
    const { device } = user
    const local = { hit: true, proof: await (await createToken()).prove(sessionId, nonce) }
    await assert.rejects(device.submit({ ...capture, local }), { status: 500 })
    const found = running(await wire.sessions.service.find(sessionId))
    const late = await wire.verification.flow.work?.(found)
    assert.equal((await device.open()).state, 'FACE_ACTIVE', 'another process was quicker')
    const vector = { version: 'FACE3_3', vector: encodeVector(face) } as const
    await assert.rejects(device.submit({ ...capture, local, face: vector }), { status: 500 })
    assert.equal((await own.get(sessionId)).state, found.state)
    const applied = await wire.sessions.service.whileLocked(sessionId, async (tx, now) => [
      await late?.apply(tx, running(now)),
    ])
    assert.deepEqual(applied, [undefined])
    isDead = false
    assert.equal((await device.open()).state, 'SUCCESS')
    assert.equal((await own.webhook(sessionId)).puid, puid)
  })

  test('work that two processes do at once is applied once', async () => {
    const created = await host.create('ENROLL')
    const slow = await otherProcess(async (doIt) => {
      const done = await doIt()
      const saved = await user.device.save()
      const again = await fixture.newDevice(created.sessionId, { saved: { ...saved, counter: saved.counter + 10 } })
      assert.equal((await again.device.open()).state, 'SUCCESS', 'the page was loaded again meanwhile')
      return done
    })
    const options = { fetch: submitsTo(slow) }
    const { user, capture } = await reachCapture(fixture, created.sessionId, { vector: faces.person(), options })
    assert.equal((await user.device.submit(capture)).state, 'SUCCESS')
    assert.deepEqual(await webhooksOf(created.sessionId), ['verification.succeeded'])
  })
})
