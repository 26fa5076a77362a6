import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type AgeFixture, createAgeFixture, type Host } from '../age/testing/fixture.ts'
import { DAY_MS } from '../platform/clock.ts'
import { type Queryable, sql } from '../platform/db.ts'
import { untilBlocked } from '../testing/locks.ts'
import { isPurged, newProgress, type Session, type Tombstone } from './index.ts'
import { prepareSessionPartitions } from './jobs.ts'

let fixture: AgeFixture
let host: Host
before(async () => {
  fixture = await createAgeFixture()
  host = await fixture.newHost()
})
after(() => fixture.close())

const dbOf = (sessionId: string) => fixture.harness.wire.platform.cells.forId(sessionId)
const sessionsOf = () => fixture.harness.wire.sessions.service
const progressOf = (attempt: number) => ({ ...newProgress('en'), attempt })
const LOCK = sql('', 'select 1 from sessions where session_id = $1 for update')
const NOTHING = sql('', 'select 1')

function opened(found: Session | Tombstone): Session {
  assert.ok(!isPurged(found))
  return found
}

async function attemptOf(sessionId: string): Promise<number | undefined> {
  return opened((await sessionsOf().find(sessionId)) ?? assert.fail()).progress?.attempt
}

/** Counts one more attempt, and does `between` after the session was read. Returns what each run has read. */
async function countOne(sessionId: string, between: (run: number, tx: Queryable) => Promise<unknown>) {
  const reads: (number | undefined)[] = []
  await sessionsOf().change(sessionId, async (tx, found) => {
    const session = opened(found)
    reads.push(session.progress?.attempt)
    await between(reads.length, tx)
    const attempt = (session.progress?.attempt ?? 0) + 1
    await sessionsOf().save(tx, session, { state: 'OPENED', progress: progressOf(attempt) })
  })
  return reads
}

// A call of another process does not wait for this one's turn with the session.
async function elsewhere(sessionId: string, attempt: number): Promise<void> {
  const session = opened((await sessionsOf().find(sessionId)) ?? assert.fail())
  await dbOf(sessionId).transaction(async (tx) => {
    await tx.rows(LOCK, [sessionId])
    await sessionsOf().save(tx, session, { state: 'OPENED', progress: progressOf(attempt) })
  })
}

describe('a change of a session that nobody holds', () => {
  test('is stored when nobody else wrote the session, without a transaction', async () => {
    const { sessionId } = await host.create()
    const reads = await countOne(sessionId, async (_run, _tx) => {
      const { total, idle } = dbOf(sessionId).stats()
      assert.equal(total - idle, 0, 'no connection is held while it is decided')
    })
    assert.deepEqual(reads, [undefined])
    assert.equal(await attemptOf(sessionId), 1)
  })

  test('is decided again when it was overtaken, and counted', async () => {
    const { sessionId } = await host.create()
    const before = await overtakenCalls()
    const reads = await countOne(sessionId, (run) => (run === 1 ? elsewhere(sessionId, 7) : Promise.resolve()))
    assert.deepEqual(reads, [undefined, 7])
    assert.equal(await attemptOf(sessionId), 8)
    assert.equal((await overtakenCalls()) - before, 1)
  })

  test('is decided again when it was overtaken before its first statement', async () => {
    const { sessionId } = await host.create()
    const reads = await countOne(sessionId, async (run, tx) => {
      if (run === 1) await elsewhere(sessionId, 3)
      await tx.rows(NOTHING)
    })
    assert.deepEqual(reads, [undefined, 3])
    assert.equal(await attemptOf(sessionId), 4)
  })

  test('holds the session from its first statement on', async () => {
    const { sessionId } = await host.create()
    let other: Promise<unknown> | undefined
    const reads = await countOne(sessionId, async (_run, tx) => {
      await tx.rows(NOTHING)
      other = elsewhere(sessionId, 20)
      await untilBlocked(fixture.harness.database)
    })
    assert.deepEqual(reads, [undefined])
    await other
    assert.equal(await attemptOf(sessionId), 20, 'the other one waited and came second')
  })

  test('waits for a transaction that holds the session, and sees what that wrote', async () => {
    const { sessionId } = await host.create()
    const isHeld = Promise.withResolvers<void>()
    const mayWrite = Promise.withResolvers<void>()
    const session = opened((await sessionsOf().find(sessionId)) ?? assert.fail())
    const holding = dbOf(sessionId).transaction(async (tx) => {
      await tx.rows(LOCK, [sessionId])
      isHeld.resolve()
      await mayWrite.promise
      await sessionsOf().save(tx, session, { state: 'OPENED', progress: progressOf(5) })
    })
    await isHeld.promise
    const counting = countOne(sessionId, async () => {})
    await untilBlocked(fixture.harness.database)
    mayWrite.resolve()
    await holding
    assert.deepEqual(await counting, [undefined, 5])
    assert.equal(await attemptOf(sessionId), 6)
  })

  test('many at once are all counted, whichever way each takes', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => host.create()))
    const calls = made.flatMap(({ sessionId }) => [1, 2, 3].map(() => countOne(sessionId, async () => {})))
    await Promise.all(calls)
    for (const { sessionId } of made) assert.equal(await attemptOf(sessionId), 3)
  })

  test('of a day without a partition is stored too, also when the partition is created meanwhile', async () => {
    const bare = await createAgeFixture()
    try {
      const { service: sessions } = bare.harness.wire.sessions
      bare.harness.clock.advance(2 * DAY_MS)
      const { sessionId } = await (await bare.newHost()).create()
      const db = bare.harness.wire.platform.cells.forId(sessionId)
      assert.equal((await bare.harness.database.query('select 1 from sessions_default')).rows.length, 1)
      const change = (attempt: number, between?: () => Promise<unknown>) =>
        sessions.change(sessionId, async (tx, found) => {
          const first = between
          between = undefined
          await first?.()
          await sessions.save(tx, opened(found), { state: 'OPENED', progress: progressOf(attempt) })
        })
      await change(1)
      await change(2, () => prepareSessionPartitions(db, bare.harness.clock.now()))
      await change(3)
      assert.equal(opened((await sessions.find(sessionId)) ?? assert.fail()).progress?.attempt, 3)
      assert.equal((await bare.harness.database.query('select 1 from sessions_default')).rows.length, 0)
    } finally {
      await bare.close()
    }
  })
})

describe('the statements of a device call', () => {
  test('touch the partitions of the day alone and are planned once', async () => {
    const { sessionId } = await host.create()
    const db = dbOf(sessionId)
    for (let call = 0; call < 20; call++) await countOne(sessionId, async () => {})
    const locked = await sessionsOf().whileLocked(sessionId, (tx) => tx.rows<{ name: string }>(LOCKED_TABLES))
    const today = fixture.harness.clock.now().toISOString().slice(0, 10).replaceAll('-', '')
    assert.deepEqual(
      (locked ?? []).map(({ name }) => name),
      [`session_secrets_${today}`, `sessions_${today}`],
    )
    const plans = await db.rows<{ name: string; generic: number; custom: number }>(PLANS, [`%_${today}`])
    for (const { name, generic, custom } of plans)
      assert.ok(custom <= 5, `${name}: ${custom} plans of its own, ${generic} times the common one`)
  })
})

const LOCKED_TABLES = sql(
  '',
  `select distinct c.relname as name from pg_locks l join pg_class c on c.oid = l.relation
   where l.pid = pg_backend_pid() and c.relkind in ('r', 'p') and c.relname like 'session%' order by 1`,
)
// PostgreSQL plans a statement five times for its values before it may take a common plan.
const PLANS = sql(
  '',
  `select name, generic_plans::int as generic, custom_plans::int as custom from pg_prepared_statements
   where name like 'sessions.' || $1`,
)

async function overtakenCalls(): Promise<number> {
  const text = await fixture.harness.wire.platform.metrics.text()
  return Number(/ostiary_session_calls_overtaken_total\{area="age"\} (\d+)/.exec(text)?.[1] ?? 0)
}
