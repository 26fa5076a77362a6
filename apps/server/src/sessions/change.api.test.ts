import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAgeFixture } from '../age/testing/fixture.ts'
import { DAY_MS } from '../platform/clock.ts'
import { type Queryable, sql } from '../platform/db.ts'
import { untilBlocked } from '../testing/locks.ts'
import { type Decision, isPurged, newProgress, type Session, type Tombstone } from './index.ts'
import { prepareSessionPartitions } from './jobs.ts'

const fixture = await createAgeFixture()
const host = await fixture.newHost()

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

interface Between {
  /** After the session was read, while it is decided. */
  between?(run: number): Promise<unknown>
  /** In the transaction. Without it, one statement saves the session. */
  inside?(tx: Queryable): Promise<unknown>
}

/** Counts one more attempt. Returns what each run has read. */
async function countOne(sessionId: string, { between, inside }: Between = {}) {
  const reads: (number | undefined)[] = []
  await sessionsOf().change<void>(sessionId, async (found) => {
    const session = opened(found)
    reads.push(session.progress?.attempt)
    await between?.(reads.length)
    const progress = progressOf((session.progress?.attempt ?? 0) + 1)
    const save: Decision<void> = { session, save: { state: 'OPENED', progress }, answer: undefined }
    if (!inside) return save
    return {
      async inTransaction(tx) {
        await inside(tx)
        await sessionsOf().apply(tx, save)
      },
    }
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
    const reads = await countOne(sessionId, {
      async between() {
        const { total, idle } = dbOf(sessionId).stats()
        assert.equal(total - idle, 0, 'no connection is held while it is decided')
      },
    })
    assert.deepEqual(reads, [undefined])
    assert.equal(await attemptOf(sessionId), 1)
  })

  test('is decided again when it was overtaken, and counted', async () => {
    const { sessionId } = await host.create()
    const before = await overtakenCalls()
    const reads = await countOne(sessionId, {
      between: async (run) => (run === 1 ? elsewhere(sessionId, 7) : undefined),
    })
    assert.deepEqual(reads, [undefined, 7])
    assert.equal(await attemptOf(sessionId), 8)
    assert.equal((await overtakenCalls()) - before, 1)
  })

  test('is decided again when it was overtaken before its transaction', async () => {
    const { sessionId } = await host.create()
    const reads = await countOne(sessionId, {
      between: async (run) => (run === 1 ? elsewhere(sessionId, 3) : undefined),
      inside: (tx) => tx.rows(NOTHING),
    })
    assert.deepEqual(reads, [undefined, 3])
    assert.equal(await attemptOf(sessionId), 4)
  })

  test('holds the session in its transaction', async () => {
    const { sessionId } = await host.create()
    const isHeld = Promise.withResolvers<void>()
    const other = isHeld.promise.then(() => elsewhere(sessionId, 20))
    const reads = await countOne(sessionId, {
      async inside() {
        isHeld.resolve()
        await untilBlocked(fixture.harness.database)
      },
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
    const counting = countOne(sessionId)
    await untilBlocked(fixture.harness.database)
    mayWrite.resolve()
    await holding
    assert.deepEqual(await counting, [undefined, 5])
    assert.equal(await attemptOf(sessionId), 6)
  })

  test('many at once are all counted, whichever way each takes', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => host.create()))
    const calls = made.flatMap(({ sessionId }) => [1, 2, 3].map(() => countOne(sessionId)))
    await Promise.all(calls)
    for (const { sessionId } of made) assert.equal(await attemptOf(sessionId), 3)
  })

  test('of a day without a partition is stored too, also when the partition is created meanwhile', async () => {
    const bare = await createAgeFixture()
    const { service: sessions } = bare.harness.wire.sessions
    bare.harness.clock.advance(2 * DAY_MS)
    const { sessionId } = await (await bare.newHost()).create()
    const db = bare.harness.wire.platform.cells.forId(sessionId)
    assert.equal((await bare.harness.database.query('select 1 from sessions_default')).rows.length, 1)
    const change = (attempt: number, between?: () => Promise<unknown>) =>
      sessions.change<void>(sessionId, async (found) => {
        const first = between
        between = undefined
        await first?.()
        const progress = progressOf(attempt)
        return { session: opened(found), save: { state: 'OPENED', progress }, answer: undefined }
      })
    await change(1)
    await change(2, () => prepareSessionPartitions(db, bare.harness.clock.now()))
    await change(3)
    assert.equal(opened((await sessions.find(sessionId)) ?? assert.fail()).progress?.attempt, 3)
    assert.equal((await bare.harness.database.query('select 1 from sessions_default')).rows.length, 0)
  })
})

/** As the last release reads and saves a session: it compares the transaction that wrote the row, and knows no version. */
const OLD_READ = 'select xmin::text as written from sessions where session_id = $1'
const OLD_SAVE = `with held as (
    select 1 from sessions where session_id = $1 and xmin = $2::text::xid for update skip locked
  ), moved as (
    update sessions set state = 'OPENED', due_at = due_at where session_id = $1 and exists (select from held) returning 1
  )
  update session_secrets set progress = progress where session_id = $1 and exists (select from moved)`

describe('beside a process of the last release', () => {
  const query = (text: string, values: unknown[]) => fixture.harness.database.query(text, values)
  async function oldProcess(sessionId: string) {
    const { written } = (await query(OLD_READ, [sessionId])).rows[0]
    return { save: async () => (await query(OLD_SAVE, [sessionId, written])).rowCount }
  }

  for (const [how, inside] of [
    ['one statement', undefined],
    ['a transaction', (tx: Queryable) => tx.rows(NOTHING)],
  ] as const) {
    test(`a change by ${how} loses to what that saved between its read and its save`, async () => {
      const { sessionId } = await host.create()
      await countOne(sessionId)
      const reads = await countOne(sessionId, {
        between: async (run) => (run === 1 ? assert.equal(await (await oldProcess(sessionId)).save(), 1) : undefined),
        ...(inside && { inside }),
      })
      assert.deepEqual(reads, [1, 1], 'it was decided again')
      assert.equal(await attemptOf(sessionId), 2)
    })
  }

  test('its save loses to a change between its read and its save', async () => {
    const { sessionId } = await host.create()
    await countOne(sessionId)
    const old = await oldProcess(sessionId)
    await countOne(sessionId)
    assert.equal(await old.save(), 0)
    assert.equal(await attemptOf(sessionId), 2)
  })

  test('partitions that are made later raise versions too', async () => {
    const now = new Date(fixture.harness.clock.now().getTime() + DAY_MS)
    await prepareSessionPartitions(dbOf((await host.create()).sessionId), now)
    const { rows } = await query(
      `select c.relname as name, count(t.tgname)::int as triggers from pg_inherits i join pg_class c on c.oid = i.inhrelid
       left join pg_trigger t on t.tgrelid = c.oid and t.tgname = 'raise_session_version'
       where i.inhparent = 'sessions'::regclass group by 1`,
      [],
    )
    assert.ok(rows.length > 3)
    assert.deepEqual(
      rows.filter(({ triggers }) => triggers !== 1),
      [],
    )
  })
})

describe('the statements of a device call', () => {
  test('touch the partitions of the day alone and are planned once', async () => {
    const { sessionId } = await host.create()
    const db = dbOf(sessionId)
    for (let call = 0; call < 20; call++) await countOne(sessionId)
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
