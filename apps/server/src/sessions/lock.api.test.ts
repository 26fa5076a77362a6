import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type AgeFixture, createAgeFixture, type Host } from '../age/testing/fixture.ts'
import type { Queryable } from '../platform/db.ts'
import { untilBlocked } from '../testing/locks.ts'
import { isPurged, newProgress, type Session } from './index.ts'

let fixture: AgeFixture
let host: Host
before(async () => {
  fixture = await createAgeFixture()
  host = await fixture.newHost()
})
after(() => fixture.close())

const progressOf = (attempt: number) => ({ ...newProgress('en'), attempt })

/** Waits for a session that another transaction holds and changes. Returns the session as it is after the lock. */
async function findAfter(sessionId: string, doIt: (tx: Queryable, session: Session) => Promise<unknown>) {
  const { service: sessions } = fixture.harness.wire.sessions
  const isHeld = Promise.withResolvers<void>()
  const first = sessions.whileLocked(sessionId, async (tx, session) => {
    assert.ok(!isPurged(session))
    isHeld.resolve()
    await untilBlocked(fixture.harness.database)
    await doIt(tx, session)
  })
  await isHeld.promise
  const found = await sessions.whileLocked(sessionId, async (_tx, session) => session)
  await first
  return found ?? assert.fail('there is no such session')
}

describe('a session that another transaction holds', () => {
  test('is read as the other transaction left it', async () => {
    const { sessionId } = await host.create()
    const { service: sessions } = fixture.harness.wire.sessions
    for (const turn of [1, 2]) {
      const found = await findAfter(sessionId, (tx, session) =>
        sessions.save(tx, session, { state: turn === 1 ? 'OPENED' : 'CONSENTED', progress: progressOf(turn) }),
      )
      assert.ok(!isPurged(found))
      assert.deepEqual([found.state, found.progress], [turn === 1 ? 'OPENED' : 'CONSENTED', progressOf(turn)])
      const again = await sessions.whileLocked(sessionId, async (_tx, session) => session)
      assert.deepEqual(again, found, 'without waiting')
    }
  })

  test('is read with its content when only its times changed', async () => {
    const { sessionId } = await host.create()
    const { service: sessions } = fixture.harness.wire.sessions
    await sessions.whileLocked(sessionId, (tx, session) => {
      assert.ok(!isPurged(session))
      return sessions.save(tx, session, { state: 'OPENED', progress: progressOf(7) })
    })
    const found = await findAfter(sessionId, (tx, session) => sessions.postpone(tx, [session], new Date()))
    assert.ok(!isPurged(found))
    assert.deepEqual(found.progress, progressOf(7))
  })

  test('is gone when the other transaction has erased it', async () => {
    const { sessionId } = await host.create()
    await host.outcome(sessionId)
    const { service: sessions } = fixture.harness.wire.sessions
    const found = await findAfter(sessionId, (tx, session) => sessions.erase(tx, session, fixture.harness.clock.now()))
    assert.ok(isPurged(found))
  })
})
