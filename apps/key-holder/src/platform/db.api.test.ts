import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createDatabase } from '@ostiary/testkit/databases'
import { createDb, isWritable, sql, UnavailableError } from './db.ts'
import { createLog } from './log.ts'

const database = await createDatabase(process.env.OSTIARY_TEST_CLUSTER ?? '', 'key_holder')
const limits = { poolMax: 1, statementTimeoutMs: 60_000, connectTimeoutMs: 30_000 }
const db = createDb({ url: database.url, ...limits }, createLog('fatal'))
after(async () => {
  await db.close()
  await database.drop()
})

test('a transaction that swallows a failed statement is not reported as committed', async () => {
  await db.run(sql('', 'create table t (n int primary key)'))
  const insert = sql('test.insert', 'insert into t values ($1)')
  const careless = db.transaction(async (tx) => {
    await tx.run(insert, [1])
    await tx.run(insert, [1]).catch(() => {})
    return 'done'
  })
  await assert.rejects(careless, /rolled back/)
  assert.deepEqual(await db.rows(sql('', 'select n from t')), [])
})

test('[O1] [O2] [U7] a refused login, a read-only database and a deadlock are out of reach, and no fault of ours', async () => {
  const refused = createDb(
    { url: Object.assign(new URL(database.url), { password: 'wrong' }).href, ...limits },
    createLog('fatal'),
  )
  await assert.rejects(refused.rows(sql('', 'select 1')), UnavailableError)
  assert.equal(await isWritable(refused), false)
  await refused.close()
  assert.equal(await isWritable(db), true)
  await assert.rejects(db.run(sql('', `do $$ begin raise exception using errcode = '40P01'; end $$`)), UnavailableError)
  await db.rows(sql('', 'set default_transaction_read_only = on'))
  assert.equal(await isWritable(db), false)
  await assert.rejects(db.run(sql('', 'create table never (n int)')), UnavailableError)
  assert.equal(await isWritable(db), true, 'on another connection')
})

test('a connection that the server closes inside a transaction is out of reach, and is replaced', async () => {
  const cut = db.transaction((tx) => tx.rows(sql('', 'select pg_terminate_backend(pg_backend_pid())')))
  await assert.rejects(cut, UnavailableError)
  assert.deepEqual(await db.rows(sql('', 'select 1 as one')), [{ one: 1 }])
})
