/** A PostgreSQL whose commits wait for a replica that it does not have. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { missingPostgres } from '@ostiary/testkit/missing'
import { startPostgres } from '@ostiary/testkit/postgres-server'
import pg from 'pg'
import { createDb, type Db, sql } from './db.ts'
import { AppError } from './errors.ts'
import { createLog } from './log.ts'

const POOL = 2
const skip = missingPostgres()
const INSERT = sql('test.insert', 'insert into t values (1)')
const isDown = (error: unknown) =>
  error instanceof AppError && error.code === 'DEPENDENCY_DOWN' && error.extra.retryAfterSeconds === 2

async function openServer() {
  const server = await startPostgres()
  const admin = new pg.Pool({ connectionString: server.url, max: 1, options: '-c synchronous_commit=local' })
  admin.on('error', () => {})
  await admin.query('create table t (n int)')
  const setReplica = (name: string) => server.configure({ synchronous_standby_names: name })
  await setReplica('ANY 1 (replica)')
  const inForce = async () => (await admin.query('show synchronous_standby_names')).rows[0].synchronous_standby_names
  await eventually(async () => (await inForce()) !== '', 'commits wait')
  const dbs: Db[] = []
  after(async () => {
    for (const db of dbs) await db.close()
    await admin.end()
    await server.remove()
  })
  return {
    admin,
    setReplica,
    open(statementTimeoutMs: number, applicationName = 'test'): Db {
      const limits = { poolMax: POOL, statementTimeoutMs, connectTimeoutMs: 5_000, applicationName }
      const db = createDb({ ...limits, url: server.url, log: createLog('fatal') })
      dbs.push(db)
      return db
    },
    async waiting(applicationName = '%'): Promise<number[]> {
      const { rows } = await admin.query(
        `select pid from pg_stat_activity where wait_event = 'SyncRep' and application_name like $1`,
        [applicationName],
      )
      return rows.map(({ pid }) => pid)
    },
  }
}

const server = skip ? undefined : await openServer()

test('[X1] a commit that waits is given up, the next calls are refused at once, and few server processes wait', {
  skip,
}, async () => {
  assert.ok(server)
  const db = server.open(500)
  await assert.rejects(db.run(INSERT), isDown)
  await eventually(async () => (await db.look()) === 'unreplicated', 'the reason is known')
  assert.equal(db.isUp(), false)
  for (let calls = 0; calls < 50; calls++) await assert.rejects(db.run(INSERT), isDown)
  await assert.rejects(db.rows(sql('test.read', 'select 1')), isDown, 'who reads would read what may be lost')
  const { length } = await server.waiting()
  assert.ok(length < 2 * POOL, `${length} processes wait`)
  await server.setReplica('')
  await eventually(() => db.isUp(), 'a commit is answered')
  assert.equal(await db.run(INSERT), 1)
  await server.setReplica('ANY 1 (replica)')
})

test('[X2] a commit whose wait an operator cancels is no success, although PostgreSQL reports one', {
  skip,
}, async () => {
  assert.ok(server)
  const ways = {
    statement: (db: Db) => db.run(INSERT),
    transaction: (db: Db) => db.transaction((tx) => tx.run(INSERT)),
    dedicated: (db: Db) => db.withDedicatedClient((client) => client.query(INSERT.text)),
  }
  for (const [way, insert] of Object.entries(ways)) {
    const db = server.open(60_000, way)
    await db.rows(sql('test.read', 'select 1'))
    const refused = assert.rejects(insert(db), isDown, way)
    const own = await eventually(async () => (await server.waiting(way))[0], 'it waits')
    await server.admin.query('select pg_cancel_backend($1)', [own])
    await refused
    const isGone = async () =>
      (await server.admin.query('select from pg_stat_activity where pid = $1', [own])).rows.length === 0
    await eventually(isGone, `${way}: the connection is dropped`)
  }
})
