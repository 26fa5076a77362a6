import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { startDatabaseProxy } from '../testing/database-proxy.ts'
import { createTestDatabase } from '../testing/harness.ts'
import { startStopwatch } from '../testing/stopwatch.ts'
import { createDb, sql } from './db.ts'
import { AppError } from './errors.ts'
import { createLog } from './log.ts'

const options = {
  poolMax: 2,
  statementTimeoutMs: 60_000,
  connectTimeoutMs: 30_000,
  applicationName: 'test',
  log: createLog('fatal'),
}
/** Short limits, for the tests of the limits. */
const shortLimits = { ...options, statementTimeoutMs: 200, connectTimeoutMs: 1_000 }
const isDownFor = (seconds: number) => (error: unknown) =>
  error instanceof AppError && error.status === 503 && error.extra.retryAfterSeconds === seconds
const isDown = (error: unknown) => error instanceof AppError && error.code === 'DEPENDENCY_DOWN'

test('[X4] a password that is changed while the pool is in use is read again at the first login that is refused', async () => {
  const database = await createTestDatabase()
  const role = `rotating_${randomBytes(4).toString('hex')}`
  const urlWith = (password: string) => Object.assign(new URL(database.url), { username: role, password }).href
  await database.query(`create role ${role} login password 'first'`)
  let inFile = 'first'
  const db = createDb({ ...options, url: urlWith('first'), reread: () => ({ url: urlWith(inFile) }) })
  const ping = sql('test.ping', 'select 1 as one')
  await db.rows(ping)
  await database.query(`alter role ${role} password 'second'`)
  await database.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role])
  await eventually(() => db.stats().total === 0, 'the pool knows that its connection is gone')
  await assert.rejects(db.rows(ping), isDown, 'the file has the old one')
  await eventually(() => db.outage() === 'refused', 'it is known why')
  inFile = 'second'
  await eventually(() => db.outage() === undefined, 'it logs in again')
  assert.deepEqual(await db.rows(ping), [{ one: 1 }])
  await db.close()
  await database.query(`drop role ${role}`)
  await database.drop()
})

test('a statement on a database that stops answering fails soon after the statement limit, and the pool recovers', async () => {
  const database = await createTestDatabase()
  const proxy = await startDatabaseProxy(database.url)
  const db = createDb({ ...shortLimits, url: proxy.url })
  const ping = sql('test.ping', 'select 1 as one')
  assert.deepEqual(await db.rows(ping), [{ one: 1 }])
  proxy.setDead(true)
  const ranMs = startStopwatch()
  await assert.rejects(db.rows(ping), isDown)
  await assert.rejects(
    db.transaction((tx) => tx.rows(ping)),
    isDown,
  )
  await figureAtMost('database.given-up-seconds', 8, ranMs() / 1000)
  proxy.setDead(false)
  assert.deepEqual(await db.rows(ping), [{ one: 1 }])
  await db.close()
  proxy.close()
  await database.drop()
})

test('a statement over the limit is cancelled by the server and answered as unavailable', async () => {
  const database = await createTestDatabase()
  const db = createDb({ ...shortLimits, url: database.url })
  await assert.rejects(db.rows(sql('test.sleep', 'select pg_sleep(5)')), isDown)
  assert.equal(db.stats().waiting, 0)
  await db.close()
  await database.drop()
})

test('a transaction commits as a whole or not at all, and its connection goes back to the pool', async () => {
  const database = await createTestDatabase()
  const db = createDb({ ...options, url: database.url })
  await database.query('create table t (n int primary key)')
  const insert = sql('test.insert', 'insert into t values ($1)')
  for (let i = 0; i < 5; i++) {
    await assert.rejects(
      db.transaction(async (tx) => {
        await tx.run(insert, [1])
        await tx.run(insert, [1])
      }),
      /duplicate key/,
    )
  }
  await db.transaction(async (tx) => {
    assert.equal(await tx.run(insert, [1]), 1)
  })
  assert.equal((await database.query('select * from t')).rowCount, 1)
  assert.deepEqual(db.stats(), { total: 1, idle: 1, waiting: 0 })
  await db.close()
  await database.drop()
})

test('a transaction that swallows a failed statement is not reported as committed', async () => {
  const database = await createTestDatabase()
  const db = createDb({ ...options, url: database.url })
  await database.query('create table t (n int primary key)')
  const insert = sql('test.insert', 'insert into t values ($1)')
  const careless = db.transaction(async (tx) => {
    await tx.run(insert, [1])
    await tx.run(insert, [1]).catch(() => {})
    return 'done'
  })
  await assert.rejects(careless, /rolled back/)
  assert.equal((await database.query('select * from t')).rowCount, 0)
  await db.close()
  await database.drop()
})

test('a dedicated client has no statement limit, because migrations take longer', async () => {
  const database = await createTestDatabase()
  const db = createDb({ ...shortLimits, url: database.url })
  const { rows } = await db.withDedicatedClient((client) => client.query('select pg_sleep(3), 1 as one'))
  assert.equal(rows[0].one, 1)
  await db.close()
  await database.drop()
})

test('connections that the server closes do not end the process and are replaced', async () => {
  const database = await createTestDatabase()
  const db = createDb({ ...options, url: database.url })
  const ping = sql('test.ping', 'select 1 as one')
  await Promise.all([db.rows(ping), db.rows(ping)])
  const ours = `from pg_stat_activity where application_name = 'test' and datname = current_database()`
  const cut = () => database.query(`select pg_terminate_backend(pid) ${ours}`)
  await cut()
  await assert.doesNotReject(async () => {
    for (let i = 0; i < 3; i++) await db.rows(ping).catch((error) => assert.ok(isDown(error)))
    assert.deepEqual(await db.rows(ping), [{ one: 1 }])
  })
  await assert.rejects(
    db.transaction(async (tx) => {
      await tx.rows(ping)
      await cut()
      await eventually(
        async () => (await database.query(`select 1 ${ours}`)).rows.length === 0,
        'the connections are cut',
      )
      await tx.rows(ping)
    }),
    isDown,
  )
  assert.deepEqual(await db.rows(ping), [{ one: 1 }])
  await db.close()
  await database.drop()
})

test('a connection to a server that no longer accepts writes is not used again, by statements or transactions', async () => {
  const database = await createTestDatabase()
  await database.query('create table notes (id int)')
  const db = createDb({ ...options, poolMax: 1, url: database.url })
  const whoAnswers = async () =>
    (await db.rows<{ pid: number }>(sql('test.pid', 'select pg_backend_pid() as pid')))[0]?.pid
  const demote = sql('', 'set default_transaction_read_only = on')
  const insert = sql('test.insert', 'insert into notes values (1)')
  for (const write of [() => db.run(insert), () => db.transaction((tx) => tx.run(insert))]) {
    const before = await whoAnswers()
    await db.run(demote)
    await assert.rejects(write(), isDown)
    assert.notEqual(await whoAnswers(), before)
    await write()
  }
  await db.close()
  await database.drop()
})

test('[U2] one owner occupies at most half of the connections, and one is left to work without an owner', async () => {
  const database = await createTestDatabase()
  const waits: number[] = []
  const noteWait = (seconds: number) => void waits.push(seconds)
  const db = createDb({ ...options, poolMax: 4, connectTimeoutMs: 300, url: database.url, noteWait })
  const ping = sql('test.ping', 'select 1 as one')
  const gate = Promise.withResolvers<void>()
  const hold = (owner: string) => db.forOwner(owner).transaction((tx) => tx.rows(ping).then(() => gate.promise))
  const held = [hold('a'), hold('a')]
  const refused = assert.rejects(hold('a'), /Your calls occupy their share of the store/)
  assert.deepEqual(await db.forOwner('b').rows(ping), [{ one: 1 }])
  assert.equal(db.stats().waiting, 1)
  await refused
  assert.equal(db.isUp(), true, 'the database is not away because an owner waits')
  assert.ok(Math.max(...waits) >= 0.25, 'waiting in vain is measured too')
  held.push(hold('b'))
  await assert.rejects(db.forOwner('b').rows(ping), isDown)
  assert.deepEqual(await db.rows(ping), [{ one: 1 }])
  gate.resolve()
  await Promise.all(held)
  assert.deepEqual(await db.forOwner('a').rows(ping), [{ one: 1 }])
  await db.close()
  await database.drop()
})

test('[O1] a database that refuses the login is down at once, and up again when it does not', async () => {
  const database = await createTestDatabase()
  const role = `refused_${randomBytes(4).toString('hex')}`
  await database.query(`create role ${role} login password 'first'`)
  const db = createDb({
    ...options,
    url: Object.assign(new URL(database.url), { username: role, password: 'first' }).href,
  })
  const ping = sql('test.ping', 'select 1 as one')
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`
  await db.rows(ping)
  for (const [refuse, allow] of [
    [`alter role ${role} password 'second'`, `alter role ${role} password 'first'`],
    [`alter role ${role} nologin`, `alter role ${role} login`],
  ] as const) {
    await database.query(refuse)
    await database.query(cut)
    await eventually(() => db.stats().total === 0, 'the connection is cut')
    await assert.rejects(db.rows(ping), isDownFor(2))
    await eventually(() => !db.isUp(), 'the outage is known')
    assert.equal(await db.look(), 'refused')
    await assert.rejects(db.rows(ping), isDownFor(2))
    await database.query(allow)
    await eventually(() => db.isUp(), 'the outage is over')
    assert.deepEqual(await db.rows(ping), [{ one: 1 }])
  }
  await db.close()
  await database.query(`drop role ${role}`)
  await database.drop()
})

test('[O1] while logins are refused, connections that were made before go on', async () => {
  const database = await createTestDatabase()
  const role = `rotated_${randomBytes(4).toString('hex')}`
  await database.query(`create role ${role} login password 'first'`)
  const url = Object.assign(new URL(database.url), { username: role, password: 'first' }).href
  const db = createDb({ ...options, url })
  const ping = sql('test.ping', 'select 1 as one')
  await db.rows(ping)
  await database.query(`alter role ${role} password 'second'`)
  assert.equal(await db.tryToStore(), 'refused')
  assert.deepEqual([db.outage(), await db.look(), db.isUp()], ['refused', 'refused', true])
  assert.deepEqual(await db.rows(ping), [{ one: 1 }])
  await database.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`)
  await eventually(() => !db.isUp(), 'none is left')
  await assert.rejects(db.rows(ping), isDownFor(2))
  await database.query(`alter role ${role} password 'first'`)
  await eventually(() => db.outage() === undefined, 'the outage is over')
  await db.close()
  await database.query(`drop role ${role}`)
  await database.drop()
})

test('[U2] what work costs is told without its wait for a connection, also when it fails', async () => {
  const database = await createTestDatabase()
  const db = createDb({ ...options, poolMax: 2, url: database.url })
  const ping = sql('test.ping', 'select 1 as one')
  const gate = Promise.withResolvers<void>()
  const held = db.forOwner('a').transaction((tx) => tx.rows(ping).then(() => gate.promise))
  await eventually(() => db.stats().total === 1, 'it is held')
  const began = performance.now()
  const noted: number[] = []
  const timed = db.forOwner('a').timed(
    (ms) => void noted.push(ms),
    (on) => on.rows(ping),
  )
  await eventually(() => performance.now() - began > 500, 'it has waited')
  gate.resolve()
  assert.deepEqual(await timed, [{ one: 1 }])
  await held
  assert.ok((noted[0] ?? 500) < 500, `${noted[0]} ms`)
  const note = (ms: number) => void noted.push(ms)
  await assert.rejects(db.timed(note, (on) => on.rows(sql('test.missing', 'select from missing'))))
  assert.equal(noted.length, 2)
  await db.close()
  await database.drop()
})

test('[O2] a database that has become read-only is down as soon as somebody looks, for reads too', async () => {
  const database = await createTestDatabase()
  const db = createDb({ ...options, url: database.url })
  const ping = sql('test.ping', 'select 1 as one')
  await database.query(
    `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`,
  )
  assert.equal(await db.look(), 'read-only')
  assert.ok(!db.isUp())
  await assert.rejects(db.rows(ping), isDownFor(2))
  await database.query(
    `do $$ begin set transaction read write; execute format('alter database %I reset default_transaction_read_only', current_database()); end $$`,
  )
  await eventually(() => db.isUp(), 'the outage is over')
  assert.deepEqual(await db.rows(ping), [{ one: 1 }])
  await db.close()
  await database.drop()
})

test('[U7] a deadlock or a serialization failure is 503, the database stays up and the connection in use', async () => {
  const database = await createTestDatabase()
  const db = createDb({ ...options, poolMax: 1, url: database.url })
  const whoAnswers = () => db.rows(sql('test.pid', 'select pg_backend_pid() as pid'))
  const before = await whoAnswers()
  for (const code of ['40001', '40P01']) {
    await assert.rejects(db.run(sql('', `do $$ begin raise exception using errcode = '${code}'; end $$`)), isDownFor(2))
    assert.deepEqual(await whoAnswers(), before)
  }
  await assert.rejects(db.run(sql('', `do $$ begin raise exception using errcode = '25P03'; end $$`)), isDownFor(2))
  await db.look()
  assert.ok(db.isUp())
  await db.close()
  await database.drop()
})

test('in tests, work inside a transaction that asks the pool for a second connection is found', async () => {
  const database = await createTestDatabase()
  const db = createDb({ ...options, url: database.url, refuseSecondConnection: true })
  const ping = sql('test.ping', 'select 1 as one')
  await assert.rejects(
    db.transaction(async (tx) => {
      await tx.rows(ping)
      await Promise.all([db.rows(ping)])
    }),
    /second connection/,
  )
  let later: Promise<unknown> | undefined
  const over = Promise.withResolvers<void>()
  await db.transaction(async (tx) => {
    later = over.promise.then(() => db.rows(ping))
    await tx.rows(ping)
  })
  over.resolve()
  assert.deepEqual(await later, [{ one: 1 }], 'what was started inside may go on after it')
  await db.close()
  await database.drop()
})

test('a script that fails inside its own transaction leaves no broken connection in the pool', async () => {
  const database = await createTestDatabase()
  const db = createDb({ ...options, poolMax: 1, url: database.url })
  for (let i = 0; i < 3; i++) await assert.rejects(db.script('begin; select nonsense; commit'), /nonsense/)
  assert.deepEqual(await db.rows(sql('test.ping', 'select 1 as one')), [{ one: 1 }])
  assert.equal((await db.script('select $1::int as n', [7])).rows[0].n, 7)
  await db.close()
  await database.drop()
})

test('a script on a connection that stops answering fails too', async () => {
  const database = await createTestDatabase()
  const proxy = await startDatabaseProxy(database.url)
  const db = createDb({ ...shortLimits, url: proxy.url })
  await db.script('select 1')
  proxy.setDead(true)
  await assert.rejects(db.script('select 1'), isDown)
  proxy.setDead(false)
  await db.script('select 1')
  await db.close()
  proxy.close()
  await database.drop()
})
