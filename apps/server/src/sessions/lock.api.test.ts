import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAgeHost } from '../age/testing/fixture.ts'
import { type Queryable, sql } from '../platform/db.ts'
import { untilBlocked } from '../testing/locks.ts'
import { isPurged, newProgress, type Session } from './index.ts'

const { fixture, host } = await createAgeHost()

const dbOf = (sessionId: string) => fixture.harness.wire.platform.cells.forId(sessionId)
const progressOf = (attempt: number) => ({ ...newProgress('en'), attempt })

const LOCK = sql('', 'select 1 from sessions where session_id = $1 for update')

/** Waits for a session that another process holds and changes. Returns the session as it is after the lock. */
async function findAfter(sessionId: string, doIt: (tx: Queryable, session: Session) => Promise<unknown>) {
  const { service: sessions } = fixture.harness.wire.sessions
  const isHeld = Promise.withResolvers<void>()
  const session = await sessions.find(sessionId)
  assert.ok(session && !isPurged(session))
  const first = dbOf(sessionId).transaction(async (tx) => {
    await tx.rows(LOCK, [sessionId])
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

  test('occupies one connection, however many calls wait for it, and the calls of others go on', async () => {
    const { sessionId, token } = await host.create()
    const isOver = Promise.withResolvers<void>()
    const isHeld = Promise.withResolvers<void>()
    const holding = dbOf(sessionId).transaction(async (tx) => {
      await tx.rows(LOCK, [sessionId])
      isHeld.resolve()
      await isOver.promise
    })
    await isHeld.promise
    const cancelled = Array.from({ length: 60 }, () => host.call('POST', `/session/${token}/cancel`))
    await untilBlocked(fixture.harness.database)
    const other = await host.create()
    assert.equal((await host.call('POST', `/session/${other.token}/cancel`)).statusCode, 200)
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    assert.equal((await fixture.harness.database.query(waiting)).rows.length, 1)
    isOver.resolve()
    await holding
    const statuses = (await Promise.all(cancelled)).map(({ statusCode }) => statusCode)
    assert.deepEqual(statuses.toSorted(), [200, ...Array(59).fill(409)])
  })
})
